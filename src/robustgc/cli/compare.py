"""`robustgc compare`: which model copes best with your own graph."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from robustgc.cli import shared
from robustgc.cli.messages import (
    guarded,
    many,
    print_json,
    progress_bar,
    refuse,
    say,
    say_notes,
    stop,
)
from robustgc.cli.options import AsJson, DataOptions, Excel, Quiet, grouped


@grouped
def compare(
    data: DataOptions,
    out: Annotated[
        Path, typer.Option(help="Folder for trials.csv, summary.csv and index.html.")
    ] = Path("comparison"),
    models: Annotated[
        str | None,
        typer.Option(
            help="Models to compare, separated by commas, of RobustGC, PF-RobustGC (the paper's), "
            "ZhouGC, BelkinGC, HarmonicGC, PoissonGC and, for points, LabelSpreading; by default "
            "all."
        ),
    ] = None,
    sizes: Annotated[
        str,
        typer.Option(
            help="How many of the nodes have a label, in percent; at least 2 in every class."
        ),
    ] = "1,2,5,10,20",
    noise: Annotated[
        str, typer.Option(help="How many of the labels are made wrong, in percent.")
    ] = "0,20,40",
    repeats: Annotated[
        int, typer.Option(min=1, help="Draws of labels for every size and noise.")
    ] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws of labels.")] = 7,
    excel: Excel = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare models on your own graph, or points, whose labels are known and right.

    Most labels are hidden, some of the others are made wrong, and every model predicts the hidden
    ones. A page shows which model is best where, and whether that is more than chance.

    For instance:

      robustgc compare edges.csv --labels truth.csv --out comparison

      robustgc compare --points iris.csv --labels truth.csv --sizes 5,10 --models RobustGC,ZhouGC
    """
    shared.check_data(data)
    settings = _settings(data, models, sizes, noise, repeats, seed)
    with guarded(data.max_size, quiet):
        _check_folder(out)
        comparison = _compared(data, settings, quiet)
        say_notes(comparison.notes, quiet)
        title = f"Models compared on {shared.subject(data)}"
        comparison.write(out, title=title, command=shared.command_line(), excel=excel)
        for model, reason, count in comparison.failures:
            say(f"{model} failed in {many(count, 'trial')}: {reason}", quiet)
        if all(trial.reason for trial in comparison.trials):
            stop(comparison.sentence())
        say(f"{comparison.sentence()} Open {out / 'index.html'}", quiet)
        if as_json:
            print_json(comparison.summary())


def _settings(
    data: DataOptions, models: str | None, sizes: str, noise: str, repeats: int, seed: int
) -> dict[str, Any]:
    """Return the settings of the comparison, or refuse those that cannot be."""
    from robustgc.compare.comparing import check_options

    settings: dict[str, Any] = {
        "models": None if models is None else [m.strip() for m in models.split(",") if m.strip()],
        "sizes": _numbers("--sizes", sizes),
        "noise": _numbers("--noise", noise),
        "repeats": repeats,
        "seed": seed,
    }
    try:
        check_options(**settings, with_points=data.points is not None)
    except ValueError as error:
        refuse(str(error))
    return settings


def _numbers(option: str, text: str) -> list[float]:
    try:
        return sorted({float(part) for part in text.split(",") if part.strip()})
    except ValueError:
        refuse(f"{option} {text} is not a list of numbers; give percents such as 1,5,10.")


def _check_folder(out: Path) -> None:
    """Refuse, before the work, a folder that could not be written after it."""
    from robustgc.compare.page import FILES
    from robustgc.io.opening import InputError, check_target

    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder with --out.")
    for path in [out / name for name in FILES] if out.is_dir() else [out]:
        check_target(path)


def _compared(data: DataOptions, settings: dict[str, Any], quiet: bool) -> Any:
    """Run the trials, under a progress bar where somebody is looking."""
    from robustgc.compare.comparing import compare as run

    inputs, truth = shared.read(data)
    with progress_bar("{task.description}", quiet or not sys.stderr.isatty()) as progress:
        task = progress.add_task("draws of labels", total=None)
        return run(
            **inputs,
            truth=truth,
            ignore_unknown=data.ignore_unknown,
            unlabelled=data.unlabelled or None,
            **settings,
            watch=lambda done, whole: progress.update(task, completed=done, total=whole),
        )
