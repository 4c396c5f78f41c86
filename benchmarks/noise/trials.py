"""What is run: trials that the records lack, in processes of one thread each."""

import multiprocessing
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.noise import detection, records
from benchmarks.noise.columns import COLUMNS, accuracy, answer
from benchmarks.noise.data import Problem, load
from benchmarks.noise.draws import NOISES, Trial, draw

RATES = (20, 40)
LABELS = (5, 20)
WITH_FEATURES = ("digits", "wine", "iris", "breast_cancer", "cora")
EVERY = 60.0  # seconds between two writings of the records
ALL = [*COLUMNS, *detection.CLEANLAB]


class Task(NamedTuple):
    """A draw of labels, and the columns that are to answer from it."""

    trial: Trial
    columns: list[str]


class Found(NamedTuple):
    """Rows for the two tables of the records."""

    rows: list[dict[str, object]]
    labels: list[dict[str, object]]


def plan(data: list[str], repeats: int) -> Iterator[Trial]:
    """List the trials, one data set after the other: a process keeps the last graph."""
    noises = [("none", 0), *((noise, rate) for noise in NOISES for rate in RATES)]
    for name in data:
        for repeat in range(repeats):
            for noise, rate in noises:
                for labels in LABELS:
                    yield Trial(name, noise, rate, labels, repeat)


def missing(trials: Iterator[Trial], columns: list[str], table: pd.DataFrame) -> list[Task]:
    done = set(table[records.ROW_KEY].itertuples(index=False, name=None))
    tasks = []
    for trial in trials:
        key = tuple(vars(trial).values())
        wanted = [c for c in columns if (*key, c) not in done and _applies(c, trial)]
        if wanted:
            tasks.append(Task(trial, wanted))
    return tasks


def _applies(column: str, trial: Trial) -> bool:
    return column in COLUMNS or (trial.data in WITH_FEATURES and trial.rate > 0)


def ready(columns: list[str]) -> list[str]:
    """Run each column once, so that compilation is not measured; leave out what is not there."""
    problem = load("wine")
    given = draw(problem, Trial("wine", "uniform", 20, 5, 2357))
    fine = []
    for column in columns:
        try:
            if column in COLUMNS:
                answer(column, problem, given)
            else:
                detection.cleanlab(column, problem, given)
            fine.append(column)
        except (Exception, SystemExit) as error:
            print(f"left out: {column}: {_text(error)}", file=sys.stderr)
    return fine


def attempt(task: Task) -> Found:
    """Run some columns on one draw of labels; a column that fails leaves its reason."""
    trial = task.trial
    problem = load(trial.data)
    given = draw(problem, trial)
    found = Found([], [])
    for column in task.columns:
        measured: dict[str, object] = {}
        try:
            measured = _measured(column, problem, given, trial, found)
        except (Exception, SystemExit) as error:  # a peer ends the process where it is at a loss
            measured = {"note": _text(error)}
        found.rows.append({**vars(trial), "column": column, **measured})
    return found


def _measured(
    column: str, problem: Problem, given: Any, trial: Trial, found: Found
) -> dict[str, object]:
    start = time.perf_counter()
    if column not in COLUMNS:
        suspicions = detection.cleanlab(column, problem, given)
        seconds = round(time.perf_counter() - start, 4)
        return {"auc": detection.auc(problem, given, suspicions), "seconds": seconds}
    classes, fitted = answer(column, problem, given)
    seconds = round(time.perf_counter() - start, 4)
    measured: dict[str, object] = {
        "accuracy": accuracy(problem, given, classes),
        "seconds": seconds,
    }
    suspicions = detection.suspicion(fitted, given) if column == "auto" else None
    if suspicions is not None:
        measured["auc"] = detection.auc(problem, given, suspicions)
        found.labels.append({**vars(trial), **_split(problem, given, suspicions)})
    return measured


def _split(problem: Problem, given: Any, suspicions: Any) -> dict[str, str]:
    wrong = (given != problem.y)[given >= 0]
    thousandths = np.rint(1000 * suspicions).astype(int)
    return {
        name: " ".join(map(str, np.sort(thousandths[which])))
        for name, which in (("right", ~wrong), ("wrong", wrong))
    }


def _text(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def run(tasks: list[Task], jobs: int) -> None:
    """Run tasks and keep what they leave, every minute and when stopped."""
    new, start = Found([], []), time.monotonic()
    written = start
    columns = sorted({column for task in tasks for column in task.columns})
    # Spawned, since threads of compiled code do not survive a fork; and by an executor, since the
    # processes of a Pool may have no children, which PageRankClassifier makes in every fit.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, initializer=ready, initargs=(columns,)) as pool:
        futures = [pool.submit(attempt, task) for task in tasks]
        try:
            for count, future in enumerate(as_completed(futures), 1):
                found = future.result()
                new.rows.extend(found.rows)
                new.labels.extend(found.labels)
                if time.monotonic() - written > EVERY:
                    _keep(new)
                    new, written = Found([], []), time.monotonic()
                _say(count, len(tasks), found, time.monotonic() - start)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            _keep(new)


def _say(count: int, total: int, found: Found, seconds: float) -> None:
    """Show progress: on a terminal in place, else one line in a hundred."""
    terminal = sys.stderr.isatty()
    if terminal or count % 100 == 0 or count == total:
        left = seconds * (total - count) / count
        name = found.rows[-1]["data"]
        print(f"{count}/{total} trials, {name}, {seconds:.0f} s, {left:.0f} s to go",
              end="\r" if terminal else "\n", file=sys.stderr, flush=True)  # fmt: skip


def _keep(new: Found) -> None:
    for name, rows in ((records.ROWS, new.rows), (records.LABELS, new.labels)):
        if rows:
            records.write(name, records.merged(name, records.read(name), rows))
