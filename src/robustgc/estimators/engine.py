"""Which processes answer: this one, the ranks of this program, or ranks that are started for it.

The ranks lie above this layer (robustgc.mpi). They are loaded by name, when they are needed: a
program on one machine needs neither MPI nor PETSc.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from numbers import Integral
from typing import Any

from robustgc.estimators.fits import Fit, GraphProblem, fit_graph
from robustgc.graph.quoting import quoted
from robustgc.graph.resources import rank_by_mpiexec
from robustgc.linalg.ladder import SolverOptions

ENGINES = ("local", "mpi")


def check_engine(engine: Any, n_ranks: Any) -> None:
    """Refuse engines and numbers of ranks that there are not."""
    if engine not in ENGINES:
        raise ValueError(
            f"engine={quoted(engine)} is unknown; it must be one of {', '.join(ENGINES)}."
        )
    if n_ranks is None:
        return
    if not isinstance(n_ranks, Integral) or isinstance(n_ranks, bool) or n_ranks < 1:
        raise ValueError(
            f"n_ranks={quoted(n_ranks)} is not allowed; it must be a whole number >= 1."
        )
    if engine != "mpi":
        raise ValueError(f"n_ranks={n_ranks} needs engine='mpi'; this is engine={quoted(engine)}.")
    if rank_by_mpiexec() is not None:
        raise ValueError(
            f"n_ranks={n_ranks} starts ranks of its own, and this program was started by mpiexec "
            "already. Leave n_ranks out: the ranks of this program answer."
        )


@contextmanager
def fitting(
    engine: str, n_ranks: int | None
) -> Iterator[Callable[[GraphProblem, SolverOptions], Fit]]:
    """Yield what fits a graph.

    The ranks of one program meet there. An error that one of them has before is raised by all of
    them: the others would wait for it.
    """
    if engine == "local":
        yield fit_graph
        return
    if n_ranks is not None:
        yield lambda problem, options: ranks("job").fit_on_ranks(problem, options, n_ranks)
        return
    met = False

    def together(problem: GraphProblem, options: SolverOptions) -> Any:
        nonlocal met
        met = True
        ranks("estimator").meet()
        return ranks("estimator").answer_all(problem, options)

    try:
        yield together
    except Exception as error:
        if not met:
            ranks("estimator").meet(error)
        raise


def ranks(name: str) -> Any:
    """Return a module of the ranks."""
    return import_module(f"robustgc.mpi.{name}")
