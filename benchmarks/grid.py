"""1000 x 1000 grid: lambda_1 and a solve, against SciPy's LOBPCG with pyamg called by hand."""

import time
import warnings

import numpy as np
import pyamg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg, lobpcg

from benchmarks.shared.verdict import verdict
from robustgc import RobustGC

SIDE = 1000
LIMIT = 2.471104599e-6  # lambda_1, given with the task; found by factorisation


def grid(side: int) -> sp.csr_matrix:
    path = sp.diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1])
    one = sp.eye_array(side)
    return sp.csr_matrix(sp.kron(path, one) + sp.kron(one, path))


def by_hand(
    W: sp.csr_matrix, y: np.ndarray, columns: int, tol: float
) -> tuple[float, float, float]:
    """Return seconds until lambda_1, seconds until f as well, and lambda_1."""
    start = time.perf_counter()
    d = np.asarray(W.sum(axis=1)).ravel()
    L = sp.csr_matrix(sp.eye_array(len(d)) - sp.diags_array(d**-0.5) @ W @ sp.diags_array(d**-0.5))
    v0 = np.sqrt(d / d.sum())[:, None]
    M = pyamg.smoothed_aggregation_solver(L, B=v0.copy()).aspreconditioner()
    X = np.random.default_rng(5).standard_normal((len(d), columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values, _ = lobpcg(L, X, M=M, Y=v0, tol=tol, maxiter=200, largest=False)
    limit, first = float(values.min()), time.perf_counter() - start
    gamma, v = 0.9 * limit, v0[:, 0]
    b = gamma * (y - v * (v @ y))
    A = LinearOperator(L.shape, matvec=lambda x: L @ x - gamma * x, dtype=float)
    P = LinearOperator(L.shape, matvec=lambda r: (z := M @ r) - v * (v @ z), dtype=float)
    cg(A, b, rtol=1e-8, M=P, maxiter=500)
    return first, time.perf_counter() - start, limit


def main() -> list[tuple[str, bool]]:
    print(f"\n## {SIDE} x {SIDE} grid\n")
    W, limit = grid(SIDE), LIMIT
    rng = np.random.default_rng(13)
    y = np.full(W.shape[0], -1)
    nodes = rng.choice(W.shape[0], 100, replace=False)
    y[nodes] = nodes // SIDE >= SIDE // 2
    signs = np.where(y < 0, 0.0, 2.0 * y - 1)
    warm = grid(60)
    RobustGC(0.9, n_modes=1, affinity="precomputed").fit(warm, np.resize([0, 1, -1, -1], 3600))
    print("| method | lambda_1 after, s | and f after, s | lambda_1 | relative error |")
    print("|---|---|---|---|---|")
    hand = np.inf
    for columns in (1, 2, 3):
        first, seconds, found = by_hand(W, signs, columns, tol=1e-9)
        error = abs(found / limit - 1)
        print(f"| by hand, {columns} columns | {first:.1f} | {seconds:.1f} | {found:.9e} | "
              f"{error:.1e} |")  # fmt: skip
        if error <= 1e-6:
            hand = min(hand, seconds)
    start = time.perf_counter()
    clf = RobustGC(0.9, n_modes=1, affinity="precomputed", tol=1e-8).fit(W, y)
    seconds = time.perf_counter() - start
    error = abs(clf.lambda_1_ / limit - 1)
    print(f"| RobustGC ({clf.solver_}) | | {seconds:.1f} | {clf.lambda_1_:.9e} | {error:.1e} |")
    for attempt in clf.history_:
        print(f"\n{attempt.solver}: {attempt.result}, {attempt.seconds:.1f} s")
    return [
        (f"lambda_1 to {error:.1e} (asked: 1e-6)", error <= 1e-6),
        (f"residual {clf.residual_:.1e} (asked: 1e-8)", clf.residual_ <= 1e-8),
        (f"lambda_1 and f in {seconds / hand:.2f} of the time by hand (asked: at most 1)",
         seconds <= hand),
    ]  # fmt: skip


if __name__ == "__main__":
    verdict(main())
