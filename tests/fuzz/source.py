"""Values as Python source, so that a finding can be shown as a short program."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

from robustgc import CSR

IMPORTS = """import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy import inf, nan
import robustgc
"""


def source(value):
    """Return an expression that gives the value again."""
    if isinstance(value, np.ndarray):
        return _array(value)
    if sp.issparse(value):
        kind = type(value).__name__
        rows = sp.csr_array(value)
        parts = ", ".join(_array(part) for part in (rows.data, rows.indices, rows.indptr))
        return f"sp.{kind}(sp.csr_array(({parts}), shape={value.shape}))"
    if isinstance(value, CSR):
        parts = [source(part) for part in (value.indptr, value.indices, value.data)]
        return f"robustgc.CSR({', '.join(parts)})"
    if isinstance(value, pd.DataFrame):
        return f"pd.DataFrame({_array(value.to_numpy())})"
    if isinstance(value, pd.Series):
        return f"pd.Series({source(value.tolist())}, dtype=object)"
    if isinstance(value, list | tuple):
        inside = ", ".join(map(source, value))
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{source(k)}: {source(v)}" for k, v in value.items()) + "}"
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        return f"np.{type(value).__name__}({value.item()!r})"
    if callable(value) and value is not print:
        return "__import__('tests.fuzz.points', fromlist=['kernel']).kernel"
    return (
        "print"
        if value is print
        else repr(value).replace("datetime.date", "__import__('datetime').date")
    )


def _array(value):
    kind = "np.matrix" if isinstance(value, np.matrix) else "np.array"
    numbers = value.dtype.kind in "biuf" and value.ndim == 2 and value.size > 16
    if numbers and np.isfinite(value).all() and (value != 0).mean() < 0.3:
        rows, columns = np.nonzero(np.asarray(value))
        entries = np.asarray(value)[rows, columns].tolist()
        places = f"({entries}, ({rows.tolist()}, {columns.tolist()}))"
        return (
            f"{kind}(sp.coo_array({places}, shape={value.shape}).toarray(), dtype='{value.dtype}')"
        )
    if value.dtype.hasobject:
        return f"{kind}({source(value.tolist())}, dtype=object).reshape({value.shape})"
    return f"{kind}({value.tolist()!r}, dtype='{value.dtype.str}').reshape({value.shape})"


def call(name, args, options):
    """Return the source of a call."""
    given = [*map(source, args), *(f"{key}={source(value)}" for key, value in options.items())]
    return f"{name}({', '.join(given)})"


class Plain:
    """A case without anything of its own: lines of a program, and nothing is checked twice."""

    def program(self):
        return IMPORTS + "\n".join(self.lines())
