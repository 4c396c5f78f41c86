"""Trials kept as flat records in a file: a stopped run goes on where it was.

A trial is named by its key alone, and draws its random numbers from the key, so that results do
not depend on the order of the trials or on how many run at once.
"""

import csv
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TypeAlias

import numpy as np
from joblib import Parallel, delayed, parallel_config

from robustgc.graph.atomic import new_file

Value: TypeAlias = str | int | float
Key: TypeAlias = dict[str, Value]
Record: TypeAlias = dict[str, Value]
Rows: TypeAlias = list[dict[str, str]]  # of a file, as text
REPEATS = 20  # in the paper, but for noise
Trial: TypeAlias = Callable[[Key], list[Record]]


@dataclass(frozen=True)
class Options:
    """Where the result files go, and how the experiments are run."""

    folder: Path
    datasets: tuple[str, ...]  # of Table 1
    repeats: int | None = None  # None: those of the paper
    seed: int = 7
    jobs: int = 1  # processes at a time


def generator(key: Mapping[str, Value]) -> np.random.Generator:
    """Return the random numbers of a trial: the same for the same key, wherever it runs."""
    text = ",".join(f"{name}={value}" for name, value in sorted(key.items()))
    return np.random.default_rng([zlib.crc32(text.encode()), len(text)])


class Store:
    """One CSV file of records: key columns, result columns, and how many rows the trial has."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Rows:
        """Return the records of all finished trials; rows of a torn one are left out."""
        blocks: dict[str, Rows] = {}
        for row in read_csv(self.path):
            if row.get("of"):
                blocks.setdefault(row["trial"], []).append(row)
        return [
            row for block in blocks.values() if len(block) == int(block[0]["of"]) for row in block
        ]

    def append(self, key: Key, records: list[Record]) -> None:
        """Write one finished trial, whole lines at a time."""
        new = not self.path.is_file()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        rows = [{"trial": name_of(key), **key, **r, "of": len(records)} for r in records]
        # A log that grows: what a killed run has left of a trial, `read` leaves out.
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            if new:
                writer.writeheader()
            writer.writerows(rows)

    def keep(self, records: Rows) -> None:
        """Rewrite the file with these records."""
        if records:
            write_csv(self.path, records)
        else:
            self.path.unlink(missing_ok=True)


def name_of(key: Key) -> str:
    """Return the name of a trial."""
    return ";".join(f"{name}={value}" for name, value in key.items())


def run(
    trial: Trial, keys: Iterable[Key], store: Store, *, jobs: int = 1
) -> Iterator[tuple[int, int]]:
    """Run the trials that the store does not have yet; yield (finished, all) as they finish."""
    wanted = {name_of(key): key for key in keys}
    have = store.read()
    store.keep(have)
    finished = {row["trial"] for row in have}
    todo = [key for name, key in wanted.items() if name not in finished]
    done = len(wanted) - len(todo)
    yield done, len(wanted)
    if not todo:
        return
    # One BLAS thread in each process: two processes with two threads each would only wait.
    with parallel_config("loky", inner_max_num_threads=1):
        workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=8)
        for key, records in workers(delayed(_keyed)(trial, key) for key in todo):
            store.append(key, records)
            done += 1
            yield done, len(wanted)


def _keyed(trial: Trial, key: Key) -> tuple[Key, list[Record]]:
    return key, trial(key)


def write_csv(path: Path, rows: Rows | list[Record]) -> None:
    """Write rows as CSV, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    with new_file(path) as file:
        file.write(text.getvalue().encode("utf-8"))


def read_csv(path: Path) -> Rows:
    """Read rows as text; none if there is no such file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def matching(rows: Rows, **where: object) -> Rows:
    """Return the rows with these values."""
    return [row for row in rows if all(row[name] == str(value) for name, value in where.items())]


def numbers(rows: Rows, column: str, **where: object) -> list[float]:
    """Return a column of the rows with these values."""
    return [float(row[column]) for row in matching(rows, **where)]
