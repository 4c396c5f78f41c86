"""Nothing is imported before it is needed: help at once, small graphs without compiled code."""

import ast
import pickle
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import robustgc

NUMERICS = ["numpy", "scipy", "sklearn", "pandas", "pyarrow", "numba", "pyamg", "networkx"]
HELP = """
import sys
from robustgc.cli import app
try:
    app({arguments!r})
except SystemExit as end:
    assert not end.code
print("loaded:", [name for name in {names!r} if name in sys.modules])
"""


def run(code, **options):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["classify", "--help"], ["compare", "--help"]]
)
def test_help_loads_no_numerics(arguments):
    assert run(HELP.format(arguments=arguments, names=NUMERICS)).endswith("loaded: []\n")


def cpu_seconds(code):
    return float(run(f"{code}\nimport time; print(time.process_time())").split()[-1])


def test_import_costs_less_than_that_of_scikit_learn():
    run("import sklearn, robustgc")  # from here on everything is in the cache of files
    assert cpu_seconds("import robustgc") < cpu_seconds("import sklearn")
    of_help = HELP.format(arguments=["--help"], names=[])
    assert cpu_seconds(of_help) < cpu_seconds("import sklearn") / 2


def test_every_public_name_is_imported_from_where_type_checkers_look():
    tree = ast.parse(Path(robustgc.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {
        node.module.removeprefix("robustgc."): [alias.name for alias in node.names]
        for node in imports
        if node.module.startswith("robustgc.")
    }
    assert typed == robustgc._HOMES
    assert sorted(name for names in typed.values() for name in names) == sorted(robustgc.__all__)


def test_the_package_looks_as_if_all_was_imported():
    assert set(robustgc.__all__) <= set(dir(robustgc))
    everything = {}
    exec("from robustgc import *", everything)
    assert set(robustgc.__all__) <= set(everything)
    assert pickle.loads(pickle.dumps(robustgc.RobustGC)) is everything["RobustGC"]
    assert "class RobustGC" in pydoc.render_doc(robustgc, renderer=pydoc.plaintext)
    with pytest.raises(AttributeError, match="no attribute 'RobustCG'"):
        _ = robustgc.RobustCG
    assert "RobustGC" in run("import robustgc; print(dir(robustgc))")
