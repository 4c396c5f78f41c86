"""What is asked of RobustGC: its own parameters, checked."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any


@dataclass(frozen=True)
class Model:
    """What the user fixed; None is to be chosen."""

    eta: float | None
    n_modes: int | None
    balanced: bool

    @property
    def of_the_paper(self) -> bool:
        """Whether this is the paper's model as it stands."""
        return self.eta is not None and self.n_modes == 1 and not self.balanced


def checked_model(eta: Any, n_modes: Any, class_weight: Any) -> Model:
    """Return the model of an estimator's parameters, or refuse them."""
    if eta != "auto" and (not isinstance(eta, Real) or not 0 < float(eta) < 1):
        raise ValueError(
            f"eta={eta!r} is not allowed; it must be 'auto' or strictly between 0 and 1, "
            "since gamma = eta * lambda_q must be below lambda_q (Theorem 1). The paper's "
            "parameter-free choice is 0.9."
        )
    if n_modes != "auto" and (
        not isinstance(n_modes, Integral) or isinstance(n_modes, bool) or n_modes < 1
    ):
        raise ValueError(
            f"n_modes={n_modes!r} is not allowed; it must be 'auto' or a whole number >= 1. 1 is "
            "the paper's model."
        )
    if class_weight not in (None, "balanced"):
        raise ValueError(
            f"class_weight={class_weight!r} is not allowed; it must be None or 'balanced'."
        )
    return Model(
        None if eta == "auto" else float(eta),
        None if n_modes == "auto" else int(n_modes),
        class_weight == "balanced",
    )
