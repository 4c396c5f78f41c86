"""`robustgc apply`: decisions about doubtful labels -> corrected labels."""

from pathlib import Path
from typing import Annotated

import typer

from robustgc.cli import options, shared, text_tables
from robustgc.cli.classify import check_apart, check_places


def apply(
    issues: Annotated[
        Path,
        typer.Argument(
            metavar="ISSUES", help="What `robustgc audit -o` wrote, with a column decision added."
        ),
    ],
    labels: Annotated[
        Path, typer.Option("--labels", "-l", help="The table of labels that was audited.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Labels to write, .csv .tsv .xlsx .parquet.")
    ],
    log: Annotated[
        Path | None,
        typer.Option(help="Log to write; else beside the labels, as NAME.log.csv."),
    ] = None,
    new_class: Annotated[
        bool, typer.Option("--new-class", help="Decisions may name classes that no label has yet.")
    ] = False,
    node_column: options.NodeColumn = None,
    label_column: options.LabelColumn = None,
    unlabelled: options.Unlabelled = None,
    label_sheet: options.LabelSheet = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=options.FILES_PANEL, help="Sheet of ISSUES (.xlsx); else the first."
        ),
    ] = None,
    delimiter: text_tables.Delimiter = None,
    decimal: text_tables.Decimal = None,
    encoding: text_tables.Encoding = None,
    max_size: options.MaxSize = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Correct labels by the decisions that you wrote into an issues table.

    A cell of its column decision is keep (the label is right), change (take the suggestion), drop
    (remove the label), the name of a class (class:keep for one that is called keep), or empty. All
    else in LABELS stays as it is. A column reviewed marks what was kept or changed; the next audit
    lists these labels last.

    Give the options with which the audit has read LABELS. How ISSUES is written is found out.

    For instance:

      robustgc audit edges.csv --labels labels.csv -o issues.csv

      robustgc apply issues.csv --labels labels.csv -o cleaned.csv
    """
    log = output.with_suffix(".log.csv") if log is None else log
    tables = text_tables.TextTables(None, delimiter, decimal, encoding)
    shared.check_dialect(tables)
    with shared.guarded(max_size, quiet):
        from robustgc.io.corrections import corrections
        from robustgc.io.writing import check_table

        check_apart([issues, labels], [output, log])
        check_places(output, log)
        check_table(output)
        check_table(log)
        made = corrections(
            issues,
            labels,
            node=node_column,
            label=label_column,
            new_class=new_class,
            unlabelled=unlabelled or None,
            sheet=sheet,
            label_sheet=label_sheet,
            dialect=tables.dialect(),
        )
        for note in made.notes:
            shared.say(f"note: {note}", quiet)
        made.write(output, log)
        counts = ", ".join(f"{count} {name}" for name, count in made.counts.items())
        shared.say(f"{counts}. The labels are in {output}, the log is in {log}.", quiet)
        if as_json:
            summary = {"output": str(output), "log": str(log), "notes": list(made.notes)}
            shared.machine(made.counts | summary)
