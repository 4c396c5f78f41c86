"""Which processes answer: this one, the ranks of this program, or ranks that are started for it.

The engine itself lies above this layer (robustgc.mpi). It is loaded by name, when it is asked for:
a program on one machine needs neither MPI nor PETSc.
"""

import os
from abc import abstractmethod
from importlib import import_module
from numbers import Integral
from typing import Any, Self

from numpy.typing import ArrayLike

from robustgc.choice.asked import Model
from robustgc.estimators._classifier import GraphClassifier
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Weights
from robustgc.linalg.ladder import Options
from robustgc.linalg.progress import Progress
from robustgc.transduction.answer import Transduction
from robustgc.transduction.labels import Labels

ENGINES = ("local", "mpi")
# What mpiexec, or a batch system, tells every rank that it starts.
_RANK = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_RANKID")


def rank_by_mpiexec() -> int | None:
    """Return the number of this rank, or None: the process was not started by mpiexec."""
    found = next((os.environ[name] for name in _RANK if name in os.environ), "")
    return int(found) if found.isdigit() else None


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


class RankedClassifier(GraphClassifier):
    """An estimator that other processes may answer for."""

    engine: Any
    n_ranks: Any
    verbose: Any
    priors: Any
    _sizes: Any
    _shares: Any
    _chosen: Any
    _affinity: Any

    _met: bool  # whether all ranks have come to the point where they answer together

    def _fit(self, X: Any, y: ArrayLike) -> Self:
        self._met = self.engine == "local" or self.n_ranks is not None
        try:
            return super()._fit(X, y)
        except Exception as error:
            if not self._met:  # the others wait for this rank
                _engine("program").meet(error)
            raise

    def _answered(
        self, W: Weights, labels: Labels, settled: GraphClassifier, psd: bool
    ) -> Transduction:
        if self.engine == "local":
            return super()._answered(W, labels, settled, psd)
        model, sizes = self._model(), settled._task.sizes
        with Progress(bool(self.verbose) and not rank_by_mpiexec()) as progress:
            asked = (W, labels, sizes, model, self._options(progress.watch), psd)
            if self.n_ranks is None:
                self._met = True
                _engine("program").meet()
                answer, settled._task = _engine("program").answer_all(*asked)
            else:
                answer, settled._task = _engine("notebook").solved(*asked, self.n_ranks)
        return self._adjusted(answer)

    def _fit_spread(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        """Fit a matrix of petsc4py: what is fitted is of the rank's own rows."""
        self._check_parameters()
        if self.engine != "mpi" or self.affinity != "precomputed" or self.priors is not None:
            raise ValueError(
                "A matrix of petsc4py needs engine='mpi' and affinity='precomputed', and allows no "
                "priors: they need all answers in one process."
            )
        model, options = self._model(), self._options()
        fitted, task = _engine("program").answer_own(
            X, y, sample_weight, self.unlabeled, model, options
        )
        self._X, self._affinity, self._labels = X, None, fitted.labels
        self._answer = self._graph_answer = fitted.answer
        self._task, self._chosen, self._sizes, self._shares = task, None, None, None
        self.n_features_in_ = fitted.share.n
        self._set_fitted(fitted.answer)
        return self

    def _read(self, X: Any, *, reset: bool) -> Any:
        if not reset and self._affinity is None:
            raise ValueError(
                "The graph was a matrix of petsc4py: answers are there for its own rows only, in "
                "transduction_ and f_."
            )
        return super()._read(X, reset=reset)

    @abstractmethod
    def _model(self) -> Model:
        """Return what the user fixed."""

    @abstractmethod
    def _options(self, watch: Any = None) -> Options:
        """Return how to solve."""


def _engine(name: str) -> Any:
    return import_module(f"robustgc.mpi.{name}")
