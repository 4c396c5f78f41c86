"""One process asks, ranks that it starts on its machine answer: for notebooks and scripts."""

import tempfile
from numbers import Integral
from pathlib import Path
from typing import Any

from robustgc.audit import LabelIssues
from robustgc.engines import Options
from robustgc.labels import Labels
from robustgc.mpi.jobs import read_answers, write_job
from robustgc.mpi.launching import run_ranks
from robustgc.task import Model
from robustgc.transduction import Transduction
from robustgc.weights import Array, Operator, Weights


def solved(
    W: Weights, labels: Labels, sizes: Array, model: Model, options: Options, n_ranks: int
) -> tuple[Transduction, LabelIssues]:
    """Answer for all nodes on some ranks of this machine.

    The weights go through a folder for temporary files, ``TMPDIR``, which is removed.

    Parameters
    ----------
    W : weights from `check_weights`
    labels : Labels
    sizes : ndarray, shape (N,)
    model : Model
    options : Options
    n_ranks : int

    Raises
    ------
    Exception
        What a rank has raised, of the same kind and with the same text.
    RuntimeError
        A rank died.
    """
    check_ranks(n_ranks)
    if isinstance(W, Operator):
        raise ValueError(
            "engine='mpi' needs weights that are stored, and this kernel is only ever multiplied "
            "with. Use affinity='knn', or a sparse matrix with affinity='precomputed'."
        )
    with tempfile.TemporaryDirectory(prefix="robustgc-") as name:
        folder = Path(name)
        write_job(folder, W, labels, sizes, model, options)
        run_ranks(int(n_ranks), folder)
        return read_answers(folder, labels)


def check_ranks(n_ranks: Any) -> None:
    """Refuse what is no number of ranks."""
    if not isinstance(n_ranks, Integral) or isinstance(n_ranks, bool) or n_ranks < 1:
        raise ValueError(f"n_ranks={n_ranks!r} is not allowed; it must be a whole number >= 1.")
