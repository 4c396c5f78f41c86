"""`robustgc predict`: a saved model on new points."""

from pathlib import Path
from typing import Annotated, Any

import typer

from robustgc.cli import shared
from robustgc.cli.messages import guarded, many, say, say_notes
from robustgc.cli.options import Excel, Output, PointColumns, Quiet, TableOptions, grouped


@grouped
def predict(
    points: Annotated[
        Path,
        typer.Argument(
            metavar="NEW_POINTS", help="New points, in a file as for classify --points."
        ),
    ],
    model: Annotated[
        Path, typer.Option("--model", "-m", help="What `robustgc classify --save` wrote.")
    ],
    columns: PointColumns,
    tables: TableOptions,
    output: Output = None,
    excel: Excel = False,
    quiet: Quiet = False,
) -> None:
    """Give a label to new points with a saved model.

    One row per point: node, label, probability, decision value or a score per class, and valid:
    whether the model reaches the point at all. A point far from all others has no label. Columns
    are matched to those of the model by name, in any order.
    """
    shared.check_excel(excel, output)
    shared.check_dialect(tables)
    with guarded(tables.max_size, quiet):
        from robustgc.api import load
        from robustgc.io.point_columns import Choice
        from robustgc.io.point_files import read_points
        from robustgc.io.writing import check_table, print_table, write_table

        if output is not None:
            shared.check_apart([points, model], [output])
            check_table(output)
        known = load(model)
        wanted = Choice(columns.identity, columns=columns.column_list, model=known.features)
        new = read_points(points, wanted, sheet=tables.sheet, dialect=tables.dialect())
        say_notes((*new.notes, *_order_note(known, new)), quiet)
        answers = known.predicted(new)
        if output is not None:
            write_table(output, answers, excel=excel)
        else:
            print_table(answers, excel=excel)
        valid = int(answers["valid"].sum())
        verb = "has" if valid == 1 else "have"
        say(f"{valid} of {many(len(new.X), 'point')} {verb} a label.", quiet)


def _order_note(known: Any, new: Any) -> list[str]:
    """Say that the order of columns is trusted, where names cannot match them."""
    if known.features is None and known.estimator.affinity != "precomputed":
        return ["the model has no names of columns, so new points must have its order of columns"]
    if known.features is not None and not new.header:
        from robustgc.graph.quoting import listed

        return [f"the points have no header; their columns are taken as {listed(known.features)}"]
    return []
