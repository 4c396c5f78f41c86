"""`robustgc audit`: the labels that look wrong, worst first."""

from pathlib import Path
from typing import Annotated, Any

import typer

from robustgc.cli import options, shared
from robustgc.cli.classify import (
    Report,
    check_apart,
    check_targets,
    command_line,
    inputs,
    subject,
)
from robustgc.cli.shared import Question, asking


@asking(Question)
def audit(
    asked: Question,
    output: options.Output = None,
    report: Report = None,
    above: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Show labels with at least this suspicion.")
    ] = 0.5,
    as_json: options.AsJson = False,
    excel: options.Excel = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the given labels that look wrong, the most suspicious first.

    One row per label: node, given, suggested, suspicion (the probability that it is wrong), margin,
    and as evidence the labelled nodes that speak most against it. --above 0 shows all labels. With
    a column decision added, robustgc apply corrects the labels. Those with a yes in a column
    reviewed of LABELS come last.
    """
    shared.check_usage(asked)
    shared.check_excel(excel, output)
    with shared.guarded(asked.max_size, quiet):
        from robustgc.io.writing import print_table

        check_apart(inputs(asked), [output, report])
        check_targets(output, report)
        answer = shared.answered(asked, quiet)
        for note in answer.result.notes:
            shared.say(f"note: {note}", quiet)
        issues = answer.result.issues
        shown = issues.suspicion >= above
        columns = {name: values[shown] for name, values in issues.columns().items()}
        _write(answer.result, columns, subject(asked), output, report, excel)
        if output is None and not as_json:
            print_table(columns, excel=excel)
        if as_json:
            shared.machine(_summary(issues, columns))
        shared.say(_sentence(issues, columns, above), quiet)


def _write(
    result: Any,
    columns: dict[str, Any],
    name: str,
    output: Path | None,
    report: Path | None,
    excel: bool,
) -> None:
    """Write the table and the page, all that is asked for or nothing."""
    from robustgc.graph.atomic import together
    from robustgc.io.writing import write_table

    with together(path for path in (output, report) if path is not None):
        if output is not None:
            write_table(output, columns, excel=excel)
        if report is not None:
            title = f"Doubtful labels of {name}"
            result.report(report, title=title, command=command_line())


def _summary(issues: Any, columns: dict[str, Any]) -> dict[str, Any]:
    """Return what was found, for machines."""
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return {
        "labels": len(issues),
        "noise_rate": issues.noise_rate,
        "issues": [dict(zip(columns, row, strict=True)) for row in rows],
    }


def _sentence(issues: Any, columns: dict[str, Any], above: float) -> str:
    """Say in words what was found."""
    reviewed = int(columns["reviewed"].sum()) if "reviewed" in columns else 0
    some = f", {reviewed} of them reviewed and last" if reviewed else ""
    return (
        f"{len(columns['node'])} of {len(issues)} labels have a suspicion of {above:g} or more"
        f"{some}; about {issues.noise_rate:.0%} of all look wrong."
    )
