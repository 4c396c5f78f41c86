"""What every engine takes and returns: the gammas asked for, solutions with their evidence."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias

import numpy as np

from robustgc.alerts import ResidualWarning, warn
from robustgc.weights import Array

Apply: TypeAlias = Callable[[Array], Array]
Watch: TypeAlias = Callable[[int, float, float], None]  # steps done, residual, steps in all


def nobody(done: int, residual: float, total: float) -> None:
    """Watch nothing."""


class NotConvexError(ValueError):
    """The objective is not convex: Theorem 1 asks for gamma < lambda_1."""


class NotConvergedError(RuntimeError):
    """No method reached the tolerance; the text says what was tried and how far each got."""


@dataclass(frozen=True)
class Solution:
    """Decision values with the evidence that they solve their equation.

    Attributes
    ----------
    f : ndarray, shape (N,) or (N, columns)
        The decision values.
    residual : float
        Norm of the equation's residual relative to its right-hand side, the worst column.
    n_iter : int
        Iterations of the method; 0 for a direct one.
    """

    f: Array
    residual: float
    n_iter: int = 0


def reported(solution: Solution, tol: float) -> Solution:
    """Return a solution; warn where its residual is above the tolerance, or is no number."""
    if not solution.residual <= tol:
        warn(
            f"The residual of the answer is {solution.residual:.1e}, above the tolerance "
            f"{tol:.1e}: its values are not good to more digits than that. Where weights differ "
            "by many orders of magnitude rounding allows no better: bring them to a common scale. "
            "Or accept it with a larger tol.",
            ResidualWarning,
        )
    return solution


@dataclass(frozen=True)
class Outcome:
    """What an engine found: lambda_1 and the solutions of RobustGC for every gamma.

    Attributes
    ----------
    lambda_1, eigen_residual : float
        ``|L_N v - lambda_1 v| / lambda_1`` for the unit vector v that was found.
    gammas : list of float
    solutions : list of Solution
        With columns, one solution per gamma.
    note : str
        What it took.
    """

    lambda_1: float
    eigen_residual: float
    gammas: list[float]
    solutions: list[Solution]
    note: str


class Shifts:
    """The gammas that are asked for, as numbers or as shares eta of lambda_1."""

    def __init__(
        self, gammas: Iterable[float] | None = None, etas: Iterable[float] | None = None
    ) -> None:
        self._gammas = None if gammas is None else [check_positive(gamma) for gamma in gammas]
        self._etas = [] if etas is None else [float(eta) for eta in etas]

    def __call__(self, limit: float, *, settled: bool = True) -> list[float]:
        """Return the gammas for a lambda_1; once that is settled, refuse those beyond it."""
        if self._gammas is None:
            return [eta * limit for eta in self._etas]
        if settled:
            for gamma in self._gammas:
                check_gamma(gamma, limit)
        return self._gammas


def check_positive(gamma: float) -> float:
    """Return gamma, or refuse it."""
    if not isinstance(gamma, Real) or not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"gamma = {gamma!r} is not allowed; it must be a finite number > 0.")
    return float(gamma)


def check_gamma(gamma: float, limit: float) -> float:
    """Return gamma, or refuse what Theorem 1 excludes."""
    gamma = check_positive(gamma)
    if gamma >= limit:
        raise NotConvexError(
            f"gamma = {gamma:.12g} is not below lambda_1 = {limit:.12g}: by Theorem 1 the problem "
            "is strongly convex only for gamma < lambda_1. Choose gamma = eta * lambda_1 with "
            "0 < eta < 1, for instance eta = 0.9."
        )
    return gamma
