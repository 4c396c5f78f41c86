"""Show a progress bar on standard error: solver, steps, residual, time left."""

from contextlib import ExitStack
from typing import Any, Self

import numpy as np

from robustgc.graph.threads import announced
from robustgc.linalg.solution import Watch, ignore_progress


class Progress:
    """Context in which solvers report how far they are; silent unless asked for."""

    def __init__(self, shown: bool) -> None:
        self._bar: Any = None
        self._context = ExitStack()
        if shown:
            from rich.console import Console  # noqa: PLC0415  only who wants to see it pays
            from rich.progress import (  # noqa: PLC0415
                BarColumn,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )
            from rich.progress import Progress as Bar  # noqa: PLC0415

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:.0f} steps, residual {task.fields[residual]:.1e}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )

    def __enter__(self) -> Self:
        if self._bar:
            self._context.enter_context(self._bar)
            self._context.enter_context(announced(self._bar.console.print))
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def watch(self, name: str) -> Watch:
        """Return what a solver of that name reports to."""
        if not self._bar:
            return ignore_progress
        task = self._bar.add_task(name, total=None, residual=np.nan)

        def report(done: int, residual: float, total: float) -> None:
            known = total if np.isfinite(total) else None
            self._bar.update(task, completed=done, total=known, residual=residual)

        return report
