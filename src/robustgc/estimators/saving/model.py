"""Save a fitted RobustGC and load it again, without pickle: a model's file cannot run code."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustgc.estimators.robust import RobustGC
from robustgc.estimators.saving.reading import Reading
from robustgc.estimators.saving.state import state
from robustgc.storage.files import place, read, write


@dataclass(frozen=True)
class Saved:
    """What `load` returns.

    Attributes
    ----------
    estimator : RobustGC
        Fitted: it answers with the same bytes as the one that was saved. `update` and
        `suggest_queries` need a new fit.
    names : tuple of str or int, or None
        Names of the nodes, if they were saved.
    reviewed : ndarray of bool or None
        Which nodes have a label that a person has confirmed, if that was saved.
    """

    estimator: RobustGC
    names: tuple[str | int, ...] | None
    reviewed: NDArray[np.bool_] | None = None


def save(
    estimator: RobustGC,
    path: str | os.PathLike[str],
    *,
    names: ArrayLike | None = None,
    run: str | None = None,
    reviewed: NDArray[np.bool_] | None = None,
) -> None:
    """Save a fitted model as a folder, or a zip, of .npy files and one manifest.json.

    The points or weights are part of it: new points are answered from them. So is the report of
    wrong labels, which is made now if the fit has not made it. The files get their name when they
    are complete; a model that is there already is replaced, anything else is not.

    Parameters
    ----------
    estimator : RobustGC
        Fitted, with ``affinity`` "knn", "rbf" or "precomputed".
    path : str or path
        A zip file if it ends in ".zip", else a folder.
    names : sequence of str or int, default=None
        A name for every node, kept beside the model.
    run : str, default=None
        Name of the run that the model is of, kept in the manifest for those who compare outputs.
    reviewed : ndarray of bool, default=None
        Which nodes have a label that a person has confirmed; None: not known of any.

    Raises
    ------
    ValueError
        Not fitted, or something that files without code cannot hold, such as an own kernel.
    FileExistsError
        There is something at the path that is no model.

    Examples
    --------
    >>> import tempfile
    >>> from robustgc import RobustGC
    >>> from robustgc.estimators.saving.model import load, save
    >>> W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    >>> clf = RobustGC(affinity="precomputed").fit(W, ["a", "", "", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(clf, f"{folder}/model.zip", names=["Ann", "Bo", "Cy", "Di"])
    ...     saved = load(f"{folder}/model.zip")
    >>> saved.estimator.transduction_, saved.names
    (array(['a', 'a', 'b', 'b'], dtype='<U1'), ('Ann', 'Bo', 'Cy', 'Di'))
    """
    place(path)  # before the report is made, which may take long
    write(path, *state(estimator, names, run, reviewed))


def load(path: str | os.PathLike[str]) -> Saved:
    """Load a model that `save` wrote, after checking every file.

    Parameters
    ----------
    path : str or path
        The folder or the zip.

    Raises
    ------
    ValueError
        No model, a later version, or files that are missing, damaged, or do not fit each other;
        the text names the file.
    FileNotFoundError
        There is nothing at the path.
    """
    about, arrays = read(path)
    reading = Reading(Path(path), about, arrays)
    estimator = reading.estimator()
    return Saved(estimator, reading.names(len(estimator.components_)), reading.reviewed)
