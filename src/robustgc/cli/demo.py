"""`robustgc demo`: a real graph with a dozen labels, some of them wrong."""

from typing import Annotated

import typer
from rich.console import Console

from robustgc.cli.messages import stop


def demo(
    labels: Annotated[
        int, typer.Option(min=2, max=1221, help="How many blogs carry a label.")
    ] = 12,
    wrong: Annotated[int, typer.Option(min=0, help="How many of these labels are wrong.")] = 3,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Seed: which blogs carry a label, and which labels are wrong."),
    ] = 7,
) -> None:
    """Classify 1222 political blogs from 12 labels, 3 of them wrong, by four methods."""
    from rich.table import Table

    from robustgc.paper.demo import run

    try:
        result = run(labels, wrong, seed)
    except ValueError as error:
        stop(str(error))
    console = Console(highlight=False)
    console = Console(highlight=False, width=max(console.width, 96))
    block = "█" if "utf" in (console.encoding or "").lower() else "#"
    data, robust, issues = result.data, result.robust, result.issues
    n, m = data.weights.shape[0], data.weights.nnz // 2
    console.print(
        f"\npolblogs: {n} blogs, {m} links, {labels} labels of which {wrong} are wrong "
        f"(seed {seed}).\n\nAccuracy on the {n - labels} other blogs"
    )
    for name, accuracy in result.accuracy.items():
        bar = block * round(40 * accuracy)
        console.print(f"  {name:30}{100 * accuracy:5.1f} %  {bar}")
    console.print(
        f"\nlambda_1 = {robust.lambda_1_:.6g}, residual {robust.residual_:.0e}; "
        f"about {issues.noise_rate:.0%} of the labels look wrong\n"
    )
    doubted = [row for row in issues if row.suggested != row.given]
    console.print(
        f"Without having seen the label in question, RobustGC disagrees with {len(doubted)} of "
        f"{labels} labels{':' if doubted else '.'}"
    )
    names = ("blog", "given", "RobustGC says", "suspicion", "truth")
    table = Table(*names, box=None, padding=(0, 2, 0, 2))
    for row in doubted:
        cells = (data.names[row.node], row.given, row.suggested, f"{row.suspicion:.2f}")
        table.add_row(*map(str, cells), str(data.labels[row.node]))
    if doubted:
        console.print(table)
    missed = [
        str(data.names[row.node]) for row in issues
        if row.given == row.suggested != data.labels[row.node]
    ]  # fmt: skip
    if missed:
        console.print(f"Wrong labels that it did not notice: {', '.join(missed)}")
    console.print()
