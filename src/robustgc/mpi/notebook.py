"""One process asks, ranks that it starts on its machine answer: for notebooks and scripts."""

import tempfile
from pathlib import Path

from robustgc.estimators.fits import AnswersOnly, GraphProblem
from robustgc.graph.weights import Operator
from robustgc.linalg.ladder import SolverOptions
from robustgc.mpi.jobs import read_answers, write_job
from robustgc.mpi.launching import run_ranks
from robustgc.transduction.priors import with_shares

ENDED = (
    "The ranks that n_ranks= started have ended, and with them what update and suggest_queries "
    "start from. Fit with engine='local' to use them."
)


def solved(problem: GraphProblem, options: SolverOptions, n_ranks: int) -> AnswersOnly:
    """Answer for all nodes on some ranks of this machine.

    The weights go through a folder for temporary files, ``TMPDIR``, which is removed.

    Raises
    ------
    Exception
        What a rank has raised, of the same kind and with the same text.
    RuntimeError
        A rank died.
    """
    if isinstance(problem.weights, Operator):
        raise ValueError(
            "engine='mpi' needs weights that are stored, and this kernel is only ever multiplied "
            "with. Use affinity='knn', or a sparse matrix with affinity='precomputed'."
        )
    with tempfile.TemporaryDirectory(prefix="robustgc-") as name:
        folder = Path(name)
        write_job(folder, problem, options)
        run_ranks(int(n_ranks), folder)
        answer, issues = read_answers(folder, problem.weights.shape[0], problem.labels.classes)
    if problem.shares is not None:
        answer = with_shares(answer, problem.shares)
    return AnswersOnly(answer, issues, ENDED)
