"""RobustGC for scikit-learn: candidates weighed by labels left out, or the paper's model."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from robustgc.affinity.node_features import check_kind
from robustgc.audit.issues import LabelIssues
from robustgc.choice.candidates import heaviest_lifted
from robustgc.choice.likelihood import ATYPICAL
from robustgc.estimators._docs import documented
from robustgc.estimators.base import GraphClassifier, unchanged_by_failure
from robustgc.estimators.engine import check_engine, fitting, ranks
from robustgc.estimators.featured import check_features_allowed, view_weights, with_features
from robustgc.estimators.fits import AnswersOnly, Fit, GraphProblem
from robustgc.graph.quoting import quoted
from robustgc.graph.resources import rank_by_mpiexec
from robustgc.graph.weights import Array
from robustgc.linalg.ladder import SolverOptions
from robustgc.linalg.progress import Progress
from robustgc.models.parameters import Parameters, checked_parameters, warn_of_no_effect
from robustgc.transduction.answer import Transduction
from robustgc.transduction.columns import calibrated, probabilities
from robustgc.transduction.labels import changed_labels, encode
from robustgc.transduction.priors import check_class_weights, check_priors, checked_weights


@documented
class RobustGC(GraphClassifier):
    """Robust graph classification: labels for all nodes from a few, some of them wrong.

    Theorem 1 and Algorithm 1 of the paper: a convex smoothness term minus a concave loss, convex
    while ``gamma < lambda_1``, solved by one linear system; for several classes with the first
    modes of the graph lifted (docs/lifted.md). By default nothing is to be tuned: candidates are
    weighed by what they say of labels they do not see, and answer together.

    Parameters
    ----------
    eta : float or "auto", default="auto"
        ``gamma = eta * lambda_q``, strictly between 0 and 1. "auto": weighed by leave-one-out.
        ``eta=0.9, n_modes=1`` is the paper's parameter-free model, exactly.
    n_modes : int or "auto", default="auto"
        How many eigenvalues are lifted to ``lambda_q``: about as many as there are classes less
        one. "auto": weighed by leave-one-out.
    class_weight : {None, "balanced"}, default=None
        "balanced": every class counts alike, however many labels it has. With "auto" they
        always do, and this has no effect.
    priors : None, "labels", dict or array-like, default=None
        Shares of the classes among all nodes, positive and summing to 1: thresholds are moved so
        that the answers have them. "labels": the shares of the given labels.
    <shared>
    solver : {"auto", "dense", "krylov", "multigrid", "direct"}, default="auto"
        How the paper's system (``eta`` and ``n_modes=1`` given) is solved; otherwise it only counts
        where no modes are found, and the paper's model answers instead. "auto": by size and a short
        probe, and the next solver wherever a result does not pass its checks.
    tol : float, default=None
        Relative residual of the system to reach; where `residual_` is above it, a
        `ResidualWarning` says so. None: 1e-8, in single precision 1e-5; 1e-3 on more than 1,500
        nodes where ``eta`` or ``n_modes`` is chosen, and with several modes on more than 30,000.
    dtype : {"auto", "float64", "float32"}, default="auto"
        Working precision. "auto": single from 100,000 nodes on if ``tol`` allows it, else double.
        Where single precision does not reach ``tol``, or degrees are more than 1e30 apart, double
        is used, and `history_` says so.
    verbose : bool, default=False
        Show a progress bar on standard error: steps, residual, time left.
    engine : {"local", "mpi"}, default="local"
        "mpi": the rows of the graph are spread over processes (docs/cluster.md). Within a program
        that mpiexec has started all ranks call `fit` with the same X and y, and get all answers; or
        X is a distributed matrix of petsc4py, and y and the answers are those of the rank's rows.
    n_ranks : int, default=None
        Start that many processes for the fit, from a program that mpiexec has not started.

    Attributes
    ----------
    <answers>
    eta_, n_modes_ : float, int
        Those of the lifted candidate with the largest weight.
    selection_ : tuple of Candidate
        All candidates, the heaviest first: ``n_modes``, ``eta`` (below 0: ZhouGC), ``ridge`` (None:
        class means), ``constant``, ``centred``, ``accuracy`` and ``evidence`` on labels left out,
        ``weight``. Empty where none was chosen.
    views_ : tuple of ViewWeight
        What the graph, the features and their mixtures weigh, with ``accuracy`` and ``evidence``
        on labels left out; `notes_` says what was decided on the features.
    lambda_1_, gamma_, condition_bound_ : float
        The smallest non-trivial eigenvalue (an upper bound on it where no mode was found), the
        trade-off, and the bound on the condition number (section 3.2), for the largest component
        that was solved (of the heaviest candidate).
    eigen_residual_ : float
        ``|L_N v - lambda_1 v| / lambda_1`` for the unit vector found with lambda_1.
    solver_ : str
        The one that answered for the largest component that was solved.
    history_ : tuple of Attempt
        Every solver that was tried there, in order: ``solver``, ``reason``, ``result``,
        ``seconds``.

    Examples
    --------
    >>> from robustgc import RobustGC
    >>> W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    >>> RobustGC(affinity="precomputed").fit(W, ["a", "", "", "b"]).transduction_
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """

    eta: Any
    n_modes: Any
    class_weight: Any
    priors: Any
    solver: Any
    tol: Any
    dtype: Any
    verbose: Any
    engine: Any
    n_ranks: Any

    def __init__(
        self,
        eta: float | str = "auto",
        *,
        n_modes: int | str = "auto",
        class_weight: str | None = None,
        priors: Any = None,
        affinity: Any = "knn",
        sigma: float | None = None,
        scale: float = 2.0,
        self_loops: bool = True,
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        ann: bool | str = "auto",
        landmarks: int | None = None,
        unlabeled: object = None,
        solver: str = "auto",
        tol: float | None = None,
        dtype: str = "auto",
        verbose: bool = False,
        engine: str = "local",
        n_ranks: int | None = None,
    ) -> None:
        self._set_parameters(locals())

    _fit: Fit
    _sample_weight: Any  # of the label of every row of X, with mean 1 over the labels
    _shares: Array | None  # of the classes, by `priors`
    _notes: tuple[str, ...] = ()  # on the features

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        features: Any = None,
        features_as: str = "auto",
    ) -> Self:
        """Answer for every node from the labels of a few.

        Parameters
        ----------
        X : array or sparse matrix, shape (N, n_features) or (N, N)
            Points, or the weight matrix if ``affinity="precomputed"``.
        y : array-like, shape (N,)
            Labels: text, integers or booleans. -1, "", None and NaN mean unlabelled.
        sample_weight : array-like, shape (N,), default=None
            How much every label counts, 0 or more, in any unit; 0 leaves the label out, the node
            stays. Entries of unlabelled nodes do not matter. No class may weigh less than 1e-6 of
            another, with or without its heaviest label.
        features : array, sparse matrix or frame, shape (N, columns), default=None
            Data on the nodes of a graph (``affinity="precomputed"``), NaN where a value is missing.
            The graph, a neighbour graph of the features and mixtures of both are weighed by labels
            left out (`views_`), so that what tells nothing has no weight. New nodes cannot be
            predicted then: add them to the graph, and fit again.
        features_as : {"auto", "measurements", "counts", "embedding"}, default="auto"
            What the columns are; "auto" tells it from their values, and `notes_` says what.

        Returns
        -------
        self
        """
        with unchanged_by_failure(self):
            if type(X).__module__.startswith("petsc4py"):
                return self._fit_distributed(X, y, sample_weight)
            self._check_input()
            parameters = self._check_parameters()
            warn_of_no_effect(parameters, str(self.solver))
            check_kind(features_as)
            if features is not None:
                check_features_allowed(self.affinity, self.engine, self.landmarks)
            with fitting(self.engine, self.n_ranks) as fit_graph:
                X = self._read_to_fit(X)
                labels = encode(y, n_nodes=X.shape[0], unlabeled=self.unlabeled)
                weights, labels = checked_weights(sample_weight, labels)
                shares = check_priors(self.priors, labels)
                graph, featured, notes = self._input_graph(X, labels), None, tuple[str, ...]()
                if features is not None:
                    graph, featured, notes = with_features(graph, features, features_as)
                psd = graph.affinity.positive_semidefinite and featured is None
                known = (graph.node_labels, graph.at_nodes(weights))
                rest = (parameters, shares, psd, featured)
                problem = GraphProblem.of_all_nodes(graph.weights, *known, *rest)
                with self._progress() as progress:
                    self._fit = fit_graph(problem, self._options(progress.watch))
            self._sample_weight, self._shares = weights, shares
            self._featured, self._notes = featured, notes
            self._keep(graph, self._fit.answer)
            self._set_model(self._answer)
            return self

    def _fit_distributed(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        """Fit a matrix of petsc4py: what is fitted is of the rank's own rows."""
        parameters = self._check_parameters()
        warn_of_no_effect(parameters, str(self.solver))
        if self.engine != "mpi" or self.affinity != "precomputed" or self.priors is not None:
            raise ValueError(
                "A matrix of petsc4py needs engine='mpi' and affinity='precomputed', and allows no "
                "priors: they need all answers in one process."
            )
        fitted, self._fit = ranks("estimator").answer_own(
            X, y, sample_weight, self.unlabeled, parameters, self._options()
        )
        self._X, self._affinity, self._labels = X, None, fitted.labels
        self._answer = self._graph_answer = fitted.answer
        self._chosen, self._sample_weight, self._shares, self._rows = None, None, None, None
        self.n_features_in_ = fitted.share.n
        self._set_model(fitted.answer)
        return self

    def _check_parameters(self) -> Parameters:
        """Return the model's own parameters, or refuse them before any work is done."""
        parameters = checked_parameters(self.eta, self.n_modes, self.class_weight)
        check_engine(self.engine, self.n_ranks)
        self._options()
        return parameters

    def _options(self, watch: Any = None) -> SolverOptions:
        """Return how to solve."""
        return SolverOptions(str(self.solver), self.tol, str(self.dtype), watch)

    def _progress(self) -> Progress:
        """Return a bar on standard error if there is to be one; of all ranks the first has it."""
        first = self.engine == "local" or not rank_by_mpiexec()
        return Progress(bool(self.verbose) and first)

    def label_issues(self) -> LabelIssues:
        """Return every given label with the suspicion that it is wrong, the worst first.

        Each label is judged by the others: what the model says of its node when it does not see
        it. Without refitting, and exact up to 1500 nodes or with few labels; with many on a larger
        graph a label's own part in an answer is estimated from 32 or 64 random signs.

        Examples
        --------
        >>> import numpy as np
        >>> from robustgc import RobustGC
        >>> W = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
        >>> W[2, 3] = W[3, 2] = 0.1
        >>> clf = RobustGC(affinity="precomputed").fit(W, ["a", "a", "", "b", "a", "b"])
        >>> worst = next(iter(clf.label_issues()))
        >>> worst.node, worst.given, worst.suggested
        (4, np.str_('a'), np.str_('b'))
        """
        check_is_fitted(self)
        issues = self._fit.label_issues(self._options())  # by the nodes of the graph
        return issues if self._chosen is None else issues.renumbered(self._chosen)

    def update(self, labels: Mapping[int, Any]) -> Self:
        """Change some labels and answer again, without fitting the graph part anew.

        Only the difference is solved for, with the weights that the fit gave to candidates and
        labels. A label at a node that has none counts fully, with weight 1, even where one was
        taken away before; one that replaces another keeps its sample weight. Fit again to weigh
        all labels anew. Residuals of updates add up: `residual_` is at most four times ``tol``.

        Parameters
        ----------
        labels : mapping
            From node to its new label; None, or what means unlabelled in y, takes the label away.

        Examples
        --------
        >>> from robustgc import RobustGC
        >>> W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
        >>> clf = RobustGC(affinity="precomputed").fit(W, ["a", "", "b", "b"])
        >>> clf.update({2: None, 1: "a"}).transduction_
        array(['a', 'a', 'b', 'b'], dtype='<U1')
        """
        check_is_fitted(self)
        if self.landmarks is not None:
            raise ValueError("update is not possible with landmarks; fit again.")
        if isinstance(self._fit, AnswersOnly):
            self._fit.updated()  # which says why it cannot be
        changed = changed_labels(self._labels, labels, unlabeled=self.unlabeled)
        labelled = changed.codes >= 0
        weights = np.where(labelled & (self._labels.codes < 0), 1.0, self._sample_weight)
        known = weights[labelled]
        check_class_weights(known, changed.codes[labelled], changed.classes, known)
        shares = check_priors(self.priors, changed)
        with self._progress() as progress:
            fit = self._fit.updated(changed, weights, shares, self._options(progress.watch))
        with unchanged_by_failure(self):
            self._fit, self._labels = fit, changed
            self._sample_weight, self._shares = weights, shares
            self._answer = self._graph_answer = fit.answer
            self._set_model(fit.answer)
        return self

    def suggest_queries(self, n: int = 1) -> NDArray[np.int64]:
        """Return the nodes to label next: those least certain and most influential.

        Nodes are taken one by one. Next is the one whose label would tell of the most doubt (how
        close the two best classes of a node are): of nodes around it by short walks, of nodes far
        away by what the first modes have in common. What it tells is not counted again. A component
        without a label comes first, with one node; one with a single labelled class gives none.

        Parameters
        ----------
        n : int
            How many; fewer if fewer are left without a label.
        """
        check_is_fitted(self)
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n={quoted(n)} is not allowed; it must be a whole number >= 1.")
        nodes = self._fit.queries(int(n))
        return nodes if self._chosen is None else np.asarray(self._chosen[nodes])

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class; rows sum to 1, points without an answer get NaN.

        By default the probabilities are calibrated on the given labels, each left out: of answers
        with 0.8 about four in five are right. `python -m benchmarks.noise probabilities` prints
        the expected calibration error over 15 data sets and three kinds of wrong labels. Decision
        values are log-odds then: what `softmax` makes of them, an eighth of it shared by all
        classes alike, since some nodes are not like their surroundings. With `eta` and `n_modes`
        given values are scaled by their root mean square, and probabilities are a convenience only.
        Where one class is labelled in a component, nothing is known of the others: f is 1 by
        convention, and the probability is what that makes of it.
        """
        return super().predict_proba(X)

    def _probabilities(self, f: Array) -> Array:
        if calibrated(self._answer.certificates.values()):
            return probabilities(f, typical=1 - ATYPICAL)
        return super()._probabilities(f)

    def _read(self, X: Any, *, reset: bool) -> Any:
        if not reset and self._affinity is None:
            raise ValueError(
                "The graph was a matrix of petsc4py: answers are there for its own rows only, in "
                "transduction_ and f_."
            )
        return super()._read(X, reset=reset)

    def _set_model(self, answer: Transduction) -> None:
        """Set all fitted attributes from the answer for all rows of X."""
        certificate = self._set_answers(answer)
        self.lambda_1_ = certificate.lambda_1
        self.gamma_ = certificate.gamma
        self.condition_bound_ = certificate.condition_bound
        self.eigen_residual_ = certificate.eigen_residual
        self.notes_ = self._notes
        self.views_ = view_weights(certificate.selection) if self._featured is not None else ()
        self.history_ = certificate.history
        self.solver_ = certificate.history[-1].solver if certificate.history else "none"
        self.selection_ = certificate.selection
        best = heaviest_lifted(certificate.selection)
        fixed = checked_parameters(self.eta, self.n_modes, self.class_weight)
        lambda_1 = certificate.lambda_1 or np.nan  # NaN: nothing solved; a file may say 0
        ratio = certificate.gamma / lambda_1
        otherwise = fixed.eta if fixed.eta is not None else ratio if ratio > 0 else np.nan
        self.eta_ = best.eta if best else otherwise
        self.n_modes_ = best.n_modes if best else fixed.n_modes or 1
