"""RobustGC inside an MPI program: replicated weights, a matrix of petsc4py, what is refused."""

import subprocess
import sys

from ranks import environment, run

PROGRAM = """
import numpy as np
import pytest
import scipy.sparse as sp
from mpi4py import MPI

from robustgc import RobustGC

comm = MPI.COMM_WORLD
rng = np.random.default_rng(77)
n, truth = 1800, np.arange(1800) % 3
u = rng.integers(0, n, 24 * n)
v = rng.integers(0, n // 3, 24 * n) * 3
v += np.where(rng.random(24 * n) < 0.9, truth[u], rng.integers(0, 3, 24 * n))
W = sp.coo_array((np.ones(24 * n), (u, v)), shape=(n, n)).tocsr()
W = sp.csr_array(W + W.T)
W.setdiag(0)
W.eliminate_zeros()
nodes = rng.choice(n, 60, replace=False)
y = np.full(n, -1)
y[nodes] = truth[nodes]
y[nodes[:9]] = (truth[nodes[:9]] + 1) % 3
weight = rng.uniform(0.5, 2.0, n)
weight[nodes[20]] = 0.0
given = {"affinity": "precomputed"}
one = RobustGC(**given).fit(W, y, sample_weight=weight)

many = RobustGC(**given, engine="mpi").fit(W, y, sample_weight=weight)
np.testing.assert_allclose(many.f_, one.f_, atol=1e-6 * np.abs(one.f_).max())
np.testing.assert_array_equal(many.transduction_, one.transduction_)
np.testing.assert_allclose(many.predict_proba(W), one.predict_proba(W), atol=1e-6)
assert abs(many.lambda_1_ / one.lambda_1_ - 1) < 1e-8
assert (many.eta_, many.n_modes_) == (one.eta_, one.n_modes_)
assert many.residual_ < 1e-6
theirs = one.label_issues()
np.testing.assert_array_equal(many.label_issues().node[:9], theirs.node[:9])
for call in (lambda: many.update({0: 1}), many.suggest_queries):
    with pytest.raises(ValueError, match="spread over ranks"):
        call()
shares = {0: 0.2, 1: 0.3, 2: 0.5}
told = RobustGC(**given, engine="mpi", priors=shares).fit(W, y).transduction_
np.testing.assert_array_equal(told, RobustGC(**given, priors=shares).fit(W, y).transduction_)
with pytest.raises(ValueError, match="started by mpiexec"):
    RobustGC(**given, engine="mpi", n_ranks=2).fit(W, y)
for other in (np.roll(y, comm.rank), np.where(y < 0, y, (y + comm.rank) % 3)):
    with pytest.raises(ValueError, match="labels are not the same on rank"):
        RobustGC(**given, engine="mpi").fit(W, other)
with pytest.raises(ValueError, match="(weights|labels) are not the same on rank"):
    less = n - comm.rank
    RobustGC(**given, engine="mpi").fit(W[:less, :less], y[:less])
with pytest.raises(ValueError, match="not symmetric"):  # of rank 0 alone, told by all
    RobustGC(**given, engine="mpi").fit(W if comm.rank else W * (truth == 0), y)
with pytest.raises(ValueError, match="There are 2 labels for 1800 nodes"):
    RobustGC(**given, engine="mpi").fit(W, [0, 1] if comm.rank == 1 else y)
with pytest.raises(ValueError, match="needs all 1800 nodes in one process"):
    RobustGC(0.9, n_modes=1, **given, engine="mpi", solver="dense").fit(W, y)

from petsc4py import PETSc

cuts = [0, 700, n]
a, b = cuts[comm.rank : comm.rank + 2]
own = W[a:b]
csr = (own.indptr.astype("i4"), own.indices.astype("i4"), own.data)
M = PETSc.Mat().createAIJ(((b - a, n), (b - a, n)), csr=csr, comm=comm)
clf = RobustGC(**given, engine="mpi")
np.testing.assert_array_equal(
    clf.fit(M, y[a:b], sample_weight=weight[a:b]).transduction_, one.transduction_[a:b]
)
assert clf.f_.shape == (b - a, 3)
assert clf.label_issues().node[:9].tolist() == theirs.node[:9].tolist()
plain = RobustGC(**given).fit(W, y)
mine = nodes[comm.rank :: comm.size]  # of any rank
clf.fit(M, {int(k): int(y[k]) for k in mine})
np.testing.assert_array_equal(clf.transduction_, plain.transduction_[a:b])
with pytest.raises(ValueError, match="own rows only"):
    clf.predict(W)
bad = [
    ({0: 0, 1: comm.rank}, "Node 1 has two labels"),
    ({0: 0, n: 1}, f"1 labelled nodes are not in the graph, first {n}"),
    (y, "labels for the .* rows"),
]
for labels, text in bad:
    with pytest.raises(ValueError, match=text):
        clf.fit(M, {0: 0, 1: 1} if labels is not y and comm.rank and n in labels else labels)
with pytest.raises(ValueError, match="needs engine='mpi'"):
    RobustGC(**given).fit(M, y[a:b])
lop = M.copy()
if comm.rank == 0:
    lop.setValue(0, int(own.indices[0]), 7.5)
lop.assemble()
with pytest.raises(ValueError, match="not symmetric"):
    clf.fit(lop, y[a:b])
"""

ALONE = """
import pytest
from robustgc import RobustGC

W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
with pytest.warns(UserWarning, match="one rank: this program was not started by mpiexec"):
    clf = RobustGC(affinity="precomputed", engine="mpi").fit(W, ["a", "", "", "b"])
assert clf.transduction_.tolist() == ["a", "a", "b", "b"]
"""


def test_a_program_of_two_ranks():
    run(2, PROGRAM)


def test_without_mpiexec_there_is_one_rank_and_it_says_so():
    subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE], env=environment(), check=True, timeout=100
    )
