"""Calls of the public functions: those of the paper on a Graph, and those beside them."""

import numpy as np
import scipy.sparse as sp

import robustgc
from tests.fuzz import answers, graphs, points
from tests.fuzz.answers import require
from tests.fuzz.draw import chance, exponents, pick
from tests.fuzz.objects import Classified, Issues
from tests.fuzz.source import Plain, call, source
from tests.fuzz.watch import FAILED
from tests.support import oracles


def make(rng):
    return pick(rng, OnGraph, OnGraph, Classified, Issues, Estimated, Extended, Built)(rng)


def _gamma(rng):
    """Return a gamma; those of type str are shares of lambda_1."""
    odd = [0, -1, np.nan, np.inf, None, "x", 2.0, 5e-324, 1e300, [0.1], True]
    usual = [float(exponents(rng, None, 4)), "0.9", "0.5", "0.999999", "1.0000001"]
    return pick(rng, *odd) if chance(rng, 0.15) else pick(rng, *usual)


def _signs(rng, n):
    """Return +1, -1 and 0, or what must be refused."""
    y = rng.choice([-1.0, 0.0, 0.0, 1.0], n)
    if chance(rng, 0.2):
        y = rng.choice([-1.0, 0.0, 1.0], (n, 3))
    if chance(rng, 0.12):
        return pick(
            rng, y[:-1], y * np.nan, y * 1e300, y * 0, y.astype(str), None, "x", y + 0.5, y[None],
            y.astype(complex), [None] * n, y.astype(object), y.tolist(), y.astype(np.int8), [],
        )  # fmt: skip
    return y


class OnGraph(Plain):
    """A function of the paper."""

    def __init__(self, rng):
        W = graphs.weights(rng)
        n = len(W)
        self.plain = W
        odd = chance(rng, 0.05)
        self.W = pick(rng, *graphs.ILLEGAL)(rng, W) if odd else graphs.contained(rng, W)
        y, tol = _signs(rng, n), {}
        if chance(rng, 0.2):
            tol = {"tol": pick(rng, 1e-12, 1e-5, 0, -1, np.nan, 1e-300, "x", 1.0, None)}
        node = pick(rng, 0, n - 1, [0, n - 1], n, -1, 0.5, None, np.arange(n), "x", [[0]], True)
        count = pick(rng, 1, 2, 3, n - 1, n, n + 1, 0, -1, 1.5, None, 10**9, True)
        kind = pick(rng, "normalized", "normalized", "combinatorial", "odd", None)
        some = pick(rng, [0.1, 0.5], [0.9], [], None, [np.nan], [1.0], "x", 0.5, [0.5, None])
        solver = {} if chance(rng, 0.6) else {
            "solver": pick(rng, "dense", "krylov", "multigrid", "direct", "odd", None)
        }  # fmt: skip
        modes = {} if chance(rng, 0.6) else {"n_modes": count}
        self.name, self.args, self.options = pick(
            rng,
            ("robust", (y,), {"gamma": _gamma(rng), **tol, **solver, **modes}),
            ("robust", (y,), {"gamma": _gamma(rng)}),
            ("robust_path", (y,), {"etas": some, **tol, **solver}),
            ("robust_path", (y, some), {**tol, **solver}),
            ("zhou", (y,), {"gamma": _gamma(rng), **tol}),
            ("zhou_path", (y, pick(rng, [1.0], [0.1, 1e9], some)), tol),
            ("belkin", (y,), {"n_vectors": count, "laplacian": kind}),
            ("harmonic", (y,), tol),
            ("poisson", (y,), tol),
            ("lambda_1", (), {}),
            ("eigenpairs", (count, kind), {}),
            ("full_spectrum", (kind,), {}),
            ("condition_bound", (_gamma(rng),), {}),
            ("leave_one_out", (y,), {"gamma": _gamma(rng)}),
            ("node_kernel", (node, pick(rng, 0, node)), {}),
        )

    def lines(self):
        share = {k: v for k, v in self.options.items() if k == "gamma" and isinstance(v, str)}
        note = f"  # gamma: that share of lambda_1, {share}" if share else ""
        return [
            f"graph = robustgc.Graph({source(self.W)})",
            "graph_first = lambda name, *args, **options: getattr(robustgc, name)(graph, *args, "
            "**options)",
            call("graph_first", (self.name, *self.args), self.options) + note,
        ]

    def run(self, watch, folder):
        before = source((self.W, self.args))
        graph = watch("Graph", robustgc.Graph, self.W)
        if graph is FAILED:
            return
        options = dict(self.options)
        share = options.get("gamma")
        if isinstance(share, str) and share != "x":
            limit = watch("lambda_1", robustgc.lambda_1, graph)
            if limit is FAILED:
                return
            options["gamma"] = float(share) * limit
        found = watch(self.name, getattr(robustgc, self.name), graph, *self.args, **options)
        if found is not FAILED:
            watch(f"what {self.name} returned", self._check, found, options)
        if source((self.W, self.args)) != before:
            watch("the input", answers.broken, "the user's own arrays were changed")

    def _check(self, found, options):
        solutions = found if isinstance(found, list) else [found]
        for solution in solutions:
            if isinstance(solution, robustgc.Solution):
                require(np.isfinite(solution.f).all(), f"f is not finite: {self.name}")
                require(np.isfinite(solution.residual), f"residual is not finite: {self.name}")
            elif isinstance(solution, robustgc.Spectrum):
                require(np.isfinite(solution.vectors).all(), f"vectors not finite: {self.name}")
                room = 1e-12 * max(1.0, solution.values.max())
                require((np.diff(solution.values) >= -room).all(), f"values fall: {self.name}")
                require((solution.values >= 0).all(), f"values below 0: {self.name}")
            elif self.name == "lambda_1":
                require(0 < solution < 2 + 1e-9, f"lambda_1 out of range: {solution}")
            elif self.name != "leave_one_out":  # NaN: the node has no label
                require(np.isfinite(solution).all(), f"not finite: {self.name}")
        self._compare(found, options)

    def _compare(self, found, options):
        """Compare with the formula where that keeps its digits."""
        if self.name not in ("robust", "zhou", "harmonic", "poisson") or "n_modes" in options:
            return
        y = np.asarray(self.args[0], dtype=float)
        if len(self.plain) > 60 or y.ndim != 1 or answers._hard(self.plain):
            return
        limit = oracles.lambda_1(self.plain)
        gamma = [options["gamma"]] if "gamma" in options else []
        gap = 1 - gamma[0] / limit if self.name == "robust" else 1.0
        if gap < 1e-9 or (gamma and not 1e-6 < gamma[0] < 1e6):
            return
        expected = getattr(oracles, self.name)(self.plain, y, *gamma)
        tol = options.get("tol", 1e-10)
        require(tol is None or tol >= 0, f"a tolerance that is no number was taken: {self.name}")
        room = (1e-6 + 10 * (1e-10 if tol is None else tol) + 1e-13 / limit) / gap
        room *= np.abs(expected).max()
        room += 1e-13 * np.abs(y).max(initial=0.0) / (limit * gap)  # of P0 y
        worst = np.abs(found.f - expected).max()
        require(worst <= room, f"not the formula's: {self.name} off by {worst:.2g} > {room:.2g}")


class Estimated(Plain):
    """`estimate`."""

    def __init__(self, rng):
        number = [None, 10, 0, -1, 10**9, 10**30, 1.5, "x", np.nan, True]
        self.options = {
            "n_nodes": pick(rng, *number), "n_edges": pick(rng, *number),
            "n_classes": pick(rng, 2, 3, *number), "dtype": pick(rng, "auto", "float32", "x", None),
        }  # fmt: skip
        self.W = graphs.contained(rng, graphs.weights(rng)) if chance(rng, 0.4) else None

    def lines(self):
        return [call("robustgc.estimate", (self.W,), self.options)]

    def run(self, watch, folder):
        watch("estimate", robustgc.estimate, self.W, **self.options)


class Extended(Plain):
    """`extend` to new points."""

    def __init__(self, rng):
        n, m = int(rng.integers(1, 9)), int(rng.integers(1, 4))
        d, f, k_x = (points._extreme(rng, *shape) for shape in ((1, n), (n, 1), (m, n)))
        k_x, k_xx = np.abs(k_x), np.abs(points._extreme(rng, 1, m))[0]
        self.args = [np.abs(d)[0], pick(rng, f, f[:, 0]), pick(rng, k_x, sp.csr_array(k_x)), k_xx]
        if chance(rng, 0.15):
            odd = pick(rng, None, "x", np.zeros(n + 1), -np.ones(n), np.full(n, np.nan), [], 3)
            self.args[int(rng.integers(4))] = odd
        self.gamma = pick(rng, 0.1, 0.5, 0.0, 1.0, 2.0, -1, np.nan, None, "x", 1e-300)

    def lines(self):
        return [call("robustgc.extend", self.args, {"gamma": self.gamma})]

    def run(self, watch, folder):
        found = watch("extend", robustgc.extend, *self.args, gamma=self.gamma)
        if found is not FAILED:
            watch("values", require, not np.isinf(found).any(), "infinity: extend")


class Built(Plain):
    """`build_csr` from arrays, and the folder opened again."""

    def __init__(self, rng):
        n, m = int(rng.integers(1, 30)), int(rng.integers(0, 60))
        edges = rng.integers(0, n, (m, 2))
        weight = exponents(rng, m, 3)
        odd = [None, "x", 7, edges - 1, edges.astype(float) + 0.5, edges * 10**18, edges[:, :1]]
        usual = [edges, edges.tolist(), [edges], (edges[:, 0], edges[:, 1]), [(edges, weight)]]
        self.edges = pick(rng, *odd) if chance(rng, 0.2) else pick(rng, *usual)
        self.options = {
            "n_nodes": pick(rng, None, n, n + 3, 0, -1, 1.5, 10**12, "x"),
            "weighted": pick(rng, None, True, False, "x"),
            "duplicates": pick(rng, "refuse", "sum", "drop", "first", "odd", None),
        }

    def lines(self):
        return [call("robustgc.build_csr", (self.edges, "folder"), self.options)]

    def run(self, watch, folder):
        made = watch("build_csr", robustgc.build_csr, self.edges, folder / "g", **self.options)
        if made is not FAILED:
            opened = watch("open", robustgc.CSR.open, folder / "g")
            watch("the same", lambda: require(opened.same(made), "another graph: once opened"))
