"""The edges of a graph that was read, by the names of their nodes."""

import scipy.sparse as sp


def edges_of(graph):
    """Return the weight of every edge, by the two names as text."""
    W = graph.W.to_scipy() if hasattr(graph.W, "to_scipy") else graph.W
    A = sp.coo_array(sp.triu(sp.csr_array(W)))
    pairs = zip(A.row.tolist(), A.col.tolist(), A.data.tolist(), strict=True)
    return {frozenset((str(graph.names[i]), str(graph.names[j]))): w for i, j, w in pairs}
