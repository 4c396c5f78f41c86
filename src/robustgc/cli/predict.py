"""`robustgc predict`: a saved model on new points."""

from pathlib import Path
from typing import Annotated, Any

import typer

from robustgc.cli import options, point_options, shared, text_tables


def predict(
    points: Annotated[
        Path, typer.Argument(metavar="NEW_POINTS", help="Points, as --points of classify.")
    ],
    model: Annotated[
        Path, typer.Option("--model", "-m", help="What `robustgc classify --save` wrote.")
    ],
    output: options.Output = None,
    identity: point_options.Identity = None,
    columns: point_options.Columns = None,
    sheet: options.Sheet = None,
    header: text_tables.Header = None,
    delimiter: text_tables.Delimiter = None,
    decimal: text_tables.Decimal = None,
    encoding: text_tables.Encoding = None,
    max_size: options.MaxSize = None,
    excel: options.Excel = False,
    quiet: options.Quiet = False,
) -> None:
    """Give a label to new points with a saved model.

    One row per point: node, label, probability, decision value or a score per class, and valid:
    whether the model reaches the point at all. A point far from all others has no label. Columns
    are matched to those of the model by name, in any order.
    """
    shared.check_excel(excel, output)
    tables = text_tables.TextTables(header, delimiter, decimal, encoding)
    shared.check_dialect(tables)
    with shared.guarded(max_size, quiet):
        from robustgc.api import load
        from robustgc.io.point_files import read_points
        from robustgc.io.writing import check_table, print_table, write_table

        if output is not None:
            check_table(output)
        known = load(model)
        new = read_points(
            points,
            name=identity,
            columns=point_options.column_list(columns),
            sheet=sheet,
            model=known.features,
            dialect=tables.dialect(),
        )
        for note in (*new.notes, *_order_note(known, new)):
            shared.say(f"note: {note}", quiet)
        found = known.predicted(new)
        if output is not None:
            write_table(output, found, excel=excel)
        else:
            print_table(found, excel=excel)
        valid = int(found["valid"].sum())
        shared.say(f"{valid} of {len(new.X)} points have a label.", quiet)


def _order_note(known: Any, new: Any) -> list[str]:
    """Say that the order of columns is trusted, where names cannot match them."""
    if known.features is None and known.estimator.affinity != "precomputed":
        return ["the model has no names of columns, so new points must have its order of columns"]
    if known.features is not None and not new.header:
        from robustgc.graph.quoting import listed

        return [f"the points have no header; their columns are taken as {listed(known.features)}"]
    return []
