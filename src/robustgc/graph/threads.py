"""Run compiled loops over ranges of rows on all cores, and say when they are compiled.

Plain threads: the loops release the interpreter lock. Unlike the threading layers of numba this
may be called from several threads at once and after a fork.
"""

import os
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ContextDecorator, ExitStack, contextmanager
from functools import cache
from importlib import import_module
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALONE = 2**15  # rows and entries below which starting threads costs more than it saves
_COMPILING = 15  # seconds that all loops of a large first fit take; those of a smaller one less
_listeners: list[Callable[[str], None]] = []  # who is told that loops are compiled


def n_threads() -> int:
    """Return how many threads to use: ``ROBUSTGC_NUM_THREADS``, else the cores of this process."""
    setting = os.environ.get("ROBUSTGC_NUM_THREADS", "")
    if setting:
        if not setting.isdigit() or int(setting) < 1:
            raise ValueError(f"ROBUSTGC_NUM_THREADS={setting!r} is not a whole number >= 1.")
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def even_rows(n: int, parts: int) -> NDArray[np.int64]:
    """Cut n rows into equal ranges."""
    return np.linspace(0, n, parts + 1).astype(np.int64)


def shares(n: int) -> NDArray[np.int64]:
    """Cut n rows into one range per thread; few rows stay together."""
    return even_rows(n, 1 if n < ALONE else n_threads())


def even_entries(indptr: NDArray[Any], parts: int) -> NDArray[np.int64]:
    """Cut rows into ranges with about equal numbers of entries and rows together."""
    n = len(indptr) - 1
    total = int(indptr[-1]) + n
    # A row costs about as much as an entry; entries + rows before row i is indptr[i] + i. Bisected
    # one by one: no second array as long as indptr, and small graphs feel every array operation.
    inside = [
        bisect_left(range(n), total * part / parts, key=lambda i: int(indptr[i]) + i)
        for part in range(1, parts)
    ]
    return np.array([0, *inside, n], dtype=np.int64)


@cache
def loops(module: str = "graph.loops") -> Any:
    """Return a module of loops, imported on first use: numba takes half a second to load."""
    imported = import_module(f"robustgc.{module}")
    if module != "graph.plain_loops":
        _watch_compilation()
    return imported


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
def _watch_compilation() -> None:
    """Have numba report what it compiles; what it reads from its cache it does not report."""
    event = import_module("numba.core.event")

    class Compilation(event.Listener):  # type: ignore[name-defined, misc]
        said = False

        def on_start(self, event: Any) -> None:
            loop = event.data["dispatcher"]
            ours = loop.py_func.__module__.startswith("robustgc.")
            if ours and _listeners and not self.said:
                self.said = True
                _listeners[-1](_message(cached=loop.stats.cache_path is not None))

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Compilation())


def _message(*, cached: bool) -> str:
    """Say what takes so long, and whether it will again."""
    if cached:
        return f"compiling loops for this machine, once; up to {_COMPILING} s"
    return (
        f"compiling loops for this machine, up to {_COMPILING} s in every run: no folder is there "
        "to keep them. Name one that can be written with NUMBA_CACHE_DIR."
    )


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Keep the threads between calls; a forked child makes its own."""
    return ThreadPoolExecutor(threads, thread_name_prefix="robustgc")


def run(loop: Callable[..., None], cuts: NDArray[np.int64], *args: Any) -> None:
    """Call ``loop(*args, a, b)`` for every range of rows, side by side."""
    ranges = [(int(a), int(b)) for a, b in pairwise(cuts) if a < b]
    if len(ranges) <= 1:
        for a, b in ranges:
            loop(*args, a, b)
        return
    pool = _pool(os.getpid(), n_threads())
    waiting = [pool.submit(loop, *args, a, b) for a, b in ranges]
    for done in waiting:
        done.result()


def collect(
    loop: Callable[..., None], cuts: NDArray[np.int64], *args: Any, found: NDArray[Any]
) -> NDArray[Any]:
    """Like `run`, with a row of results for every range, which the loop fills.

    The ranges, and so the order of sums over them, do not depend on the number of threads.
    """
    parts = np.repeat(found[None], len(cuts) - 1, axis=0)

    def work(first: int, last: int) -> None:
        for part in range(first, last):
            loop(*args, parts[part], int(cuts[part]), int(cuts[part + 1]))

    run(work, even_rows(len(parts), min(n_threads(), len(parts))))
    return parts


class _SingleBlas(ContextDecorator):
    """One thread for matrix products of numpy and scipy, while anybody asks for it.

    Products of tall blocks with a few columns gain nothing from more, and where another program is
    busy, threads that wait for each other take ten times as long. What is set holds for the whole
    process, so that it is counted who is inside: the last one to leave restores what was.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._limit = Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limit.enter_context(_blas().limit(limits=1, user_api="blas"))

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.close()


single_blas = _SingleBlas()


@cache
def _blas() -> Any:
    """Return what sets the threads of the loaded libraries; to look for them takes time."""
    return import_module("threadpoolctl").ThreadpoolController()


def in_order(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Yield ``work(item)`` in the order of the items, a few items ahead on all cores."""
    pool, threads = _pool(os.getpid(), n_threads()), n_threads()
    waiting: deque[Future[Any]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for late in waiting:
            late.cancel()
        wait(waiting)
