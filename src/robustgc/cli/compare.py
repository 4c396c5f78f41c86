"""`robustgc compare`: which model copes best with your own graph."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from robustgc.cli import options, point_options, shared
from robustgc.cli.classify import command_line, subject
from robustgc.cli.errors import WRONG_USAGE, stop
from robustgc.cli.shared import Question, asking


@asking(Question)
def compare(
    asked: Question,
    out: Annotated[
        Path, typer.Option(help="Folder for trials.csv, summary.csv and index.html.")
    ] = Path("comparison"),
    models: Annotated[
        str | None,
        typer.Option(
            help="Of RobustGC, PF-RobustGC (the paper's), ZhouGC, BelkinGC, HarmonicGC, PoissonGC, "
            "LabelSpreading (for points), separated by commas; all by default."
        ),
    ] = None,
    sizes: Annotated[
        str, typer.Option(help="How many nodes have a label, in percent; at least 2 a class.")
    ] = "1,2,5,10,20",
    noise: Annotated[
        str, typer.Option(help="How many of the labels are made wrong, in percent.")
    ] = "0,20,40",
    repeats: Annotated[int, typer.Option(min=1, help="Draws of labels for every setting.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Which labels are drawn.")] = 7,
    excel: options.Excel = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare models on your own graph, or points, whose labels are known and right.

    Most labels are hidden, some of the rest made wrong, and every model is asked for the hidden
    ones. A page shows who is best where, and whether that is more than chance.

    For instance:

      robustgc compare edges.csv --labels truth.csv --out comparison

      robustgc compare --points iris.csv --labels truth.csv --sizes 5,10 --models RobustGC,ZhouGC
    """
    shared.check_usage(asked)
    options = _options(asked, models, sizes, noise, repeats, seed)
    with shared.guarded(asked.max_size, quiet):
        _check_folder(out)
        found = _compared(asked, options, quiet)
        for note in found.notes:
            shared.say(f"note: {note}", quiet)
        title = f"Models compared on {subject(asked)}"
        found.write(out, title=title, command=command_line(), excel=excel)
        for model, reason, many in found.failures:
            shared.say(f"{model} failed in {many} trials: {reason}", quiet)
        if all(trial.reason for trial in found.trials):
            stop(found.sentence())
        shared.say(f"{found.sentence()} Open {out / 'index.html'}", quiet)
        if as_json:
            shared.machine(found.summary())


def _options(
    asked: Question, models: str | None, sizes: str, noise: str, repeats: int, seed: int
) -> dict[str, Any]:
    """Return the options of the comparison, or stop: the user has asked for what cannot be."""
    from robustgc.compare.comparing import check_options

    found: dict[str, Any] = {
        "models": None if models is None else [m.strip() for m in models.split(",") if m.strip()],
        "sizes": _numbers("--sizes", sizes),
        "noise": _numbers("--noise", noise),
        "repeats": repeats,
        "seed": seed,
    }
    try:
        check_options(**found, with_points=asked.points is not None)
    except ValueError as error:
        stop(str(error), WRONG_USAGE)
    return found


def _numbers(option: str, text: str) -> list[float]:
    try:
        return sorted({float(part) for part in text.split(",") if part.strip()})
    except ValueError:
        stop(
            f"{option} {text} is not a list of numbers; give percents such as 1,5,10.",
            WRONG_USAGE,
        )


def _check_folder(out: Path) -> None:
    """Refuse, before the work, a folder that could not be written after it."""
    from robustgc.compare.page import FILES
    from robustgc.io.opening import InputError, check_target

    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder with --out.")
    for name in FILES if out.is_dir() else ():
        check_target(out / name)
    if not out.is_dir():
        check_target(out)


def _compared(asked: Question, options: dict[str, Any], quiet: bool) -> Any:
    """Run the trials, under a progress bar where somebody is looking."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from robustgc.compare.comparing import compare as run

    inputs, truth = shared.read(asked)
    if asked.points is not None:
        inputs |= point_options.model_options(asked)
    bars = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TimeRemainingColumn())  # fmt: skip
    hidden = quiet or not sys.stderr.isatty()
    with Progress(*bars, console=Console(stderr=True), disable=hidden) as progress:
        task = progress.add_task("draws of labels", total=None)
        return run(
            **inputs,
            truth=truth,
            ignore_unknown=asked.ignore_unknown,
            unlabelled=asked.unlabelled or None,
            **options,
            watch=lambda done, whole: progress.update(task, completed=done, total=whole),
        )
