"""Build the candidate models and their prior weights, before any label is seen.

A candidate is a kernel between nodes and a way to read it. Kernels are lifted filters
``(n_modes, eta)``, and ZhouGC's: the same formula, ``gamma / (lambda - gamma)``, with a gamma below
0. They are read by class means, by the nearest class mean, and by ridge regression of the labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robustgc.graph.graph import SMALL
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import Eigenpairs
from robustgc.linalg.modes import MEDIUM, participation_ratios
from robustgc.transduction.problem import Problem

# docs/choice.md says where each comes from, and what happens at half and at double of it.
ETAS = (0.5, 0.99)  # modes with what is near a label, and modes alone
DIFFUSION = 0.2  # gamma of ZhouGC's kernel, which knows no modes: about ten steps of a walk
RIDGES = (1.0, 0.1)  # noise of a label in a regression, relative to the mean of the diagonal
CONSTANT = 2.0  # weight of v0 on one of several components, where a lifted mode has 1
CLEAREST = 0.9  # what the spectrum says at most: however clear the clusters, labels may differ
# By time: how many modes are looked for, and behind how many gaps filters are tried.
_MOST_MODES, _MOST_GAPS = 60, 5


@dataclass(frozen=True)
class Candidate:
    """A kernel and how it is read, with its weight: a row of `selection_`.

    Attributes
    ----------
    n_modes, eta : int, float
        The lifted filter. Below 0: ZhouGC with gamma ``-eta lambda_1``, usually 0.2. None in saved
        models of earlier versions: least squares on the modes.
    constant : float
        Weight of ``v0 v0'`` in the kernel, which tells labels here from those in other components.
    centred : bool
        Whether a node goes to the class of the nearest mean: half of ``|mu_c|^2`` is subtracted.
    accuracy : float
        Share of the given labels that it gives back when each is left out.
    evidence : float
        Mean log-likelihood of a given label that is left out, less the default's.
    weight : float
        Its weight in the ensemble; before the labels are seen, its prior.
    ridge : float or None
        None: it is read by class means. Else by ridge regression, with this variance of a label's
        noise relative to the mean of the kernel's diagonal.
    features : float
        Share of the features in the weights: 0 for the graph, 1 for the features alone.
    """

    n_modes: int
    eta: float | None
    constant: float
    centred: bool
    accuracy: float
    evidence: float
    weight: float
    ridge: float | None = None
    features: float = 0.0

    @property
    def lifted(self) -> bool:
        """Whether it is a lifted filter, neither ZhouGC's nor a regression."""
        return self.is_filter and self.eta is not None and self.eta > 0

    @property
    def is_filter(self) -> bool:
        """Whether it is a filter, not a regression."""
        return self.eta is not None and self.ridge is None


def heaviest_lifted(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the lifted filter with the largest weight, of equal ones the first."""
    return max((c for c in candidates if c.lifted), key=lambda c: c.weight, default=None)


def wanted_modes(problem: Problem) -> int:
    """Return how many modes candidates may lift."""
    if problem.parameters.n_modes is not None:
        return problem.parameters.n_modes
    K = problem.n_classes
    return min(3 * K + 9 if problem.graph.n <= MEDIUM else K + 2, _MOST_MODES)


@dataclass(frozen=True)
class SpectralClarity:
    """How clearly the spectrum shows clusters, and how localised the modes are."""

    reach: Array  # how many modes up to each live on more than a sliver of the graph, (modes,)
    clarity: Array  # how clearly the graph falls into clusters behind each, from 0 to 1, (modes,)
    localisation: float  # 0 to 1: modes that live on few nodes tell no classes apart

    @classmethod
    def of(cls, problem: Problem, modes: Eigenpairs) -> "SpectralClarity":
        """Read the first modes.

        A mode counts in full from half of a class of the usual size on, ``min(1, 2 K ratio)``: one
        on a whisker tells no classes apart. The gap behind mode q counts by ``(1 - lambda_q /
        lambda_{q+1})^3``, and by the square of the share of the K - 1 modes that K classes need. It
        is clear if no other gap is, and if enough modes count below it.
        """
        K, count = problem.n_classes, min(len(modes.values), wanted_modes(problem))
        behind = np.append(modes.values, modes.next_eigenvalue)[1 : count + 1]
        ratio = np.divide(modes.values[:count], behind, out=np.full(count, 0.5), where=behind > 0)
        sizes = participation_ratios(problem.graph, modes.vectors[:, :count])
        reach = np.cumsum(np.minimum(1.0, 2 * K * sizes))
        full = np.minimum(1.0, reach / max(1, K - 1))
        gaps = np.clip(1 - ratio, 1e-9, 1.0) ** 3 * full**2
        clarity = CLEAREST * full * (gaps / max(gaps.sum(), 1e-300)) ** 2
        useful = min(1.0, float(reach[-1:].sum()) / max(1, min(K - 1, count)))
        return cls(reach, clarity, CLEAREST * (1 - useful))


def kernels(
    problem: Problem, modes: Eigenpairs, spectrum: SpectralClarity
) -> tuple[tuple[int, float], ...]:
    """Return n_modes and eta of the kernels: some numbers of modes, those of clear gaps first."""
    K, eta, n_modes = problem.n_classes, problem.parameters.eta, problem.parameters.n_modes
    etas: Sequence[float] = ETAS if eta is None else (eta,)
    if n_modes is not None:
        if len(modes.values) < n_modes:
            raise ValueError(
                f"n_modes={n_modes} is not possible here: a component of {problem.graph.n} nodes "
                f"has {len(modes.values)} that can be computed reliably. Lower n_modes, "
                "or leave it at 'auto'."
            )
        return tuple((n_modes, float(value)) for value in etas)
    top, small = len(spectrum.clarity), problem.graph.n <= SMALL
    top = min(top, max(1, problem.graph.n // 4)) if small else top
    clear = np.argsort(-spectrum.clarity[:top], kind="stable")[:_MOST_GAPS] + 1
    numbers = sorted({q for q in (1, K - 1, K, 2 * K, 3 * K, *clear.tolist()) if 1 <= q <= top})
    pairs = [(q, float(value)) for q in numbers for value in etas]
    return (*pairs, (1, -DIFFUSION / float(modes.values[0]))) if eta is None else tuple(pairs)


def all_candidates(
    problem: Problem, pairs: Sequence[tuple[int, float]], spectrum: SpectralClarity
) -> tuple[Candidate, ...]:
    """Return all candidates with their prior, those that are read by class means first.

    The clarity of a gap goes to the filter that lifts the modes below it, with the largest eta:
    read by the nearest class mean (with two classes, by class means), unless there are enough modes
    for more clusters than classes: then by regression. Localisation speaks for the kernel that
    leans least on the modes. The rest is shared: a third each for ZhouGC's kernel, lifted filters,
    and regressions, among which filters count in proportion to ``min(1, (K - 1) / n_modes)``.
    """
    K, nan = problem.n_classes, float("nan")
    if not problem.has_choice:
        return (Candidate(*pairs[0], 0.0, False, nan, 0.0, 1.0),)
    m = len(problem.nodes)
    constant = CONSTANT * m / (m + K) * problem.other_components  # one label is no majority
    simple = np.array([min(1.0, max(1, K - 1) / q) if eta > 0 else 0.0 for q, eta in pairs])
    largest, regress = max(eta for _, eta in pairs), problem.parameters.eta is None
    lifting = [(q, eta == largest) for q, eta in pairs]
    own = np.array([spectrum.clarity[q - 1] if q and most else 0.0 for q, most in lifting])
    many = np.array([regress and q and spectrum.reach[q - 1] > K - 0.5 for q, _ in pairs], bool)
    near = np.zeros(len(pairs))
    zhou = np.array([eta < 0 for _, eta in pairs])
    near[0] = spectrum.localisation * zhou.any()  # nothing is given
    rest = 1 - own.sum() - near.sum()
    families = 1 + regress + zhou.any()
    lifted = rest / families * simple / max(simple.sum(), 1e-300)
    nearest, candidates = K > 2 or problem.other_components, list[Candidate]()
    for centred in (True, False):
        weights = (rest / families * zhou + lifted) / 2 + own * ~many * (centred == nearest)
        weights += near * (not centred)
        candidates += [
            Candidate(*pair, constant, centred, nan, 0.0, weight)
            for pair, weight in zip(pairs, weights.tolist(), strict=True)
        ]
    weights = (lifted + own * many) / len(RIDGES)
    candidates += [
        Candidate(*pair, 1.0, True, nan, 0.0, weight, ridge)
        for pair, weight in zip(pairs, weights.tolist(), strict=True)
        for ridge in RIDGES
        if regress and pair[1] > 0
    ]
    return tuple(candidates)
