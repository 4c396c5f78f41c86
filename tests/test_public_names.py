"""The public surface: what is exported, typed, documented; how large the files are."""

import ast
import inspect
from importlib.metadata import version
from pathlib import Path

import pytest

import robustgc

PUBLIC = [
    "CSR", "BelkinGC", "Estimate", "Graph", "HarmonicGC", "LabelIssue", "LabelIssues",
    "NotConvergedError", "NotConvexError", "PoissonGC", "ResidualWarning", "Result", "RobustGC",
    "Solution", "Spectrum", "ZhouGC", "belkin", "build_csr", "classify", "condition_bound",
    "eigenpairs", "estimate", "extend", "find_label_issues", "full_spectrum", "harmonic",
    "lambda_1", "leave_one_out", "load", "node_kernel", "poisson", "robust", "robust_path", "zhou",
    "zhou_path",
]  # fmt: skip


def test_public_names():
    assert robustgc.__all__ == PUBLIC
    assert robustgc.__version__ == version("robustgc")


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented_and_typed(name):
    thing = getattr(robustgc, name)
    assert inspect.getdoc(thing)
    if inspect.isfunction(thing):
        hints = inspect.get_annotations(inspect.unwrap(thing))
        assert set(hints) == {*inspect.signature(thing).parameters, "return"}


@pytest.mark.parametrize("name", ["RobustGC", "ZhouGC", "BelkinGC", "HarmonicGC", "PoissonGC"])
def test_every_parameter_of_an_estimator_is_in_its_docstring(name):
    estimator = getattr(robustgc, name)
    text = inspect.getdoc(estimator)
    for parameter in estimator().get_params():
        assert f"\n{parameter} : " in text
    assert "<shared>" not in text
    assert "<answers>" not in text


def test_files_and_functions_stay_small():
    root = Path(robustgc.__file__).parent
    for path in root.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert source.count("\n") <= 400, path  # about 300; more where one thought needs it
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                skip = 1 if ast.get_docstring(node) else 0
                body = node.body[skip:]
                length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert length <= 50, f"{path}:{node.name} has {length} lines"
