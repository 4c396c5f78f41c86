"""Whether 200 fixed runs give the same bytes as before: for changes that move or rename code.

A module for each kind of run has tables from names to functions; what a function returns becomes a
digest. Only names of `robustgc`, its data sets and its command line are used, so that modules may
move. `python -m benchmarks same_answers` tells the usage.
"""

import os

# Before they are loaded: BLAS adds up in another order where it has several threads.
for library in ("OPENBLAS", "OMP", "MKL", "NUMBA", "ROBUSTGC"):
    os.environ[f"{library}_NUM_THREADS"] = "1"
