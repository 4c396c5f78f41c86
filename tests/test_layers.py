"""Packages import one way, their files in no circle, and importing robustgc stays light."""

import ast
import pydoc
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

import robustgc
from tools.floor_plan import imported

ROOT = Path(robustgc.__file__).parent
# From the ground up: a package imports only from those before it in this list.
ORDER = [
    "graph", "affinity", "linalg", "models", "transduction", "choice", "audit", "io", "storage",
    "estimators", "mpi", "report", "api", "datasets", "paper", "compare", "cli",
]  # fmt: skip
# The other way, inside of functions: what imports, what is imported, and why.
LAZY = {
    ("estimators.engine", "mpi"): "engine='mpi' loads the ranks by name: others need no MPI",
}
PATHS = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
    if path != ROOT / "__init__.py"
}
PACKAGES = sorted(name for name, path in PATHS.items() if path.name == "__init__.py")


def package(module):
    return module.split(".")[0]


def for_types_only(tree):
    """Return the nodes that only a type checker runs."""
    tests = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    bodies = [node.body for node in tests if ast.unparse(node.test) == "TYPE_CHECKING"]
    return {inner for body in bodies for node in body for inner in ast.walk(node)}


def uses(module, *, types):
    """Return the modules that a module imports anywhere in it."""
    tree = ast.parse(PATHS[module].read_text(encoding="utf-8"))
    without = set() if types else for_types_only(tree)
    names = {n for node in ast.walk(tree) if node not in without for n in imported(node)}
    found = set()
    for name in names:
        parts = name.split(".")
        longest = [".".join(parts[:k]) for k in range(len(parts), 0, -1)]
        assert longest[-1] in PATHS, f"{module} imports {name}, which is in no package"
        found.add(next(part for part in longest if part in PATHS))
    return found - {module}


def test_every_file_is_in_a_package():
    assert {package(module) for module in PATHS} == set(ORDER)
    assert sorted(path.name for path in ROOT.glob("*.py")) == ["__init__.py", "api.py"]


def test_packages_import_only_from_those_below():
    for module in PATHS:
        for used in uses(module, types=True):
            if package(used) != package(module) and (module, package(used)) not in LAZY:
                below = ORDER.index(package(used)) < ORDER.index(package(module))
                assert below, f"{module} imports {used}, which is above it"


@pytest.mark.parametrize("name", ORDER)
def test_the_files_of_a_package_do_not_import_each_other_in_a_circle(name):
    own = {module for module in PATHS if package(module) == name}
    graph = {
        module: {used for used in uses(module, types=False) & own if (module, used) not in LAZY}
        for module in own
    }
    assert set(TopologicalSorter(graph).static_order()) == own  # names a circle that there is


def test_lazy_imports_are_there_and_inside_of_functions():
    for module, target in LAZY:
        tree = ast.parse(PATHS[module].read_text(encoding="utf-8"))
        inside = {
            part
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            for part in ast.walk(node)
        }
        found = [node for node in ast.walk(tree) for used in imported(node)
                 if used == target or used.startswith(f"{target}.")]  # fmt: skip
        assert found, f"{module} does not import {target}: take it off the list"
        assert inside.issuperset(found), f"{module} loads {target} when it is imported"


@pytest.mark.parametrize("name", PACKAGES)
def test_pydoc_says_in_one_sentence_what_a_package_is_for(name):
    tree = ast.parse(PATHS[name].read_text(encoding="utf-8"))
    first, _ = pydoc.splitdoc(ast.get_docstring(tree))
    assert re.fullmatch(r"[A-Z][^.]+[.]", first), first
    assert len(first.split()) >= 8, first


def test_packages_load_nothing_of_theirs():
    for name in PACKAGES:
        body = ast.parse(PATHS[name].read_text(encoding="utf-8")).body[1:]
        if name == "datasets":  # has its loaders as public names
            continue
        assert all(isinstance(node, ast.FunctionDef) for node in body), name


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


def test_a_fit_crosses_packages_at_most_eight_times():
    """Along any chain of calls: who reads a fit should not jump to and fro."""
    W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    clf, most = robustgc.RobustGC(affinity="precomputed"), 0

    def package(frame):
        name = frame.f_globals.get("__name__", "")
        return name.split(".")[1] if name.startswith("robustgc.") else None

    def count(frame, event, _):
        nonlocal most
        if event != "call" or package(frame) is None:
            return
        chain = []
        while frame is not None:
            chain.append(package(frame))
            frame = frame.f_back
        chain = [name for name in chain if name]
        most = max(most, sum(a != b for a, b in pairwise(chain)))

    sys.setprofile(count)
    try:
        clf.fit(W, ["a", "", "", "b"])
    finally:
        sys.setprofile(None)
    assert 3 <= most <= 8
