"""`robustgc apply`: decisions about doubtful labels -> corrected labels."""

from pathlib import Path
from typing import Annotated

import typer

from robustgc.cli import shared
from robustgc.cli.messages import guarded, print_json, say, say_notes
from robustgc.cli.options import FILES_PANEL, AsJson, LabelColumns, Quiet, TextOptions, grouped


@grouped
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
    columns: LabelColumns,
    tables: TextOptions,
    log: Annotated[
        Path | None,
        typer.Option(help="Log to write; by default next to the labels, as NAME.log.csv."),
    ] = None,
    new_class: Annotated[
        bool, typer.Option("--new-class", help="Decisions may name classes that no label has yet.")
    ] = False,
    sheet: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=FILES_PANEL,
            help="Sheet of ISSUES (.xlsx); by default the first one with content.",
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Correct labels by the decisions that you wrote into an issues table.

    A cell of its column decision is keep (the label is right), change (take the suggestion), drop
    (remove the label), the name of a class (class:keep for one that is called keep), or empty. All
    else in LABELS stays as it is. A column reviewed marks what was kept or changed; the next audit
    lists these labels last.

    Give the options with which the audit has read LABELS. How ISSUES is written is detected.

    For instance:

      robustgc audit edges.csv --labels labels.csv -o issues.csv

      robustgc apply issues.csv --labels labels.csv -o cleaned.csv
    """
    log = output.with_suffix(".log.csv") if log is None else log
    shared.check_dialect(tables)
    with guarded(tables.max_size, quiet):
        from robustgc.io.corrections import corrections
        from robustgc.io.writing import check_table

        shared.check_apart([issues, labels], [output, log])
        shared.check_places(output, log)
        check_table(output)
        check_table(log)
        corrected = corrections(
            issues,
            labels,
            node=columns.node_column,
            label=columns.label_column,
            new_class=new_class,
            unlabelled=columns.unlabelled or None,
            sheet=sheet,
            label_sheet=columns.label_sheet,
            dialect=tables.dialect(),
        )
        say_notes(corrected.notes, quiet)
        corrected.write(output, log)
        counts = ", ".join(f"{count} {name}" for name, count in corrected.counts.items())
        say(f"{counts}. The labels are in {output}, the log is in {log}.", quiet)
        if as_json:
            summary = {"output": str(output), "log": str(log), "notes": list(corrected.notes)}
            print_json(corrected.counts | summary)
