"""The command line: a thin front on the public names."""

from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

app = typer.Typer(
    help="Labels for every node of a graph from a few labels, some of them wrong.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


def main() -> None:
    """Run the command line."""
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"robustgc {version('robustgc')}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options that stand before a command."""


@app.command()
def demo(
    labels: Annotated[
        int, typer.Option(min=2, max=1221, help="How many blogs carry a label.")
    ] = 12,
    wrong: Annotated[int, typer.Option(min=0, help="How many of these labels are wrong.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Which blogs, and which labels.")] = 7,
) -> None:
    """Classify 1222 political blogs from 12 labels, 3 of them wrong, by four methods."""
    from robustgc.experiments.demo import Demo, run  # noqa: PLC0415 (--help must not wait for it)

    try:
        result: Demo = run(labels, wrong, seed)
    except ValueError as error:
        typer.echo(f"robustgc: {error}", err=True)
        raise typer.Exit(1) from error
    console = Console(highlight=False)
    console = Console(highlight=False, width=max(console.width, 80))
    block = "█" if "utf" in (console.encoding or "").lower() else "#"
    n, m = result.data.weights.shape[0], result.data.weights.nnz // 2
    console.print(
        f"\npolblogs: {n} blogs, {m} links, {labels} labels of which {wrong} are wrong "
        f"(seed {seed}).\n\nAccuracy on the {n - labels} other blogs"
    )
    for name, accuracy in result.accuracy.items():
        bar = block * round(40 * accuracy)
        console.print(f"  {name:30}{100 * accuracy:5.1f} %  {bar}")
    console.print(
        f"\nlambda_1 = {result.lambda_1:.6g}, gamma = 0.9 lambda_1 = {result.gamma:.6g}, "
        f"residual {result.residual:.0e}\n"
    )
    doubted = [label for label in result.labels if label.model != label.given]
    console.print(
        f"Not having seen the label it is asked about, RobustGC disagrees with {len(doubted)} "
        f"of {labels}{':' if doubted else '.'}"
    )
    table = Table("blog", "given", "RobustGC says", "truth", box=None, padding=(0, 2, 0, 2))
    for label in doubted:
        table.add_row(label.name, label.given, label.model, label.truth)
    if doubted:
        console.print(table)
    missed = [x for x in result.labels if x.given != x.truth and x.model == x.given]
    if missed:
        console.print(f"Wrong labels it did not notice: {', '.join(x.name for x in missed)}")
    console.print()
