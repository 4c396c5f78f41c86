"""Every rank reads the graphs that a file names, and rank 0 prints what all of them found."""

import json
import sys
from pathlib import Path

import numpy as np

from robustgc.mpi import reading, rows
from robustgc.mpi.reading import read_share
from robustgc.mpi.world import world

comm = world()
rows.EDGES = 50  # so that edges go in several rounds


read_piece, edges_read = reading.FilePart.read, []


def counting(piece, columns, dialect=None):
    edges = read_piece(piece, columns, dialect)
    edges_read.append(0 if edges is None else len(edges.ends[0]))
    return edges


reading.FilePart.read = counting


def found(path, options):
    edges_read.clear()
    try:
        read = read_share(Path(path), comm, **options)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    share = read.share
    first, names = share.first, read.names
    own = np.arange(first, first + share.rows) if names is None else names
    known = [name for part in comm.allgather(own.tolist()) for name in part]
    rows = np.repeat(np.arange(share.rows), np.diff(share.indptr))
    weights = np.ones(len(rows)) if share.data is None else share.data
    return {
        "first": first,
        "rows": share.rows,
        "n": share.n,
        "nbytes": share.nbytes,
        "read": edges_read[:],
        "unit": share.data is None,
        "notes": read.notes,
        "names": own.tolist(),
        "entries": [
            (own.tolist()[i], known[j], w)
            for i, j, w in zip(rows.tolist(), share.indices.tolist(), weights.tolist(), strict=True)
        ],
    }


if __name__ == "__main__":
    for case, path, options in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        every = comm.gather(found(path, options))
        if comm.rank == 0:
            sys.stdout.write(json.dumps([case, every]) + "\n")
