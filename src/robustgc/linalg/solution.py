"""What every solver takes and returns: the gammas asked for, solutions with residuals."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from robustgc.graph.alerts import ResidualWarning, warn
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array

Apply: TypeAlias = Callable[[Array], Array]
Watch: TypeAlias = Callable[[int, float, float], None]  # steps done, residual, steps in all


def ignore_progress(done: int, residual: float, total: float) -> None:
    """Take a progress report and do nothing."""


class NotConvexError(ValueError):
    """The objective is not convex: Theorem 1 asks for gamma < lambda_1."""


class NotConvergedError(RuntimeError):
    """No method reached the tolerance; the text says what was tried and how far each got."""


# What a solver may raise before the next one is tried. Errors of scipy, SuperLU and PETSc that are
# plain RuntimeErrors become NotConvergedError where these are called: any other is a defect.
FAILURES = (NotConvergedError, MemoryError, np.linalg.LinAlgError)


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


def warn_if_inaccurate(solution: Solution, tol: float) -> Solution:
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
class PathSolution:
    """Solutions of RobustGC along a path of gammas, with lambda_1 and its residual.

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


class Gammas:
    """The gammas that are asked for, as numbers or as shares eta of lambda_1."""

    def __init__(
        self, gammas: Iterable[float] | None = None, etas: Iterable[float] | None = None
    ) -> None:
        self._gammas = None if gammas is None else check_gammas(gammas)
        self._etas = [] if etas is None else [check_eta(eta) for eta in grid_values(etas, "etas")]

    def __call__(self, limit: float, *, converged: bool = True) -> list[float]:
        """Return the gammas for a lambda_1; once that has converged, refuse those beyond it."""
        if self._gammas is None:
            return [eta * limit for eta in self._etas]
        if converged:
            for gamma in self._gammas:
                check_gamma(gamma, limit)
        return self._gammas


def grid_values(values: Iterable[Any], name: str) -> list[Any]:
    """Return the values of a grid; refuse text, one number, and a grid without any."""
    text = isinstance(values, str | bytes | bytearray | Mapping)
    grid = not text and isinstance(values, Iterable) and getattr(values, "ndim", 1) == 1
    if not grid:
        raise ValueError(
            f"{name} = {quoted(values)} is not allowed; it must be a list of numbers, such as "
            f"{name}=[{'0.5, 0.9' if name == 'etas' else '0.1, 1.0'}]."
        )
    found = list(values)
    if not found:
        raise ValueError(f"{name} is empty; give at least one number.")
    return found


def as_number(value: object) -> float:
    """Return a real number as a float; NaN for anything else, booleans among them."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return float("nan")
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return float("inf")


LEAST_ETA = 1e-250  # gamma = eta * lambda_1 loses digits where it is below 1e-308


def check_tol(tol: object) -> float:
    """Return a tolerance, or refuse what is none."""
    number = as_number(tol)
    if not 0 < number <= 1e-2:
        raise ValueError(f"tol={quoted(tol)} is not allowed; it must be above 0, at most 0.01.")
    return number


def check_eta(eta: object) -> float:
    """Return eta, or refuse what is no share of lambda_1."""
    number = as_number(eta)
    if not LEAST_ETA <= number < 1:
        raise ValueError(
            f"eta = {quoted(eta)} is not allowed; it must be a number strictly between 0 and 1, "
            "since gamma = eta * lambda_1 must be below lambda_1 (Theorem 1), and at least 1e-250. "
            "The paper's choice is 0.9."
        )
    return number


def check_gammas(gammas: Iterable[Any]) -> list[float]:
    """Return the gammas of a grid, or refuse one of them."""
    return [check_positive(gamma) for gamma in grid_values(gammas, "gammas")]


def check_positive(gamma: object) -> float:
    """Return gamma, or refuse it."""
    number = as_number(gamma)
    if not 0 < number < np.inf:
        raise ValueError(f"gamma = {quoted(gamma)} is not allowed; it must be a finite number > 0.")
    return number


def check_gamma(gamma: object, limit: float) -> float:
    """Return gamma, or refuse what Theorem 1 excludes."""
    number = check_positive(gamma)
    if number >= limit:
        raise NotConvexError(
            f"gamma = {number:.12g} is not below lambda_1 = {limit:.12g}: by Theorem 1 the problem "
            "is strongly convex only for gamma < lambda_1. Choose gamma = eta * lambda_1 with "
            "0 < eta < 1, for instance eta = 0.9."
        )
    return number
