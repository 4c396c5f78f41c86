"""`robustgc audit`: the labels that look wrong, worst first."""

from typing import Annotated

import typer

from robustgc.commands import shared
from robustgc.commands.shared import Question, asking


@asking(Question)
def audit(
    asked: Question,
    output: shared.Output = None,
    above: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Show labels with at least this suspicion.")
    ] = 0.5,
    as_json: shared.AsJson = False,
    excel: shared.Excel = False,
    quiet: shared.Quiet = False,
) -> None:
    """Show the given labels that look wrong, the most suspicious first.

    One row per label: node, given, suggested, suspicion (the probability that it is wrong), margin,
    and as evidence the labelled nodes that speak most against it. --above 0 shows all labels.
    """
    shared.check_usage(asked)
    shared.check_excel(excel, output)
    with shared.guarded(asked.max_size, quiet):
        from robustgc.io.writing import check_table, print_table, write_table

        if output is not None:
            check_table(output)
        answer = shared.answered(asked, quiet)
        for note in answer.result.notes:
            shared.say(f"note: {note}", quiet)
        issues = answer.result.issues
        shown = issues.suspicion >= above
        found = {name: values[shown] for name, values in issues.columns().items()}
        if output is not None:
            write_table(output, found, excel=excel)
        elif not as_json:
            print_table(found, excel=excel)
        if as_json:
            shared.machine(
                {
                    "labels": len(issues),
                    "noise_rate": issues.noise_rate,
                    "issues": [
                        dict(zip(found, row, strict=True))
                        for row in zip(*(values.tolist() for values in found.values()), strict=True)
                    ],
                }
            )
        shared.say(
            f"{int(shown.sum())} of {len(issues)} labels have a suspicion of {above:g} or more; "
            f"about {issues.noise_rate:.0%} of all look wrong.",
            quiet,
        )
