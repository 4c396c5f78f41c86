"""What the models are given, checked: label columns, and the parameters of RobustGC."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustgc.graph.alerts import warn
from robustgc.graph.graph import Graph
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array
from robustgc.linalg.solution import LEAST_ETA, Solution, as_number, warn_if_inaccurate

_LARGEST = 1e100  # label, whose square double precision still holds


def checked_labels(graph: Graph, y: ArrayLike) -> Array:
    """Return label columns in double precision, in the shape of y, or refuse them."""
    Y = np.asarray(y)
    if Y.dtype.kind not in "biuf":
        raise TypeError(f"y has dtype {Y.dtype}; numbers are needed: +1, -1, 0 for unlabelled.")
    if Y.ndim not in (1, 2) or Y.shape[0] != graph.n:
        raise ValueError(
            f"y has shape {Y.shape} but the graph has {graph.n} nodes; it must be ({graph.n},) or "
            f"({graph.n}, columns), with 0 for unlabelled nodes."
        )
    if not (np.abs(Y) <= _LARGEST).all():
        raise ValueError(
            f"y contains NaN, infinity, or numbers beyond {_LARGEST:g}; use +1, -1 and 0 for "
            "unlabelled."
        )
    return Y.astype(float)


def columns_by_nodes(columns: Array) -> list[tuple[NDArray[np.bool_], NDArray[np.int64]]]:
    """Return which columns label the same nodes, and which nodes these are: one system for each."""
    masks, together = columns.T != 0, dict[bytes, list[int]]()
    for k, mask in enumerate(masks):
        together.setdefault(mask.tobytes(), []).append(k)
    return [(masks[some[0]], np.array(some)) for some in together.values()]


def shaped(solution: Solution, Y: Array, tol: float) -> Solution:
    """Return a solution in the shape of the labels; warn where it is not good to the tolerance."""
    f = solution.f.reshape(Y.shape)
    return warn_if_inaccurate(Solution(f, solution.residual, solution.n_iter), tol)


@dataclass(frozen=True)
class Parameters:
    """What the user has fixed; None where it is to be chosen."""

    eta: float | None
    n_modes: int | None
    balanced: bool

    @property
    def of_the_paper(self) -> bool:
        """Whether this is the paper's model as it stands."""
        return self.eta is not None and self.n_modes == 1 and not self.balanced


def is_auto(value: Any) -> bool:
    """Whether a parameter is "auto"; an array would be compared by element."""
    return isinstance(value, str) and value == "auto"


def checked_parameters(eta: Any, n_modes: Any, class_weight: Any) -> Parameters:
    """Return the parameters of an estimator, or refuse them."""
    if not is_auto(eta) and not LEAST_ETA <= as_number(eta) < 1:
        raise ValueError(
            f"eta={quoted(eta)} is not allowed; it must be 'auto' or strictly between 0 and 1 "
            "(1e-250 or more), since gamma = eta * lambda_q must be below lambda_q (Theorem 1). "
            "The paper's parameter-free choice is 0.9."
        )
    if not is_auto(n_modes) and (
        not isinstance(n_modes, Integral) or isinstance(n_modes, bool) or n_modes < 1
    ):
        raise ValueError(
            f"n_modes={quoted(n_modes)} is not allowed; it must be 'auto' or a whole number >= 1. "
            "1 is the paper's model."
        )
    if class_weight is not None and not (
        isinstance(class_weight, str) and class_weight == "balanced"
    ):
        raise ValueError(
            f"class_weight={quoted(class_weight)} is not allowed; it must be None or 'balanced'."
        )
    return Parameters(
        None if is_auto(eta) else float(eta),
        None if is_auto(n_modes) else int(n_modes),
        class_weight is not None,
    )


def warn_of_no_effect(parameters: Parameters, solver: str) -> None:
    """Warn of parameters that change nothing together with the others."""
    automatic = parameters.eta is None or parameters.n_modes is None
    if parameters.balanced and automatic:
        warn(
            "class_weight='balanced' changes nothing here: where eta or n_modes is 'auto' "
            "every class counts alike anyway. Leave it out, or give both eta and n_modes."
        )
    if solver != "auto" and not parameters.of_the_paper:
        warn(
            f"solver={quoted(solver)} is for the paper's model (eta and n_modes=1 given, "
            "class_weight left out); here it only counts where no modes are found, and the "
            "paper's model answers instead. Leave it out, or fit the paper's model."
        )
