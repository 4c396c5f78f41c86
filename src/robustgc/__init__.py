"""Labels for every node of a graph from a few labels, some of them wrong."""

from robustgc.graph import Graph
from robustgc.models import (
    belkin,
    condition_bound,
    extend,
    node_kernel,
    robust,
    robust_path,
    zhou,
    zhou_path,
)
from robustgc.solve import NotConvergedError, NotConvexError, Solution
from robustgc.spectrum import Spectrum, eigenpairs, full_spectrum, lambda_1
