"""RobustGC on one connected graph with nothing to tune: modes, candidates, committee, answer."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robustgc import parallel
from robustgc.choice.candidates import Family, Labelled
from robustgc.choice.ensemble import DEFAULT_ETA, ETAS, ROUNDS, Committee, convene
from robustgc.choice.fits import Fits
from robustgc.choice.kernels import HeldOut
from robustgc.choice.problem import Question, Ruling, fits_of, fitted, heights, votes
from robustgc.choice.ridges import MOST_LABELS, Ridges, kernels_of
from robustgc.engines import Options, precision
from robustgc.graph import SMALL, Graph
from robustgc.lifted import MEDIUM, Filters, Modes, check_residual, find_modes, spreads
from robustgc.weights import Array

_SINGLE = 10_000  # nodes from which candidates are weighed in single precision throughout
_DROP = 0.01  # beside the heaviest, a member that light is not worth a solve
_MOST_MODES = 60
_CONSTANT = 2.0  # weight of the constant on a piece of a larger graph, its smoothest mode
_WITNESSES = 4  # labels of a piece that give half of that: one label is no majority
_FEW = 8  # labels, of which none can be told to be wrong by the others
_BLIND = 0.1  # of a class of the usual size: modes on fewer nodes tell no classes apart
_WIDER = 3.0  # a gap behind one mode more than K classes need must be that much wider


def rule(graph: Graph, question: Question, options: Options) -> Ruling:
    """Choose and answer."""
    ruling = _weighed(graph, question, _enough(graph, question, options))
    filters, modes, tol = ruling.heldout.filters, ruling.modes, ruling.tol
    Y = question.columns(graph, ruling.weight)
    sums, residual, steps = filters.answer(Y, ruling.mix, tol)
    check_residual(residual, tol, modes)
    rounding = filters.rounding(Y, ruling.mix[2:], sums[2:])  # the heaviest member's
    least = fitted(graph, question, ruling.fits, ruling.weight, ruling.fitted, tol)
    residual = max(residual, rounding)
    return replace(ruling, least=least, sums=sums[:2], residual=residual, n_iter=steps)


def ruled_again(ruling: Ruling, options: Options) -> Ruling:
    """Weigh the candidates anew, for labels that have changed; the answer is not computed."""
    graph, question = ruling.graph, ruling.question
    return _weighed(graph, question, _enough(graph, question, options), ruling)


def _enough(graph: Graph, question: Question, options: Options) -> Options:
    """Return options with the precision that weights of candidates are worth."""
    if question.free and options.tol is None and options.dtype == "auto" and graph.n > _SINGLE:
        return replace(options, dtype="float32")
    return options


def _weighed(
    graph: Graph, question: Question, options: Options, before: Ruling | None = None
) -> Ruling:
    """Weigh the candidates, with the modes and the kernels of an earlier ruling if there is one."""
    found = None if before is None else before.modes
    modes, models, default, blind = _candidates(graph, question, options, found)
    gammas = [eta * modes.values[q - 1] for q, eta in models]
    filters = Filters(
        graph, modes, [q for q, _ in models], gammas, options, exact=not question.free
    )
    units = np.array([(1 - eta) / eta for _, eta in models])
    tol, coarse = _tolerances(graph, question, options)
    known = None
    if before is not None and np.array_equal(before.heldout.filters.gammas, filters.gammas):
        known = before.heldout
    heldout = HeldOut(graph, filters, units, question.nodes, question.elsewhere, coarse, known)
    families = _families(question, blind)
    fits = _least_squares(question, models, heldout, blind, before)
    most = None if not question.free else 1.0 if blind else 2.0  # a whisker's end is no witness
    labels, few = _labelled(graph, question, most), len(question.nodes) < _FEW
    rounds = 1 if blind or few or not question.free else ROUNDS
    earlier = None
    same = before is not None and before.fits.numbers == fits.numbers
    if known is not None and question.free and before and same and not filters.complete:
        earlier = np.array([candidate.weight for candidate in before.committee.candidates])
    with parallel.single_blas:
        committee = convene(
            models, default, heldout, fits, labels, families, question.free, rounds, earlier
        )
    mix, pulled, tilt, fitted = _mixed(committee, units, families)
    if not question.free:  # one model, as it stands
        mix, pulled = np.array([[1.0], [0.0], [1.0]]), np.zeros(2)
        if not question.balanced:
            mix[:2] = mix[1::-1]
    return Ruling(
        graph,
        question,
        modes,
        committee,
        heldout,
        mix,
        pulled,
        tilt,
        fitted,
        committee.trust * labels.size * labels.votes,
        np.empty((2, 0, question.n_classes)),
        fits,
        np.empty((0, question.n_classes)),
        np.nan,
        0,
        tol,
        most,
    )


def _least_squares(
    question: Question,
    models: Sequence[tuple[int, float]],
    heldout: HeldOut,
    blind: bool,
    before: Ruling | None,
) -> Fits | Ridges:
    """Return ridges where the kernels of the labels are at hand, else fits on the modes."""
    graph, modes = heldout.graph, heldout.filters.modes
    if not question.free or question.eta is not None or blind:
        return fits_of(graph, question, modes, [])
    few = len(question.nodes) <= MOST_LABELS or (before is not None and before.fits.kernels)
    if heldout.cheap and few:
        codes, K = question.codes, question.n_classes
        return Ridges(heldout, kernels_of(models), codes, K, votes(graph, question.nodes))
    return fits_of(graph, question, modes, sorted({q for q, _ in models}))


def _tolerances(graph: Graph, question: Question, options: Options) -> tuple[float, float]:
    """Return the tolerances of the answer and of what ranks classes."""
    tol = precision(graph, options)[1]
    if question.free and options.tol is None and graph.n > SMALL:
        tol = max(tol, 1e-6 if graph.n <= _SINGLE else 1e-4)  # modes have no more digits
    return tol, max(tol, 1e-3 if question.free else 1e-6)


def _labelled(graph: Graph, question: Question, most: float | None) -> Labelled:
    return Labelled(
        question.codes,
        question.n_classes,
        question.size,
        votes(graph, question.nodes, most),
        graph.at(heights(graph), question.nodes),
        question.elsewhere,
        graph.usual_degree / graph.volume,
    )


def _families(question: Question, blind: bool) -> tuple[Family, ...]:
    """Return the ways to compare classes."""
    if not question.free:
        return (Family(question.balanced, 0.0, False, 1.0),)
    m = len(question.nodes)
    constant = _CONSTANT * m / (m + _WITNESSES) * question.component
    if blind:  # values differ by orders of magnitude: a constant would decide for most nodes
        return (Family(True, constant, False, 0.8), Family(False, constant / 2, False, 0.2))
    return (
        Family(True, constant, False, 0.4),
        Family(True, constant, True, 0.4),
        Family(False, max(1.0, constant), False, 0.1),
        Family(False, constant / 2, False, 0.1),
    )


def _blind(graph: Graph, vectors: Array, K: int) -> bool:
    """Whether none of the first modes is spread over more than a sliver of the graph.

    The first modes of sparse graphs with long whiskers live there.
    """
    return bool(spreads(graph, vectors[:, : K + 1]).max() < _BLIND / K)


def _mixed(
    committee: Committee, units: Array, families: Sequence[Family]
) -> tuple[Array, Array, Array, Array]:
    """Return the shares of all members in the answer: `mix`, `pulled`, `tilt` and `fitted`."""
    count = len(families) * len(units)
    weights = np.array([c.weight for c in committee.candidates])
    factors = np.where(weights >= _DROP * weights.max(), committee.factors, 0.0)
    weights = weights[:count].reshape(len(families), -1)
    mix, pulled, tilt = np.zeros((3, len(units))), np.zeros(2), 0.0 * committee.likeness[0]
    for family, row in zip(families, factors[:count].reshape(weights.shape), strict=True):
        k = 0 if family.balanced else 1
        mix[k] += row * units
        pulled[k] += family.constant * row.sum()
        if family.centred:
            tilt += 0.5 * row @ (committee.likeness[:-1] + family.constant * committee.likeness[-1])
    heaviest = int(np.argmax(weights.sum(axis=0)))
    mix[2, heaviest] = units[heaviest]
    return mix, pulled, tilt, factors[count:]


def _candidates(
    graph: Graph, question: Question, options: Options, modes: Modes | None
) -> tuple[Modes, list[tuple[int, float]], int, bool]:
    """Return the modes, the models to weigh, which candidate is the default; if modes are blind.

    Candidates are counted family by family; the second family is the centred one.
    """
    K = question.n_classes
    etas: Sequence[float] = ETAS if question.eta is None else (question.eta,)
    if question.n_modes is not None:
        wanted = question.n_modes
    elif graph.n <= MEDIUM:
        wanted = min(3 * K + 9, _MOST_MODES)
    else:
        wanted = min(K + 2, _MOST_MODES)
    Y = question.columns(graph, question.size)
    Y = Y[:, 1:] - Y[:, :1]
    if modes is None:
        worth = None
        if question.eta is None and question.n_modes is None:  # if they are blind, no more of them
            worth = (K + 1, lambda vectors: not _blind(graph, vectors, K))
        modes = find_modes(graph, wanted + 1, Y, options, exact=not question.free, worth=worth)
    values = modes.values
    if question.n_modes is not None:
        if len(values) < question.n_modes:
            raise ValueError(
                f"n_modes={question.n_modes} is not possible here: a component of {graph.n} nodes "
                f"has {len(values)} modes that can be told from the others. Lower n_modes, or "
                "leave it at 'auto'."
            )
        numbers, default = [question.n_modes], question.n_modes
    else:
        numbers, default = _numbers(values, K, wanted, graph.n)
    middle = DEFAULT_ETA[K == 2] if question.eta is None else float(question.eta)
    blind = question.eta is None and _blind(graph, modes.vectors, K)
    if blind:  # what leans least on the first modes; with few labels of two classes, the paper's
        paper = K == 2 and len(question.nodes) < _FEW
        numbers, default, etas = numbers[:1], numbers[0], ETAS[: 2 + paper]
        middle = etas[-1] if paper else etas[0]
    models = [(q, float(eta)) for q in numbers for eta in etas]
    centred = question.free and (K > 2 or question.component) and not blind
    return modes, models, models.index((default, middle)) + len(models) * centred, blind


def _numbers(values: Array, K: int, wanted: int, n: int) -> tuple[list[int], int]:
    """Return the numbers of modes to weigh, and the default: the widest gap that K classes need."""
    known = len(values)
    top = min(known, wanted) if n > SMALL else min(known, wanted, max(1, n // 4))
    gaps = np.diff(values[: top + 1])
    if known < wanted and n > SMALL:  # those that stand clear: the widest gap is behind them
        default = min(known, max(1, K - 1))
    else:
        near = gaps[: max(1, K - 1)]
        default = int(np.argmax(near)) + 1 if near.size else 1
        if len(gaps) >= K and gaps[K - 1] > _WIDER * near.max():
            default = K  # a class of two clusters: the modes below the gap belong together
    ratios = gaps / np.maximum(values[: len(gaps)], 1e-300)
    widest = (np.argsort(-ratios, kind="stable")[:2] + 1).tolist()
    some = {1, 2, 3, K - 1, K, K + 2, 2 * K, 3 * K, default, *widest}
    return sorted(q for q in some if 1 <= q <= top), default
