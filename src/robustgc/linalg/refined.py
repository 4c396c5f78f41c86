"""Conjugate gradients in single precision, refined in double: half of the memory is read.

What a solve costs on large graphs is passes over blocks of vectors. Here an iteration is four of
them and a cycle of multigrid, all on every core.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.laplacian import Laplacian
from robustgc.graph.weights import Array
from robustgc.linalg.amg import Hierarchy
from robustgc.linalg.solution import Solution

_STEPS = 60  # of a round, and of all before the last
_WORK = 1e10  # entries and values that all steps may touch: some seconds
_GAIN = 0.3  # of a round at least, or double precision is the better bet
Single = NDArray[np.float32]


def solve_in_single_precision(
    operators: tuple[Laplacian, Laplacian],
    cycle: Hierarchy,
    b: Array,
    gamma: float,
    start: Array,
    tol: float,
    off: Array,
) -> Solution:
    """Solve ``(L_N - gamma I) x = b`` off some modes, v0 among them, from a guess.

    Where a round of single precision brings hardly anything, return what is there.

    Parameters
    ----------
    operators : (Laplacian, Laplacian)
        In double and in single precision.
    """
    L, single = operators

    def project(x: NDArray[Any]) -> Array:
        return np.asarray(x - off @ (off.T @ x))

    sizes = np.sqrt(np.einsum("ij,ij->j", b, b))
    sizes[sizes == 0] = 1.0
    work = b.shape[1] * (cycle.work + single.graph.entries + 16.0 * len(b))
    most = int(np.clip(_WORK / work, 10, _STEPS))
    x, steps, few = project(start), 0, off.astype(np.float32)
    best = Solution(np.zeros_like(b), np.inf, 0)
    while True:
        r = b - project(L(x) - gamma * x)
        norms = np.sqrt(np.einsum("ij,ij->j", r, r))
        residual = float((norms / sizes).max(initial=0.0))
        little = not residual <= _GAIN * best.residual
        if residual < best.residual:
            best = Solution(x, residual, steps)
        if residual <= tol or little or steps >= most:
            return best
        unit = np.where(norms > 0, norms, 1.0)
        goal = np.where(norms > 0, 0.7 * tol * sizes / unit, 1.0)
        change, taken = _descended(
            single, cycle, (r / unit).astype(np.float32), gamma, goal, few, most
        )
        x, steps = np.asarray(x + project(change * unit)), steps + taken


def _descended(
    L: Laplacian, cycle: Hierarchy, r: Single, gamma: float, goal: Array, off: Single, most: int
) -> tuple[Single, int]:
    """Return what conjugate gradients in single precision make of residuals, and the steps."""
    loops, rows = threads.loops("linalg._descent"), L._even
    x, p, image = np.zeros_like(r), np.zeros_like(r), np.zeros_like(r)
    factors, none = np.array([1.0, -gamma, 0.0]), np.empty((3, 0))
    nothing, no_vectors = np.empty((0, 0, 0), r.dtype), np.empty((len(r), 0), r.dtype)
    rz, beta = np.zeros(r.shape[1]), np.zeros(r.shape[1])
    for step in range(most):
        z, old = cycle.single(r), rz
        known = _summed(loops.inner, rows, off, r, z, shape=(off.shape[1] + 1, r.shape[1]))
        rz = known[-1]
        beta = np.divide(rz, old, out=np.zeros_like(rz), where=old > 0)
        threads.run(loops.turn, rows, off, *_as(r, known[:-1], beta), z, p)
        L.chebyshev(p, image, factors, none, nothing)
        curvature = _summed(loops.inner, rows, no_vectors, p, image, shape=(1, r.shape[1]))[0]
        if (curvature < 0).any():
            return x, step
        alpha = np.divide(rz, curvature, out=np.zeros_like(rz), where=curvature > 0)
        squares = _summed(loops.descend, rows, *_as(r, alpha), p, image, x, r, shape=r.shape[1:])
        if (np.sqrt(squares) <= goal).all():
            break
    return x, step + 1


def _as(r: Single, *arrays: Array) -> list[Single]:
    return [array.astype(r.dtype) for array in arrays]


def _summed(
    loop: Callable[..., None], rows: NDArray[np.int64], *args: Any, shape: tuple[int, ...]
) -> Array:
    found: Array = threads.collect(loop, rows, *args, found=np.zeros(shape)).sum(axis=0)
    return found
