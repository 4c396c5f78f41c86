"""`robustgc predict`: a saved model on new points."""

from pathlib import Path
from typing import Annotated

import typer

from robustgc.commands import shared, text_tables


def predict(
    points: Annotated[
        Path, typer.Argument(metavar="NEW_POINTS", help="Points: .csv .parquet .npy .npz.")
    ],
    model: Annotated[
        Path, typer.Option("--model", "-m", help="What `robustgc classify --save` wrote.")
    ],
    output: shared.Output = None,
    identity: shared.Identity = None,
    columns: shared.Columns = None,
    header: text_tables.Header = None,
    delimiter: text_tables.Delimiter = None,
    decimal: text_tables.Decimal = None,
    encoding: text_tables.Encoding = None,
    max_size: shared.MaxSize = None,
    excel: shared.Excel = False,
    quiet: shared.Quiet = False,
) -> None:
    """Give a label to new points with a saved model.

    One row per point: node, label, probability, decision value or a score per class, and valid:
    whether the model reaches the point at all. A point far from all others has no label.
    """
    shared.check_excel(excel, output)
    tables = text_tables.TextTables(header, delimiter, decimal, encoding)
    shared.check_dialect(tables)
    with shared.guarded(max_size, quiet):
        from robustgc.io.point_files import read_points
        from robustgc.io.writing import check_table, print_table, write_table
        from robustgc.result import load

        if output is not None:
            check_table(output)
        known = load(model)
        chosen = columns.split(",") if columns else None
        new = read_points(points, name=identity, columns=chosen, dialect=tables.dialect())
        for note in new.notes:
            shared.say(f"note: {note}", quiet)
        found = known.predicted(new)
        if output is not None:
            write_table(output, found, excel=excel)
        else:
            print_table(found, excel=excel)
        valid = int(found["valid"].sum())
        shared.say(f"{valid} of {len(new.X)} points have a label.", quiet)
