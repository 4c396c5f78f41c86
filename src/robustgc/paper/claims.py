"""Every sentence of sections 3 and 4 that makes a claim, checked on our own results."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from robustgc.paper.records import Record, Rows, read_csv, write_csv

Tables: TypeAlias = dict[str, Rows]
Verdict: TypeAlias = tuple[bool, str]
Check: TypeAlias = Callable[[Tables], Verdict]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and how it is checked."""

    section: str
    sentence: str
    test: str  # what our numbers must show
    needs: tuple[str, ...]  # result files
    check: Check  # returns whether it holds, and the numbers


CLAIMS: list[Claim] = []


def claim(section: str, sentence: str, test: str, *needs: str) -> Callable[[Check], Check]:
    """Enter a check into the list of claims."""

    def enter(check: Check) -> Check:
        CLAIMS.append(Claim(section, sentence, test, needs, check))
        return check

    return enter


def judge(folder: Path) -> list[Record]:
    """Check every claim whose results are there; write claims.csv."""
    rows: list[Record] = []
    for entry in CLAIMS:
        paths = {name: folder / f"{name}.csv" for name in entry.needs}
        verdict, numbers = "not run", "the results are not there"
        if all(path.is_file() for path in paths.values()):
            tables = {name: read_csv(path) for name, path in paths.items()}
            try:
                holds, numbers = entry.check(tables)
                verdict = "holds" if holds else "does not hold"
            except NotEnoughError as reason:
                numbers = str(reason)
        rows.append({"section": entry.section, "sentence": entry.sentence, "test": entry.test,
                     "verdict": verdict, "numbers": numbers})  # fmt: skip
    rows.sort(key=lambda row: str(row["section"]))
    write_csv(folder / "claims.csv", rows)
    return rows


class NotEnoughError(Exception):
    """The results hold only a part of what a claim speaks of."""


def mean(values: list[float]) -> float:
    """Return the mean, or say that there is nothing to average."""
    if not values:
        raise NotEnoughError("the results hold only a part of what it speaks of")
    return sum(values) / len(values)


def listed(means: dict[str, float]) -> str:
    """Return the mean of every model in words."""
    return ", ".join(f"{name} {value:.1f}" for name, value in means.items())
