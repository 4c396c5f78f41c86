"""`robustgc convert`: a graph from one kind of file to another."""

from pathlib import Path
from typing import Annotated

import typer

from robustgc.cli import options, shared
from robustgc.cli.shared import GraphQuestion, asking


@asking(GraphQuestion)
def convert(
    asked: GraphQuestion,
    out: Annotated[
        Path,
        typer.Argument(help="What to write: .csv .tsv .parquet .xlsx .npz .mtx, or a new folder."),
    ],
    excel: options.Excel = False,
    quiet: options.Quiet = False,
) -> None:
    """Convert a graph. A folder is the fastest to read: it is mapped into memory.

    A folder keeps the names of the nodes; .npz and .mtx have numbers only, and the names go to a
    file beside them that ends in .names.csv.
    """
    shared.check_graph(asked)
    with shared.guarded(asked.max_size, quiet):
        from robustgc.io.graph_files import check_graph, write_graph

        check_graph(out, excel=excel)
        known = asked.graph()
        for note in known.notes:
            shared.say(f"note: {note}", quiet)
        write_graph(known, out, excel=excel)
        nodes, edges = len(known.names), known.n_edges
        count = f"{nodes} node{'s' * (nodes != 1)} and {edges} edge{'s' * (edges != 1)}"
        shared.say(f"{count} are in {out}.", quiet)
