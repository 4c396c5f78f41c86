"""The command line: a thin front on the public names."""

import gc
from typing import Annotated

import typer

from robustgc.cli.apply import apply
from robustgc.cli.audit import audit
from robustgc.cli.classify import classify
from robustgc.cli.compare import compare
from robustgc.cli.convert import convert
from robustgc.cli.demo import demo
from robustgc.cli.info import info
from robustgc.cli.predict import predict
from robustgc.cli.reproduce import reproduce

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
for command in (demo, reproduce):
    app.command()(command)


@app.callback()
def _options(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options that stand before a command."""
