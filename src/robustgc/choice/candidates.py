"""Who may sit on the committee, and what it is told of the labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robustgc.weights import Array

# What held-out answers are made of: by model, at every label without it, a column per class; the
# pull of v0; the label mass of every class that is left.
Unseen: TypeAlias = tuple[Array, Array, Array]


class Family(NamedTuple):
    """How the classes of a filter are compared.

    Attributes
    ----------
    balanced : bool
        Whether every class counts alike; else classes count by their labels.
    constant : float
        Weight of the constant mode v0, which says what class has most labels, beside a lifted one.
    centred : bool
        Whether a node goes to the class whose mean is nearest, not to the one whose mean it has
        most in common with: half of what a class has in common with itself is taken away.
    share : float
        Of the prior.
    """

    balanced: bool
    constant: float
    centred: bool
    share: float


@dataclass(frozen=True)
class Candidate:
    """One member of the committee.

    Attributes
    ----------
    n_modes, eta : int, float
        The lifted model; eta is None for least squares on the first modes alone.
    balanced : bool
        Whether every class counts alike; else classes count by their labels.
    constant : float
        Weight of the constant mode v0, which says what class has most labels, beside a lifted one.
    centred : bool
        Whether a class asks the more of a node, the more its labels have in common.
    accuracy : float
        Share of the given labels that it gives back unseen.
    evidence : float
        Mean log-likelihood of a given label unseen, above the default's.
    weight : float
        Its share in the committee.
    ridge : float or None
        None: the lifted model itself. Else least squares with its kernel, and the noise of a label
        that they allow for, relative to the mean of the kernel's diagonal.
    """

    n_modes: int
    eta: float | None
    balanced: bool
    constant: float
    centred: bool
    accuracy: float
    evidence: float
    weight: float
    ridge: float | None = None

    @property
    def lifted(self) -> bool:
        """Whether it is a lifted model, not least squares."""
        return self.eta is not None and self.ridge is None


@dataclass(frozen=True)
class Labelled:
    """The labels that are weighed.

    Attributes
    ----------
    codes : ndarray of int, shape (labels,)
    n_classes : int
    size, votes : ndarray, shape (labels,)
        Weight of every label before trust: the user's, and by degree.
    heights : ndarray, shape (labels,)
        ``sqrt(d)``, with which decision values grow; 1 for the usual node.
    elsewhere : ndarray, shape (n_classes,)
        Label mass of the classes in other components.
    level : float
        Square of v0 at the usual node.
    """

    codes: NDArray[np.int64]
    n_classes: int
    size: Array
    votes: Array
    heights: Array
    elsewhere: Array
    level: float


class Filtered(Protocol):
    """Lifted models: what some of them say of the labels, given label columns (labels, K)."""

    def __call__(self, Y: Array, models: NDArray[Any], /) -> Unseen:
        """Return what is said of every label without it."""

    def at_labels(self, Y: Array, models: NDArray[Any], /) -> Unseen:
        """Return the same with all labels."""


class Fitted(Protocol):
    """Least squares: what they say of the labels, given their weights.

    `numbers` are their modes, `members` these with eta and ridge; `kernels` says whether what is
    off the modes plays a part.
    """

    numbers: tuple[int, ...]
    members: tuple[tuple[int, float | None, float | None], ...]
    kernels: bool

    def leave_one_out(self, weight: Array, /) -> Sequence[Array]:
        """Return what is said of every label without it."""

    def at_labels(self, weight: Array, /) -> Sequence[Array]:
        """Return the same with all labels."""
