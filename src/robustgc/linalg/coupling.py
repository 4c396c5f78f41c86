"""Correct lifted filters, to first order, for the errors of modes known to few digits.

Where modes crowd, or are found in single precision, ``L_N V = V Lambda + R`` with an R that is not
negligible: the modes and what is off them are coupled, and answers that take them apart miss their
tolerance by the coupling times ``eta / (1 - eta)``.
"""

import numpy as np

from robustgc.graph.weights import Array
from robustgc.linalg.deflated import DeflatedOperator

_TOL = 1e-2  # of a correction


def coupling_error(
    off_modes: DeflatedOperator,
    modes: tuple[Array, Array],
    weights: Array,
    gammas: Array,
    Y: Array,
    coefficients: Array,
) -> Array:
    """Return the first-order error in sums of the models' answers, (sums, N, columns).

    With ``G = (L_N - gamma)^-1 R`` off the modes, and its weights W of the modes, a model's answer
    has ``G W V' Y + V W G' Y`` too much.

    Parameters
    ----------
    modes : (values, vectors)
        Without those that are so small that products do not resolve them.
    weights : ndarray, shape (models, Q)
        Of the modes in every model.
    gammas : ndarray, shape (models,)
    coefficients : ndarray, shape (sums, models)
    """
    (values, V), graph = modes, off_modes.source
    R, known = graph.L_N(V) - V * values, graph.inner(V, Y)
    poles, where = np.unique(gammas, return_inverse=True)
    wrong = np.zeros((len(coefficients), *Y.shape))
    for q in range(len(values)):
        shares = np.zeros((len(coefficients), len(poles)))
        np.add.at(shares.T, where, (coefficients * weights[:, q]).T)
        columns, _, _ = off_modes.solve_combined(R[:, q : q + 1], poles, shares, _TOL)
        for k, G in enumerate(columns):
            wrong[k] += G * known[q] + np.outer(V[:, q], graph.inner(G[:, 0], Y))
    return wrong
