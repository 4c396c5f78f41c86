"""What the audit page shows: plain data, computed elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from robustgc.choice.candidates import Candidate


@dataclass(frozen=True)
class Suspect:
    """One given label and what speaks against it: a row of the table."""

    node: str
    given: str
    suggested: str
    suspicion: float  # probability that the label is wrong; NaN: not known
    margin: float  # from -1 to 1; NaN: not known
    evidence: Sequence[str] = ()  # labelled nodes that speak against it, the strongest first
    reviewed: bool = False  # whether a person has confirmed the label; such labels stand last


@dataclass(frozen=True, eq=False)
class Picture:
    """The nodes that are drawn; all arrays but the edges have one row for each of them."""

    xy: NDArray[Any]  # places, in any unit, the second upwards
    edges: NDArray[Any]  # pairs of rows
    names: Sequence[str]
    given: NDArray[Any]  # the label, as its position in `Findings.classes`; -1: none
    answer: NDArray[Any]  # what the model says, in the same way
    suspicion: NDArray[Any]  # of the given labels, NaN elsewhere; above 1/2 the node is marked
    kind: str = "graph"  # or "points"


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of decision values.

    `signed`: there are two classes, below 0 is the first, above it the second. Otherwise the values
    are the lead of the best class over the next one.
    """

    edges: NDArray[Any]  # ascending, one more than counts
    counts: NDArray[Any]
    signed: bool


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything the page says. What is None is not known, and the page says so."""

    title: str
    n_nodes: int
    classes: Sequence[str]  # with signed decision values the negative one first
    given: Sequence[int]  # by class, how many labels were given
    n_edges: int | None = None
    n_components: int | None = None
    predicted: Sequence[int] | None = None  # by class, how many nodes the model puts there
    n_answered: int | None = None
    n_unanswered: int | None = None
    noise_rate: float | None = None  # estimated share of wrong labels
    n_wrong: int | None = None  # how many labels look wrong
    lambda_1: float | None = None
    gamma: float | None = None
    eigengap: float | None = None
    condition_bound: float | None = None
    residual: float | None = None
    solver: str | None = None
    picture: Picture | None = None
    histogram: Histogram | None = None
    candidates: Sequence[Candidate] = ()  # empty: nothing was chosen
    chosen: int | None = None  # position of the choice among the candidates
    eta: float | None = None  # if it was fixed
    suspects: Sequence[Suspect] | None = None  # in any order
    command: str | None = None  # the command, or lines of Python, that make the page again
    versions: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, Any] = field(default_factory=dict)
    date: str | None = None
    run: str | None = None  # what names the run in all its outputs
    notes: Sequence[str] = ()  # what the program decided, or noticed, while it read
