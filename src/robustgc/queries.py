"""Which node to label next: where the answer is least certain and a label would tell most."""

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import Graph
from robustgc.task import Piece, Task
from robustgc.transduction import Transduction
from robustgc.weights import Array

_STEPS = 10  # of a walk that goes on with probability 1/2: further away is less than 1/1000


def queries(task: Task, answer: Transduction, n: int) -> NDArray[np.int64]:
    """Return up to n unlabelled nodes, the most telling first.

    A label says something of the nodes around it: as much as a walk from there, which stops with
    probability 1/2 at every step, ends at the label. The node is taken from which a label reaches
    the most doubt; what it reaches is not counted again for the next one.

    A component without any label comes before all others: nothing is known of it.
    """
    dark = _without_labels(task, answer)[:n]
    found, scores = [dark], [np.full(len(dark), np.inf)]
    for piece in task.pieces.values():
        nodes, score = _in_piece(task, piece, answer, n)
        found.append(nodes)
        scores.append(score)
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
    task: Task, piece: Piece, answer: Transduction, n: int
) -> tuple[NDArray[np.int64], Array]:
    """Take the nodes one by one from which a label would reach most of the doubt that is left."""
    open_ = task.labels.codes[piece.nodes] < 0
    root = piece.graph._sqrt_d
    doubt = np.where(open_, _doubt(answer.f[piece.nodes], root), 0.0)
    taken: list[int] = []
    scores: list[float] = []
    for _ in range(min(n, int(open_.sum()))):
        reached = np.where(open_, root * _walked(piece.graph, doubt / root), -1.0)
        best = int(np.argmax(reached))
        taken.append(best)
        scores.append(float(reached[best]))
        open_[best] = False
        unit = np.zeros(len(root))
        unit[best] = root[best]
        doubt = doubt * (1.0 - np.minimum(_walked(piece.graph, unit) / root, 1.0))
    return piece.nodes[np.array(taken, dtype=np.int64)], np.array(scores)


def _walked(graph: Graph, x: Array) -> Array:
    """Return the sum of all steps of a walk that goes on with probability 1/2."""
    total = x
    for _ in range(_STEPS):
        x = (x - graph.L_N(x)) / 2
        total = total + x
    return total


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
