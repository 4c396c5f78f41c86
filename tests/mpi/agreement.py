"""Run on ranks: the answers of all cases in a folder against those of one machine.

Arguments: the folder that `answers` of test_agreement.py has filled, and how rows are cut.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from robustgc.estimators.fits import GraphProblem
from robustgc.linalg.ladder import SolverOptions
from robustgc.models.parameters import Parameters
from robustgc.mpi.fit import fit_problem
from robustgc.mpi.share import Share
from robustgc.mpi.world import world
from robustgc.transduction.labels import encode

warnings.filterwarnings("ignore", "Left out .* fainter")


def cuts(way, n, size, labelled):
    if way == "even":
        return np.linspace(0, n, size + 1).astype(int)
    if way == "uneven":  # 1 : 4 : 9 ...
        return (n * np.cumsum([0, *np.arange(1, size + 1) ** 2]) / (1 + np.arange(size)).dot(
            1 + np.arange(size))).astype(int)  # fmt: skip
    if way == "no rows":  # the last rank has none
        return np.append(np.linspace(0, n, size).astype(int), n)
    assert way == "no labels"  # the last rank has the rows behind the last label
    return np.append(np.linspace(0, labelled.max() + 1, size).astype(int), n)


def share(comm, W, way, labelled):
    bounds = cuts(way, W.shape[0], comm.size, labelled)
    first, last = int(bounds[comm.rank]), int(bounds[comm.rank + 1])
    own = sp.csr_array(W[first:last])
    own.sort_indices()
    unit = bool((W.data == 1).all())
    data = None if unit else own.data
    return Share(comm, first, W.shape[0], own.indptr, own.indices, data)


def close(mine, theirs, codes, wanted, digits):
    """Values to some digits; classes wherever the values can tell them apart."""
    known = np.isfinite(theirs)
    np.testing.assert_array_equal(np.isfinite(mine), known)
    scale = np.abs(theirs[known]).max()
    assert np.abs(mine[known] - theirs[known]).max() < digits * scale
    if theirs.shape[1] == 1:
        clear = ~(np.abs(theirs[:, 0]) < digits * scale)
    else:
        best = np.sort(theirs, axis=1)
        with np.errstate(invalid="ignore"):  # two classes that are not there
            clear = ~(best[:, -1] - best[:, -2] < digits * scale)
    np.testing.assert_array_equal(codes[clear], wanted[clear])


def check(comm, path, way):
    case = np.load(path, allow_pickle=True)
    W = sp.csr_array((case["data"], case["indices"], case["indptr"]))
    y, labelled = case["y"], np.flatnonzero(case["y"] >= 0)
    given = encode(y[labelled], n_nodes=len(labelled))
    eta, n_modes, tol = (None if np.isnan(x) else float(x) for x in case["asked"])
    model = Parameters(eta, None if n_modes is None else int(n_modes), False)
    rows = share(comm, W, way, labelled)
    problem = GraphProblem(None, labelled, given, np.ones(len(labelled)), model)
    found = fit_problem(rows, problem, SolverOptions(tol=tol))
    answer, issues = found.answer, found.issues
    f, codes, reasons, number = (
        np.concatenate(comm.allgather(x))
        for x in (answer.f, answer.codes, answer.reasons, answer.number)
    )
    # Kernels of the choice are in single precision, and candidates are brought to unit size by what
    # they say of labels left out, which may be little: 4e-5 was seen. Modes above 10,000 nodes have
    # four digits, and one machine starts from other random vectors: it numbers nodes by layers.
    chosen = 1e-4 if len(y) <= 10_000 else 1e-3
    close(f, case["f"], codes, case["codes"], chosen if eta is None else 1e-6)
    np.testing.assert_array_equal(number, case["number"])
    clear = codes == case["codes"]
    np.testing.assert_array_equal(reasons[clear], case["reasons"][clear])
    by_node = np.argsort(issues.node)
    np.testing.assert_allclose(issues.suspicion[by_node], case["suspicion"], atol=case["digits"])
    largest = max(answer.certificates.values(), key=lambda c: c.n_nodes)
    np.testing.assert_allclose(largest.lambda_1, case["lambda_1"], rtol=1e-6)
    assert largest.residual < (1e-3 if eta is None else 1e-5)  # of modes to choose from


if __name__ == "__main__":
    comm = world()
    for path in sorted(Path(sys.argv[1]).glob("*.npz")):
        try:
            check(comm, path, sys.argv[2])
        except AssertionError as failure:
            raise AssertionError(f"{path.stem}, {sys.argv[2]}: {failure}") from failure
    if comm.rank == 0:
        sys.stdout.write("agreed\n")
