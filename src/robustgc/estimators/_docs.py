"""The parts of their docstrings that the estimators share."""

from inspect import cleandoc

_SHARED = """affinity : {"knn", "rbf", "precomputed"} or callable, default="knn"
        How weights come from X. "knn": ``(A + A') / 2`` of the nearest-neighbour graph, no
        self-loops; "rbf": ``exp(-|x - x'|^2 / (scale * sigma^2))``; "precomputed": X is the
        weight matrix; a function ``kernel(A, B)`` returns the matrix of ``k(a, b)``.
    n_neighbors : int, default=None
        Neighbours of "knn". None: 10, or all other points if there are fewer.
    metric : {"euclidean", "cosine"}, default="euclidean"
        How "knn" and "rbf" compare points. "cosine": rows are divided by their length first, so
        that only directions count; a row of zeros is refused.
    sigma : float, default=None
        Width of "rbf". None: the median distance to the 7th nearest neighbour.
    scale : float, default=2.0
        Factor of ``sigma^2`` in "rbf". Deprecated: sigma says the same.
    self_loops : bool, default=True
        Whether "rbf" keeps its diagonal ``k(x, x) = 1``; the paper's digits have it zeroed.
    ann : {"auto", True, False}, default="auto"
        Whether neighbours are found by an approximate index (faiss; ``pip install
        'robustgc[ann]'``), which misses about 3 in 100 of them and repeats itself byte by byte.
        "auto": exact up to what takes a few seconds (11,000 points of 784 dimensions; any number
        of up to 5), above by the index; without faiss, or with sparse X, still exact, but
        slower, in blocks of memory. `neighbors_` says which it was.
    landmarks : int, default=None
        Fit on this many points only, all labelled ones and others drawn at random with a fixed
        seed, and answer the rest by the out-of-sample extension. None: fit on all. Not with
        "precomputed". A default ``sigma`` and "knn" are those of the landmarks.
    unlabeled : object, default=None
        What marks an unlabelled node in y, besides None and NaN. By default -1 for numbers and
        "" for text, and texts such as "NA" or "?" (`robustgc.transduction.missing`), which a
        warning counts."""

_ANSWERS = """classes_ : ndarray, shape (K,)
    transduction_ : ndarray, shape (N,)
        The class of every node; the unlabelled marker where there is none. Of objects where no
        type of numpy holds both as they are.
    f_ : ndarray, shape (N,) or (N, K)
        Decision values: for two classes positive means ``classes_[1]``, else one column per
        class, one versus the rest. NaN where there is no answer; +1 and -1 where only one class
        is labelled in a component; -inf for a class of several that has no label there.
    reasons_ : ndarray of str, shape (N,)
        Why each node has the answer it has.
    components_ : ndarray of int, shape (N,)
        The connected component of every node; each is solved by itself. -1 for a point that is
        no landmark.
    certificates_ : dict
        The evidence for every component that was solved, by its number.
    residual_ : float
        Residual of the solve, the worst over components.
    n_iter_ : int
        Iterations of the solver, 0 for a direct method.
    sigma_ : float or None
        The width of the Gaussian, if there is one.
    neighbors_ : {"exact", "approximate"} or None
        How the neighbours of "knn" were found."""


def documented(cls: type) -> type:
    """Fill in the parts of the docstring that the estimators share."""
    # Python 3.13 stores docstrings without their indentation, earlier versions with it.
    text, shared, answers = map(cleandoc, (cls.__doc__ or "", _SHARED, _ANSWERS))
    cls.__doc__ = text.replace("<shared>", shared).replace("<answers>", answers)
    return cls
