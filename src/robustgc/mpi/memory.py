"""What a rank needs in memory, said before it is taken."""

from typing import Any

from robustgc.mpi import world

COPIES = 2.5  # of the entries: the rows, what is exchanged for them, the solver's matrix
VECTORS = 40  # of a number per row: bases, blocks of classes, what is checked
PER_EDGE = 24  # bytes of an edge as it is read: two nodes and a weight, or what stands for them


def need_per_rank(nodes: int, entries: int, weighted: bool, size: int) -> float:
    """Return the bytes that a rank needs for its share of a graph and for a fit, about.

    Parameters
    ----------
    nodes, entries : int
        Of the whole graph; an edge has two entries.
    weighted : bool
    size : int
        Number of ranks.
    """
    index = 4 if nodes < 2**31 else 8
    return entries / size * (index + 8 * weighted) * COPIES + 8 * VECTORS * nodes / size


def check(comm: Any, what: str, need: float) -> None:
    """Refuse, on all ranks, what would not fit into the memory of one of them.

    Parameters
    ----------
    comm : communicator
    what : str
        What the memory is for.
    need : float
        Bytes that this rank needs.
    """
    most, least = max(comm.allgather(need)), world.available(comm)
    if most > least:
        raise MemoryError(
            f"{what} on {comm.size} rank{'s' * (comm.size > 1)} needs about {_size(most)} of "
            f"memory per rank, and a rank can take {_size(least)}. Start more ranks on more "
            "machines, or fewer on each; ranks on one machine share its memory."
        )


def _size(count: float) -> str:
    return f"{count / 1e9:.3g} GB" if count >= 1e9 else f"{count / 1e6:.3g} MB"
