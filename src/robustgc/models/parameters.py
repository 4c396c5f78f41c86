"""The parameters of RobustGC itself, checked."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from robustgc.graph.quoting import quoted
from robustgc.linalg.solution import LEAST_ETA, as_number


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


def checked_parameters(eta: Any, n_modes: Any, class_weight: Any) -> Parameters:
    """Return the parameters of an estimator, or refuse them."""
    automatic = isinstance(eta, str) and eta == "auto"  # an array would be compared by element
    if not automatic and not LEAST_ETA <= as_number(eta) < 1:
        raise ValueError(
            f"eta={quoted(eta)} is not allowed; it must be 'auto' or strictly between 0 and 1 "
            "(1e-250 or more), since gamma = eta * lambda_q must be below lambda_q (Theorem 1). "
            "The paper's parameter-free choice is 0.9."
        )
    chosen = isinstance(n_modes, str) and n_modes == "auto"
    if not chosen and (
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
        None if automatic else float(eta),
        None if chosen else int(n_modes),
        class_weight is not None,
    )
