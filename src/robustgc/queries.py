"""Which node to label next: where the answer is least certain and a label would tell most."""

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from robustgc.engines import Options
from robustgc.task import Piece, Task
from robustgc.transduction import Transduction
from robustgc.weights import Array

_NOISE = 1.0  # of one label beside the mean variance of a node before any is known
_MODES = 60


def queries(task: Task, answer: Transduction, n: int, options: Options) -> NDArray[np.int64]:
    """Return up to n unlabelled nodes, the most telling first.

    A component without any label comes before all others: nothing is known of it.
    """
    dark = _without_labels(task, answer)[:n]
    found, scores = [dark], [np.full(len(dark), np.inf)]
    for piece in task.pieces.values():
        nodes, score = _in_piece(task, piece, answer, n, options)
        found.append(nodes)
        scores.append(score * piece.graph.n / len(answer.codes))
    nodes, score = np.concatenate(found), np.concatenate(scores)
    return np.asarray(nodes[np.argsort(-score, kind="stable")][:n], dtype=np.int64)


def _without_labels(task: Task, answer: Transduction) -> NDArray[np.int64]:
    """Return the node of highest degree in every unlabelled component of two nodes or more."""
    labelled = np.unique(answer.number[task.labels.codes >= 0])
    rest = np.flatnonzero(~np.isin(answer.number, labelled) & (answer.d > 0))
    order = rest[np.lexsort((rest, -answer.d[rest]))]
    _, first = np.unique(answer.number[order], return_index=True)
    sizes = np.bincount(answer.number)
    chosen = order[first]
    return chosen[np.argsort(-sizes[answer.number[chosen]], kind="stable")].astype(np.int64)


def _in_piece(
    task: Task, piece: Piece, answer: Transduction, n: int, options: Options
) -> tuple[NDArray[np.int64], Array]:
    ruling = piece.ruling or task.ruling(piece, options)
    members = ruling.heldout.units[:, None] * ruling.heldout.filters.weights
    weight = np.array([c.weight for c in ruling.committee.candidates if c.eta is not None])
    shares = weight.reshape(-1, len(members)).sum(axis=0) @ members
    shares, V = shares[:_MODES], ruling.modes.vectors[:, :_MODES]
    X = V * np.sqrt(shares)
    noise = _NOISE * float(np.einsum("ij,ij->", X, X)) / len(X)
    known = X[piece.question.nodes]
    cover = sla.inv(np.eye(len(shares)) + known.T @ known / noise)  # of the modes, given the labels
    open_ = task.labels.codes[piece.nodes] < 0
    doubt = np.where(open_, _doubt(answer.f[piece.nodes], piece.graph._sqrt_d), 0.0)
    doubtful = (X * (doubt / piece.graph.d)[:, None]).T @ X
    taken: list[int] = []
    scores: list[float] = []
    for _ in range(min(n, int(open_.sum()))):
        told = X @ cover
        variance = noise + np.einsum("ij,ij->i", told, X)
        score = np.where(open_, np.einsum("ij,jk,ik->i", told, doubtful, told) / variance, -1.0)
        best = int(np.argmax(score))
        taken.append(best)
        scores.append(float(score[best]))
        open_[best] = False
        cover = cover - np.outer(told[best], told[best]) / variance[best]
    return piece.nodes[np.array(taken, dtype=np.int64)], np.array(scores)


def _doubt(f: Array, root: Array) -> Array:
    """Return from 0 to 1 how close the two best classes of every node are."""
    smooth = f / root[:, None]
    if f.shape[1] == 1:
        lead = np.abs(smooth[:, 0])
    else:
        ranked = np.sort(smooth, axis=1)
        lead = ranked[:, -1] - ranked[:, -2]
    lead = np.where(np.isfinite(lead), lead, np.inf)
    finite = lead[np.isfinite(lead)]
    typical = float(np.median(finite)) if finite.size else 1.0
    return np.asarray(1.0 / (1.0 + lead / (typical or 1.0)))
