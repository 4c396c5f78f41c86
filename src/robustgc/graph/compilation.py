"""Who is told that loops are compiled: the first use on a machine takes seconds of silence."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

_SECONDS = 15  # that all loops of a large first fit take; those of a smaller one less
_listeners: list[Callable[[str], None]] = []


@contextmanager
def announced(say: Callable[[str], None]) -> Iterator[None]:
    """Within this context, say it when compilation begins, once per process.

    Of contexts within each other, the innermost says it.
    """
    _listeners.append(say)
    try:
        yield
    finally:
        _listeners.remove(say)


@cache
def watch() -> None:
    """Have numba report what it compiles; what it reads from its cache it does not report."""
    event = import_module("numba.core.event")

    class Compilation(event.Listener):  # type: ignore[name-defined, misc]
        said = False

        def on_start(self, event: Any) -> None:
            loop = event.data["dispatcher"]
            ours = loop.py_func.__module__.startswith("robustgc.")
            if ours and _listeners and not self.said:
                self.said = True
                _listeners[-1](_message(kept=loop.stats.cache_path is not None))

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Compilation())


def _message(*, kept: bool) -> str:
    """Say what takes so long, and whether it will again."""
    if kept:
        return f"compiling loops for this machine, once; up to {_SECONDS} s"
    return (
        f"compiling loops for this machine, up to {_SECONDS} s in every run: no folder is there "
        "to keep them. Name one that can be written with NUMBA_CACHE_DIR."
    )
