"""`robustgc convert`: a graph from one kind of file to another."""

from pathlib import Path
from typing import Annotated

import typer

from robustgc.cli import shared
from robustgc.cli.messages import guarded, many, say, say_notes
from robustgc.cli.options import Excel, GraphOptions, Quiet, grouped


@grouped
def convert(
    graph: GraphOptions,
    out: Annotated[
        Path,
        typer.Argument(help="What to write: .csv .tsv .parquet .xlsx .npz .mtx, or a new folder."),
    ],
    excel: Excel = False,
    quiet: Quiet = False,
) -> None:
    """Convert a graph. A folder is the fastest to read: it is mapped into memory.

    A folder keeps the names of the nodes; .npz and .mtx have numbers only, and the names go to a
    file next to them that ends in .names.csv.
    """
    shared.check_graph(graph)
    with guarded(graph.max_size, quiet):
        from robustgc.io.graph_files import check_graph, write_graph

        shared.check_apart([graph.edges], [out])
        check_graph(out, excel=excel)
        named = graph.graph()
        say_notes(named.notes, quiet)
        write_graph(named, out, excel=excel)
        count = f"{many(len(named.names), 'node')} and {many(named.n_edges, 'edge')}"
        say(f"{count} are in {out}.", quiet)
