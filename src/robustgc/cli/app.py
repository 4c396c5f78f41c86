"""The command line: a thin front on the public names."""

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from robustgc.cli.apply import apply
from robustgc.cli.audit import audit
from robustgc.cli.classify import classify
from robustgc.cli.compare import compare
from robustgc.cli.convert import convert
from robustgc.cli.errors import of_system
from robustgc.cli.errors import stop as _stop
from robustgc.cli.info import info
from robustgc.cli.predict import predict

if TYPE_CHECKING:
    from robustgc.paper.reproduce import Options

app = typer.Typer(
    help="Labels for every node of a graph from a few labels, some of them wrong.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


def main() -> None:
    """Run the command line."""
    try:
        app()
    finally:
        gc.freeze()  # else the interpreter, as it ends, looks for cycles in all that was imported


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"robustgc {version('robustgc')}")
        raise typer.Exit


for command in (classify, audit, apply, compare, predict, info, convert):
    app.command(rich_help_panel="Your own graph")(command)


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
    from rich.table import Table

    from robustgc.paper.demo import Demo, run

    try:
        result: Demo = run(labels, wrong, seed)
    except ValueError as error:
        _stop(str(error))
    console = Console(highlight=False)
    console = Console(highlight=False, width=max(console.width, 96))
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
        f"\nlambda_1 = {result.lambda_1:.6g}, residual {result.residual:.0e}; "
        f"about {result.noise_rate:.0%} of the labels look wrong\n"
    )
    doubted = [label for label in result.labels if label.model != label.given]
    console.print(
        f"Not having seen the label it is asked about, RobustGC disagrees with {len(doubted)} "
        f"of {labels}{':' if doubted else '.'}"
    )
    names = ("blog", "given", "RobustGC says", "suspicion", "truth")
    table = Table(*names, box=None, padding=(0, 2, 0, 2))
    for label in doubted:
        suspicion = f"{label.suspicion:.2f}"
        table.add_row(label.name, label.given, label.model, suspicion, label.truth)
    if doubted:
        console.print(table)
    missed = [x for x in result.labels if x.given != x.truth and x.model == x.given]
    if missed:
        console.print(f"Wrong labels it did not notice: {', '.join(x.name for x in missed)}")
    console.print()


@app.command()
def reproduce(
    parts: Annotated[
        list[str] | None, typer.Argument(help="Parts to run; all by default. See --list.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the parts and stop.")] = False,
    datasets: Annotated[
        str, typer.Option(help="Data sets of Table 1, separated by commas; all by default.")
    ] = "",
    repeats: Annotated[
        int | None,
        typer.Option(min=2, help="Repeats; by default the paper's: 20, and 50 for noise."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which labels are drawn.")] = 7,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    csv: Annotated[
        Path | None, typer.Option(help="Also write Table 1 to this file, in the paper's columns.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, figures and data.")] = Path(
        "reproduction"
    ),
) -> None:
    """Run the paper's experiments and write one page with our numbers beside the paper's.

    A stopped run goes on where it was when it is started again.
    """
    from robustgc.paper import page, style
    from robustgc.paper import reproduce as paper
    from robustgc.paper.problems import DATASETS
    from robustgc.paper.records import write_csv

    if show_list:
        for name, title in paper.PARTS.items():
            typer.echo(f"{name:14}{title}")
        return
    chosen = _known("part", list(dict.fromkeys(parts or paper.PARTS)), list(paper.PARTS))
    wanted = _known("data set", [d for d in datasets.split(",") if d] or [*DATASETS], [*DATASETS])
    if csv is not None and csv.is_dir():
        _stop(f"{csv} is a folder. Name a file for --csv.")
    if csv is not None and not csv.parent.is_dir():
        _stop(f"{csv.parent} is not a folder, so {csv} cannot be written. Make it first.")
    options = paper.Options(out / "data", tuple(wanted), repeats, seed, jobs)
    try:
        style.pyplot()
        _run(chosen, options)
        where = page.write(out)
    except style.MissingPlotError as error:
        _stop(str(error))
    except OSError as error:
        _stop(f"{of_system(error)} Another folder: --out.")
    except KeyboardInterrupt:
        typer.echo(f"\nStopped. What is finished is kept in {out}; run again to go on.", err=True)
        raise typer.Exit(130) from None
    if csv is not None:
        table = paper.paper_table(options.folder, options.datasets)
        if not table:
            _stop(f"{csv} was not written: {out} has no rows of Table 1 for {', '.join(wanted)}.")
        try:
            write_csv(csv, table)
        except OSError as error:
            _stop(f"{of_system(error)} Another file: --csv.")
    typer.echo(f"Open {where}")


def _run(parts: list[str], options: "Options") -> None:
    """Run parts under a progress bar on the error stream."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from robustgc.paper import reproduce as paper

    columns = (TextColumn("{task.description:12}"), BarColumn(), MofNCompleteColumn(),
               TimeRemainingColumn(elapsed_when_finished=True))  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as progress:
        tasks = {part: progress.add_task(part, total=None, start=False) for part in parts}
        for part, done, whole in paper.run(parts, options):
            if not progress.tasks[tasks[part]].started:
                progress.start_task(tasks[part])
            progress.update(tasks[part], completed=done, total=whole)
    for note in paper.notes(options.folder):
        typer.echo(note, err=True)


def _known(what: str, names: list[str], allowed: list[str]) -> list[str]:
    unknown = [name for name in names if name not in allowed]
    if unknown:
        _stop(f"{what} {unknown[0]!r} is unknown; choose from {', '.join(allowed)}.", code=2)
    return names
