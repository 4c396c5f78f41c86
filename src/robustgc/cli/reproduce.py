"""`robustgc reproduce`: the paper's experiments, and a page of them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from robustgc.cli.messages import STOPPED, of_system, progress_bar, refuse, stop


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
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws of labels.")] = 7,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    csv: Annotated[
        Path | None, typer.Option(help="Also write Table 1 to this file, in the paper's columns.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, figures and data.")] = Path(
        "reproduction"
    ),
) -> None:
    """Run the paper's experiments and write one page with our numbers next to the paper's.

    A run that was stopped continues when it is started again.
    """
    from robustgc.paper import figures, page
    from robustgc.paper import reproduce as paper
    from robustgc.paper.problems import DATASETS
    from robustgc.paper.records import Options, write_csv

    if show_list:
        for name, (title, _) in paper.PARTS.items():
            typer.echo(f"{name:14}{title}")
        return
    chosen = _known("part", list(dict.fromkeys(parts or paper.PARTS)), list(paper.PARTS))
    wanted = _known("data set", [d for d in datasets.split(",") if d] or [*DATASETS], [*DATASETS])
    if csv is not None and csv.is_dir():
        stop(f"{csv} is a folder. Name a file for --csv.")
    if csv is not None and not csv.parent.is_dir():
        stop(f"{csv.parent} is not a folder, so {csv} cannot be written. Make it first.")
    options = Options(out / "data", tuple(wanted), repeats, seed, jobs)
    try:
        figures.pyplot()
        _run(chosen, options)
        where = page.write(out)
    except figures.MissingPlotError as error:
        stop(str(error))
    except OSError as error:
        stop(f"{of_system(error)} Name another folder with --out.")
    except KeyboardInterrupt:
        typer.echo(f"\nStopped. What is finished is kept in {out}; run again to go on.", err=True)
        raise typer.Exit(STOPPED) from None
    if csv is not None:
        table = paper.paper_table(options.folder, options.datasets)
        if not table:
            stop(
                f"{csv} was not written: {out} has no rows of Table 1 for {', '.join(wanted)}. "
                "Run the part table1."
            )
        try:
            write_csv(csv, table)
        except OSError as error:
            stop(f"{of_system(error)} Name another file with --csv.")
    typer.echo(f"Open {where}")


def _run(parts: list[str], options: Any) -> None:
    """Run parts under a progress bar on the error stream."""
    from robustgc.paper import reproduce as paper

    with progress_bar("{task.description:12}") as progress:
        tasks = {part: progress.add_task(part, total=None, start=False) for part in parts}
        for part, done, whole in paper.run(parts, options):
            if not progress.tasks[tasks[part]].started:
                progress.start_task(tasks[part])
            progress.update(tasks[part], completed=done, total=whole)
    for note in paper.notes(options.folder):
        typer.echo(note, err=True)


def _known(what: str, names: list[str], allowed: list[str]) -> list[str]:
    for name in names:
        if name not in allowed:
            refuse(f"{what} {name!r} is unknown; choose from {', '.join(allowed)}.")
    return names
