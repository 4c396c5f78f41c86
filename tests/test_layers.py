"""Imports point one way, and importing the package stays light."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import robustgc

ROOT = Path(robustgc.__file__).parent
ORDER = [
    "alerts", "leftovers", "atomic",
    "compilation", "_plain", "_kernels", "_vectors", "_descent", "_sorting", "_rows",
    "_spread", "parallel",
    "quoting", "structure", "folder", "csr", "edges", "buckets",
    "build", "weights", "outcome", "memory", "nodes", "graph", "laplacian", "lanczos", "krylov",
    "solve", "ordering", "cycles", "refined", "multigrid", "numbering", "factors", "iterative",
    "spectrum",
    "dense", "direct", "engines", "cost", "progress", "ritz", "crowded", "block_lanczos",
    "inverse_lanczos", "complement", "coupling", "lifted", "bounded", "lifted_model",
    "label_filters", "kernel",
    "label_types", "missing", "labels", "changes",
    "models", "elimination", "dirichlet", "baseline_models", "resolvents", "extension", "points",
    "neighbours", "blocked", "affinity", "selection", "unseen", "baseline_selection",
    "transduction", "answer_columns", "priors", "asked", "problem", "choice", "audit", "task",
    "kept", "queries", "landmarks", "_docs",
    "features", "_classifier", "_ranked", "baselines", "parameter_free", "estimators",
    "wrong_labels", "layout", "saving", "io", "_halo", "mpi", "datasets", "experiments", "report",
    "reporting", "point_fits", "result", "comparing", "commands", "cli",
]  # fmt: skip


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if name == "robustgc" and isinstance(node, ast.ImportFrom):
                yield from (alias.name for alias in node.names)
            elif name and name.startswith("robustgc."):
                yield name.split(".")[1]


def test_every_module_imports_only_from_lower_layers():
    for path in ROOT.rglob("*.py"):
        layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if layer == "__init__":
            continue
        for name in imported(path):
            same_package = name == layer and path.parent != ROOT
            assert same_package or ORDER.index(name) < ORDER.index(layer), f"{path}: {name}"


def test_the_files_of_choice_do_not_import_each_other_in_a_circle():
    files = {path.stem: path for path in (ROOT / "choice").glob("*.py")}
    uses = {name: set() for name in files}
    for name, path in files.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "robustgc.choice":
                uses[name] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module.startswith("robustgc.choice."):
                uses[name].add(node.module.removeprefix("robustgc.choice."))
    assert len(list(TopologicalSorter(uses).static_order())) == len(files)


def test_import_loads_neither_pictures_nor_command_line_nor_server():
    heavy = """matplotlib robustgc.cli typer click numba pyamg faiss http.server uvicorn pyarrow
               networkx pandas polars igraph torch robustgc.mpi mpi4py petsc4py slepc4py"""
    code = f"""
import sys, sklearn.base, sklearn.utils.validation
theirs = set(sys.modules)  # scikit-learn loads pandas where it is installed
from robustgc import *  # all names: each is imported on first use
print([m for m in {heavy.split()!r} if m in sys.modules and m not in theirs])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
