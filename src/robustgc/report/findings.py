"""What the audit page shows: plain data, computed elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from robustgc.choice.candidates import Candidate


@dataclass(frozen=True)
class Suspect:
    """One given label and what speaks against it: a row of the table.

    Attributes
    ----------
    node : str
        The name of the node.
    given, suggested : str
    suspicion : float
        Probability that the label is wrong; NaN if nothing is known.
    margin : float
        From -1 to 1; NaN if nothing is known.
    evidence : sequence of str
        Names of the labelled nodes that speak against the label, the strongest first.
    reviewed : bool
        Whether a person has looked at the label and confirmed it; such labels stand last.
    """

    node: str
    given: str
    suggested: str
    suspicion: float
    margin: float
    evidence: Sequence[str] = ()
    reviewed: bool = False


@dataclass(frozen=True, eq=False)
class Picture:
    """The nodes that are drawn; all arrays have one row for each of them.

    Attributes
    ----------
    xy : ndarray, shape (n, 2)
        Places, in any unit, the second upwards.
    edges : ndarray of int, shape (m, 2)
        Pairs of rows.
    names : sequence of str
    given, answer : ndarray of int
        Positions in `Findings.classes`: the label, and what the model says; -1 for none.
    suspicion : ndarray
        Of the given labels; NaN elsewhere. Above 1/2 the node is marked.
    kind : str
        What is drawn: "graph" or "points".
    """

    xy: NDArray[Any]
    edges: NDArray[Any]
    names: Sequence[str]
    given: NDArray[Any]
    answer: NDArray[Any]
    suspicion: NDArray[Any]
    kind: str = "graph"


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of decision values.

    Attributes
    ----------
    edges : ndarray, shape (bins + 1,)
        Ascending.
    counts : ndarray, shape (bins,)
    signed : bool
        Two classes: below 0 is the first, above it the second. Otherwise the values are the lead
        of the best class over the next one.
    """

    edges: NDArray[Any]
    counts: NDArray[Any]
    signed: bool


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything the page says. What is None is not known, and the page says so.

    Attributes
    ----------
    title : str
    n_nodes, n_edges, n_pieces : int
    classes : sequence of str
        Names of the classes; two classes with signed decision values: the negative one first.
    given, predicted : sequence of int
        By class: how many labels were given, how many nodes the model puts there.
    n_answered, n_unanswered : int
        Nodes without a label that got an answer, and that got none.
    noise_rate : float
        Estimated share of wrong labels.
    n_wrong : int
        How many labels look wrong.
    lambda_1, gamma, eigengap, condition_bound, residual : float
    solver : str
    picture : Picture
    histogram : Histogram
    candidates : sequence of Candidate
        Empty: nothing was chosen.
    chosen : int
        Position of the choice among the candidates.
    eta : float
        If it was fixed.
    suspects : sequence of Suspect
        In any order.
    command : str
        What to run to get the page again: a command or lines of Python.
    versions, seeds : mapping from name to text or number
    date : str
    run : str
        What names the run in all its outputs.
    notes : sequence of str
        What the program decided for the user, or noticed, while it read.
    """

    title: str
    n_nodes: int
    classes: Sequence[str]
    given: Sequence[int]
    n_edges: int | None = None
    n_pieces: int | None = None
    predicted: Sequence[int] | None = None
    n_answered: int | None = None
    n_unanswered: int | None = None
    noise_rate: float | None = None
    n_wrong: int | None = None
    lambda_1: float | None = None
    gamma: float | None = None
    eigengap: float | None = None
    condition_bound: float | None = None
    residual: float | None = None
    solver: str | None = None
    picture: Picture | None = None
    histogram: Histogram | None = None
    candidates: Sequence[Candidate] = ()
    chosen: int | None = None
    eta: float | None = None
    suspects: Sequence[Suspect] | None = None
    command: str | None = None
    versions: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, Any] = field(default_factory=dict)
    date: str | None = None
    run: str | None = None
    notes: Sequence[str] = ()
