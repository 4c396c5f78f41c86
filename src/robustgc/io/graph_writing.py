"""Graphs to files and folders, whole or not at all."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from robustgc.graph.atomic import new_folder, together
from robustgc.graph.csr import CSR
from robustgc.graph.weights import check_weights
from robustgc.io.named import NamedGraph
from robustgc.io.opening import InputError, check_target, replacing, unwritten
from robustgc.io.writing import TABLES, check_table, write_table


def write_graph(graph: NamedGraph, path: Path, *, excel: bool = False) -> None:
    """Write a graph by the ending of the path; without a known one, a folder."""
    check_graph(path, excel=excel)
    W = check_weights(graph.W)
    ending = path.suffix.lower()
    if ending in TABLES:
        _table(W, graph.names, path, excel)
    elif ending:
        _matrix(W, graph, path)
    else:
        _folder(W if isinstance(W, CSR) else CSR.from_scipy(sp.csr_array(W)), graph, path)


def check_graph(path: Path, *, excel: bool = False) -> None:
    """Refuse, before the work, a graph that could not be written."""
    ending = path.suffix.lower()
    if excel and ending not in (".csv", ".tsv", ".xlsx"):
        raise InputError(f"{path}: graphs for spreadsheets are .csv, .tsv or .xlsx. Rename it.")
    if ending not in (*TABLES, ".npz", ".mtx", ""):
        raise InputError(
            f"{path}: graphs are written as {', '.join(TABLES)}, .npz, .mtx, or as a folder (a "
            "name without an ending). Rename it."
        )
    if ending in TABLES:
        check_table(path, excel=excel)
    elif ending:
        check_target(path)
    elif path.exists():
        raise InputError(f"{path} exists already; remove it or choose another name.")


def _table(W: Any, names: Any, path: Path, excel: bool) -> None:
    upper = sp.triu(_scipy(W), format="coo")  # every edge once
    columns = {"source": names[upper.row], "target": names[upper.col]}
    if not (upper.data == 1).all():
        columns["weight"] = upper.data
    write_table(path, columns, excel=excel)


def _matrix(W: Any, graph: NamedGraph, path: Path) -> None:
    beside = path.with_name(path.name + ".names.csv")
    named = not _counted(graph.names)
    with together([path, beside] if named else [path]):  # both, or none
        with replacing(path) as file:
            if path.suffix.lower() == ".npz":
                sp.save_npz(file, _scipy(W))
            else:
                scipy.io.mmwrite(file, _scipy(W), symmetry="symmetric")
        if named:
            write_table(beside, {"row": np.arange(len(graph.names)), "node": graph.names})


def _folder(W: CSR, graph: NamedGraph, path: Path) -> None:
    try:
        with new_folder(path) as partial:
            if not _counted(graph.names):
                text = json.dumps(graph.names.tolist(), ensure_ascii=False)
                (partial / "names.json").write_text(text, encoding="utf-8")
            W.fill(partial)
    except FileExistsError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        unwritten(path, error)


def _counted(names: Any) -> bool:
    """Whether the names are the numbers that nodes have anyway."""
    return names.dtype.kind in "iu" and bool((names == np.arange(len(names))).all())


def _scipy(W: Any) -> Any:
    return W.to_scipy() if isinstance(W, CSR) else sp.csr_array(W)
