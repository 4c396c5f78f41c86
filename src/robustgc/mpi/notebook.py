"""One process asks, ranks that it starts on its machine answer: for notebooks and scripts."""

import tempfile
from pathlib import Path

from robustgc.audit.kept import Kept
from robustgc.choice.asked import Model
from robustgc.graph.weights import Array, Operator, Weights
from robustgc.linalg.ladder import Options
from robustgc.mpi.jobs import read_answers, write_job
from robustgc.mpi.launching import run_ranks
from robustgc.transduction.answer import Transduction
from robustgc.transduction.labels import Labels

ENDED = (
    "The ranks that n_ranks= started have ended, and with them what update and suggest_queries "
    "start from. Fit with engine='local' to use them."
)


def solved(
    W: Weights,
    labels: Labels,
    sizes: Array,
    model: Model,
    options: Options,
    psd: bool,
    n_ranks: int,
) -> tuple[Transduction, Kept]:
    """Answer for all nodes on some ranks of this machine.

    The weights go through a folder for temporary files, ``TMPDIR``, which is removed.

    Parameters
    ----------
    W : weights from `check_weights`
    labels : Labels
    sizes : ndarray, shape (N,)
    model : Model
    options : Options
    psd : bool
        Whether the weights are positive semidefinite.
    n_ranks : int

    Raises
    ------
    Exception
        What a rank has raised, of the same kind and with the same text.
    RuntimeError
        A rank died.
    """
    if isinstance(W, Operator):
        raise ValueError(
            "engine='mpi' needs weights that are stored, and this kernel is only ever multiplied "
            "with. Use affinity='knn', or a sparse matrix with affinity='precomputed'."
        )
    with tempfile.TemporaryDirectory(prefix="robustgc-") as name:
        folder = Path(name)
        write_job(folder, W, labels, sizes, model, options, psd)
        run_ranks(int(n_ranks), folder)
        answer, issues = read_answers(folder, labels)
    return answer, Kept(issues, ENDED)
