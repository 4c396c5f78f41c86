"""One call from a graph and its labels to the suspicious ones."""

from typing import Any

from numpy.typing import ArrayLike

from robustgc.audit.issues import LabelIssues
from robustgc.estimators.robust import RobustGC


def find_label_issues(W: Any, y: ArrayLike, **options: Any) -> LabelIssues:
    """Return which of the given labels are suspicious, without keeping an estimator.

    Parameters
    ----------
    W : array, sparse matrix or CSR, shape (N, N)
        The weights of the graph; or points, with ``affinity="knn"`` among the options.
    y : array-like, shape (N,)
        Labels, as in `RobustGC.fit`.
    **options
        Parameters of `RobustGC`.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc import find_label_issues
    >>> W = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> W[2, 3] = W[3, 2] = 0.1
    >>> find_label_issues(W, ["a", "a", "", "b", "a", "b"]).node[0]
    np.int64(4)
    """
    return RobustGC(**{"affinity": "precomputed", **options}).fit(W, y).label_issues()
