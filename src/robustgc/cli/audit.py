"""`robustgc audit`: the labels that look wrong, worst first."""

from typing import Annotated, Any

import typer

from robustgc.cli import shared
from robustgc.cli.messages import guarded, many, print_json, say, say_notes
from robustgc.cli.options import AsJson, DataOptions, Excel, Output, Quiet, Report, grouped


@grouped
def audit(
    data: DataOptions,
    output: Output = None,
    report: Report = None,
    above: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Show labels with at least this suspicion.")
    ] = 0.5,
    as_json: AsJson = False,
    excel: Excel = False,
    quiet: Quiet = False,
) -> None:
    """Show the given labels that look wrong, the most suspicious first.

    One row per label: node, given, suggested, suspicion (the probability that it is wrong), margin,
    and as evidence the labelled nodes that speak most against it. --above 0 shows all labels. With
    a column decision added, robustgc apply corrects the labels. Labels with a yes in a column
    reviewed of LABELS come last.
    """
    shared.check_data(data)
    shared.check_excel(excel, output)
    with guarded(data.max_size, quiet):
        from robustgc.io.writing import print_table, write_table

        shared.check_targets(data, output, report)
        result, _ = shared.fit(data, quiet=quiet)
        say_notes(result.notes, quiet)
        issues = result.issues
        shown = issues.suspicion >= above
        columns = {name: values[shown] for name, values in issues.columns().items()}
        title, command = f"Doubtful labels of {shared.subject(data)}", shared.command_line()
        shared.write_together(
            (output, lambda path: write_table(path, columns, excel=excel)),
            (report, lambda path: result.report(path, title=title, command=command)),
        )
        if output is None and not as_json:
            print_table(columns, excel=excel)
        if as_json:
            rows = zip(*(values.tolist() for values in columns.values()), strict=True)
            listed = [dict(zip(columns, row, strict=True)) for row in rows]
            print_json({"labels": len(issues), "noise_rate": issues.noise_rate, "issues": listed})
        say(_in_a_sentence(issues, columns, above), quiet)


def _in_a_sentence(issues: Any, columns: dict[str, Any], above: float) -> str:
    """Say in words what was found."""
    shown = len(columns["node"])
    text = (
        f"{shown} of {many(len(issues), 'label')} {'has' if shown == 1 else 'have'} a suspicion of "
        f"{above:g} or more"
    )
    if reviewed := int(columns["reviewed"].sum()) if "reviewed" in columns else 0:
        last = "is reviewed and comes last" if reviewed == 1 else "are reviewed and come last"
        text += f", {reviewed} of them {last}"
    return f"{text}; about {issues.noise_rate:.0%} of all labels look wrong."
