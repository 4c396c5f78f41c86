"""Real graphs that come with the package."""

import csv
from importlib import resources

import numpy as np
import scipy.sparse as sp

from robustgc.datasets.base import Dataset
from robustgc.graph.weights import Weights


def load_karate() -> Dataset:
    """Load Zachary's karate club: 34 members, 78 friendships, two factions of 16 and 18.

    The unweighted graph with the faction each member supported, as in the paper.
    """
    rows, weights = _read("karate")
    return Dataset(
        name="karate",
        weights=weights,
        labels=np.array([row["label"] for row in rows]),
        names=np.array([f"member {int(row['node']) + 1}" for row in rows]),
        citation="W. W. Zachary, An information flow model for conflict and fission in small "
        "groups, Journal of Anthropological Research 33 (1977) 452-473.",
        licence="Published data; the edge list is the one in NetworkX (BSD-3-Clause).",
    )


def load_polbooks() -> Dataset:
    """Load books on US politics bought together: 92 books, 374 links, conservative and liberal.

    The neutral books of the full network are removed, as in the paper.
    """
    citation = "V. Krebs, Political books network, orgnet.com; labels by M. E. J. Newman."
    return _politics("polbooks", "title", {"c": "conservative", "l": "liberal"}, citation)


def load_polblogs() -> Dataset:
    """Load US political blogs of 2005 and their links: 1222 blogs, 16714 links, two sides.

    Largest component, symmetrised. The authors warn that the labels are error-prone themselves.
    """
    citation = (
        "L. A. Adamic and N. Glance, The political blogosphere and the 2004 US election: "
        "divided they blog, Proc. 3rd Int. Workshop on Link Discovery (2005) 36-43."
    )
    return _politics("polblogs", "blog", {"0": "liberal", "1": "conservative"}, citation)


def _politics(name: str, column: str, classes: dict[str, str], citation: str) -> Dataset:
    """Load a graph of political texts, whose names are in a column."""
    rows, weights = _read(name)
    return Dataset(
        name=name,
        weights=weights,
        labels=np.array([classes[row["label"]] for row in rows]),
        names=np.array([row[column] for row in rows]),
        citation=citation,
        licence="Free to use with the citation.",
    )


def _read(name: str) -> tuple[list[dict[str, str]], Weights]:
    """Read a bundled graph: one row per node, and the symmetric 0/1 weights."""
    folder = resources.files("robustgc.datasets") / "data"
    with (folder / f"{name}-labels.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (folder / f"{name}-edges.csv").open(encoding="utf-8") as file:
        ends = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)
    upper = sp.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(rows),) * 2)
    return rows, sp.csr_array(upper + upper.T)
