"""Labels for every node of a graph from a few labels, some of them wrong.

The estimators `RobustGC`, `ZhouGC`, `BelkinGC`, `HarmonicGC` and `PoissonGC` follow scikit-learn;
the functions `robust`, `zhou`, `belkin` and the rest follow the paper, on a `Graph`.

Names are imported from their modules when they are first used: `import robustgc` takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robustgc.api import Result, classify, load
    from robustgc.audit.issues import LabelIssue, LabelIssues
    from robustgc.estimators.baselines import BelkinGC, HarmonicGC, PoissonGC, ZhouGC
    from robustgc.estimators.robust import RobustGC
    from robustgc.estimators.wrong_labels import find_label_issues
    from robustgc.graph.alerts import ResidualWarning
    from robustgc.graph.csr import CSR
    from robustgc.graph.graph import Graph
    from robustgc.io.on_disk.build import build_csr
    from robustgc.linalg.cost import Estimate, estimate
    from robustgc.linalg.ladder import lambda_1
    from robustgc.linalg.solution import NotConvergedError, NotConvexError, Solution
    from robustgc.linalg.spectrum import Spectrum, eigenpairs, full_spectrum
    from robustgc.models.extension import extend
    from robustgc.models.harmonic import harmonic
    from robustgc.models.leave_one_out import leave_one_out
    from robustgc.models.paper import (
        belkin,
        condition_bound,
        robust,
        robust_path,
        zhou,
        zhou_path,
    )
    from robustgc.models.poisson import node_kernel, poisson

__version__ = "0.1.0"

__all__ = [
    "CSR",
    "BelkinGC",
    "Estimate",
    "Graph",
    "HarmonicGC",
    "LabelIssue",
    "LabelIssues",
    "NotConvergedError",
    "NotConvexError",
    "PoissonGC",
    "ResidualWarning",
    "Result",
    "RobustGC",
    "Solution",
    "Spectrum",
    "ZhouGC",
    "belkin",
    "build_csr",
    "classify",
    "condition_bound",
    "eigenpairs",
    "estimate",
    "extend",
    "find_label_issues",
    "full_spectrum",
    "harmonic",
    "lambda_1",
    "leave_one_out",
    "load",
    "node_kernel",
    "poisson",
    "robust",
    "robust_path",
    "zhou",
    "zhou_path",
]

# Where each name is, as above: a type checker needs the imports, and they would all run at once.
_HOMES = {
    "api": ["Result", "classify", "load"],
    "audit.issues": ["LabelIssue", "LabelIssues"],
    "estimators.baselines": ["BelkinGC", "HarmonicGC", "PoissonGC", "ZhouGC"],
    "estimators.robust": ["RobustGC"],
    "estimators.wrong_labels": ["find_label_issues"],
    "graph.alerts": ["ResidualWarning"],
    "graph.csr": ["CSR"],
    "graph.graph": ["Graph"],
    "io.on_disk.build": ["build_csr"],
    "linalg.cost": ["Estimate", "estimate"],
    "linalg.ladder": ["lambda_1"],
    "linalg.solution": ["NotConvergedError", "NotConvexError", "Solution"],
    "linalg.spectrum": ["Spectrum", "eigenpairs", "full_spectrum"],
    "models.harmonic": ["harmonic"],
    "models.extension": ["extend"],
    "models.paper": ["belkin", "condition_bound", "robust", "robust_path", "zhou", "zhou_path"],
    "models.poisson": ["node_kernel", "poisson"],
    "models.leave_one_out": ["leave_one_out"],
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        """Import a public name from its module, and keep it."""
        home = next((module for module, names in _HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module 'robustgc' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"robustgc.{home}"), name)
        return value
