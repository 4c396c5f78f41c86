"""Ridge regression of the labels with the kernels of lifted models.

A filter adds up what every label says by itself. A ridge, ``F = K (K_LL + s S)^-1 Y``, knows that
labels close to each other say the same, and that a label alone in its part of the graph is all that
is known there: ``s -> infinity`` is the filter, ``s -> 0`` passes through the labels.
"""

from collections.abc import Sequence

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from robustgc.choice.kernels import HeldOut
from robustgc.weights import Array

MOST_LABELS = 300  # for which there are ridges: the work grows with their cube
ETAS = (0.5, 0.99)  # of the kernels: two tails, the others lie between
_RIDGES = (1.0, 0.1)  # relative to the mean of the kernel's diagonal
_LEAST = 0.05  # weight of a label that the others contradict, relative to the mean


class Ridges:
    """Ridges with some of the kernels, each with every `_RIDGES`.

    Parameters
    ----------
    heldout : HeldOut
        With the kernels between labels at hand.
    models : sequence of int
        Whose kernels are used.
    codes : ndarray of int
        Classes of the labels.
    n_classes : int
    votes : ndarray, shape (labels,)
        By which the rows are multiplied: eigenvectors grow with sqrt(d).
    """

    kernels = True  # of the labels, not only of the modes

    def __init__(
        self,
        heldout: HeldOut,
        models: Sequence[int],
        codes: NDArray[np.int64],
        n_classes: int,
        votes: Array,
    ) -> None:
        self._filters, self._nodes, self._units = heldout.filters, heldout.nodes, heldout.units
        self._models, self._votes = np.asarray(models), votes
        etas = 1 / (1 + heldout.units)
        self.members: tuple[tuple[int, float | None, float | None], ...]
        self.members = tuple(
            (int(self._filters.n_modes[k]), round(float(etas[k]), 12), s)
            for k in models
            for s in _RIDGES
        )
        self.numbers = tuple(q for q, _, _ in self.members)
        self._one_hot = np.eye(n_classes)[codes]
        v0 = heldout.graph.at(heldout.graph.v0, heldout.nodes)
        kernels = heldout.between(self._models) + np.outer(v0, v0)  # v0 counts as a lifted mode
        kernels *= np.outer(votes, votes)
        self._sizes = np.einsum("kii->k", kernels) / len(codes)
        self._kernels = kernels / self._sizes[:, None, None]
        self._v0 = v0
        self._known: tuple[Array, list[tuple[Array, Array, Array]]] | None = None

    def of(self, heldout: HeldOut, codes: NDArray[np.int64], votes: Array) -> "Ridges":
        """Return the same ridges of other labels."""
        return Ridges(heldout, self._models.tolist(), codes, self._one_hot.shape[1], votes)

    def leave_one_out(self, weight: Array) -> list[Array]:
        """Return what each ridge says of every label without it, in closed form.

        ``Y_i - [P Y]_i / P_ii`` with ``P = (K + s S)^-1``.
        """
        targets = self._targets(weight)
        return [targets - a / own[:, None] for _, a, own in self._solved(weight)]

    def at_labels(self, weight: Array) -> list[Array]:
        """Return the same with all labels."""
        return [K @ a for K, a, _ in self._solved(weight)]

    def answer(self, weight: Array, shares: Array, tol: float) -> Array:
        """Return the sum of the ridges, each with its share, at all nodes."""
        solved = [a for _, a, _ in self._solved(weight)]
        parts = zip(np.asarray(shares), solved, strict=True)
        columns = np.stack([share * a for share, a in parts]) * self._votes[:, None]
        columns = columns.reshape(len(self._models), len(_RIDGES), *columns.shape[1:]).sum(axis=1)
        columns /= self._sizes[:, None, None]
        graph, chosen = self._filters.graph, self._models
        constant = np.outer(graph.v0, self._v0 @ columns.sum(axis=0))
        columns *= self._units[chosen, None, None]
        return constant + self._filters.own_columns(self._nodes, columns, chosen, tol)

    def _targets(self, weight: Array) -> Array:
        """Return label columns less the share of every class."""
        return np.asarray(self._one_hot - weight @ self._one_hot / weight.sum())

    def _solved(self, weight: Array) -> list[tuple[Array, Array, Array]]:
        """Return kernel, ``P Y`` and the diagonal of P of every ridge, for weights seen last."""
        if self._known is None or not np.allclose(self._known[0], weight, rtol=1e-12, atol=0.0):
            targets = self._targets(weight)
            noise = 1.0 / np.maximum(weight / weight.mean(), _LEAST)
            solved = [
                (K, *_inverse(K + np.diag(s * noise), targets))
                for K in self._kernels
                for s in _RIDGES
            ]
            self._known = weight, solved
        return self._known[1]


def _inverse(M: Array, targets: Array) -> tuple[Array, Array]:
    """Return ``M^-1 targets`` and the diagonal of ``M^-1``."""
    factor = sla.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    solution = sla.cho_solve(factor, targets, check_finite=False)
    inverse, _ = sla.lapack.dpotri(factor[0], lower=1, overwrite_c=1)
    return np.asarray(solution), np.asarray(inverse.diagonal())


def kernels_of(models: Sequence[tuple[int, float]]) -> list[int]:
    """Return the models whose kernels ridges use."""
    return [k for k, (_, eta) in enumerate(models) if eta in ETAS]
