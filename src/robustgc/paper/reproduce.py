"""All parts of the paper, one after the other, with what each took."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

# The checks enter themselves into the list of claims.
import robustgc.paper.claims_section3
import robustgc.paper.claims_section4  # noqa: F401
from robustgc.datasets import DataNotFoundError, fetch_usps
from robustgc.paper import claims, examples, noise, outofsample, table1
from robustgc.paper.records import Options, Record, read_csv, write_csv

# Each computes the result files of its part: at once, or as an iterator of (finished, all).
PARTS: dict[str, tuple[str, Callable[[Options], Iterator[tuple[int, int]] | None]]] = {
    "losses": ("Figure: squared and concave error", examples.losses),
    "chain": ("Figure: the chain with a weak link (section 3.1)", examples.chain),
    "conditioning": ("Condition number and its bound (section 3.2)", examples.conditioning),
    "moons": ("Figure: out-of-sample extension on two moons (section 3.3)", examples.moons),
    "noise": ("Figures: block models and robustness to label noise (section 4.1)", noise.compute),
    "table1": (
        "Table 1 and figure: accuracy, dependence on the parameter (section 4.2)",
        table1.compute,
    ),
    "outofsample": ("Figure: out-of-sample evolution (section 4.3)", outofsample.compute),
}


def run(parts: list[str], options: Options) -> Iterator[tuple[str, int, int]]:
    """Run parts; yield (part, finished, all) as trials finish.

    Parts whose data is not on this machine are left out and noted in notes.csv.
    """
    digits = [d for d in options.datasets if d.startswith("digits")]
    needed = "outofsample" in parts or ("table1" in parts and digits)
    missing = _missing_data() if needed else ""
    for part in parts:
        start = time.perf_counter()
        datasets = tuple(d for d in options.datasets if not (missing and d in digits))
        gone = missing and (part == "outofsample" or (part == "table1" and digits))
        _note(options.folder, "notes", part, {"note": f"data not on this machine: {missing}"}
              if gone else None)  # fmt: skip
        if gone and (part == "outofsample" or not datasets):
            continue
        yield part, 0, 1
        for done, whole in PARTS[part][1](replace(options, datasets=datasets)) or [(1, 1)]:
            yield part, done, whole
        spent = time.perf_counter() - start
        earlier = [
            float(r["seconds"]) for r in read_csv(options.folder / "runs.csv") if r["part"] == part
        ]
        _note(options.folder, "runs", part, {
            "seconds": round(max([spent, *earlier]), 1),  # a rerun finds the trials done
            "seed": options.seed,
            "repeats": options.repeats or "as in the paper",
        })  # fmt: skip
    if cells := read_csv(options.folder / "table1.csv"):
        write_csv(options.folder / "table1-compare.csv", table1.compare(cells))
    claims.judge(options.folder)


def _missing_data() -> str:
    """Return why the digits are not there, or nothing."""
    try:
        fetch_usps()
    except DataNotFoundError as reason:
        return str(reason)
    return ""


def _note(folder: Path, name: str, part: str, entry: Record | None) -> None:
    """Replace what a file says of one part."""
    path = folder / f"{name}.csv"
    rows = {r["part"]: r for r in read_csv(path)}
    rows.pop(part, None)
    if entry:
        rows[part] = {"part": part, **{key: str(value) for key, value in entry.items()}}
    if rows:
        write_csv(path, [rows[known] for known in PARTS if known in rows])
    else:
        path.unlink(missing_ok=True)


def notes(folder: Path) -> list[str]:
    """Return what was left out of the last run, and why."""
    return [f"{r['part']}: {r['note']}" for r in read_csv(folder / "notes.csv")]


def paper_table(folder: Path, datasets: tuple[str, ...]) -> list[Record]:
    """Return our Table 1, or the part of it that was asked for, in the columns of the paper's."""
    names = ("dataset", "percent_labelled", "n_labelled", "model", "accuracy_mean",
             "accuracy_std", "rank")  # fmt: skip
    rows = [
        r for r in read_csv(folder / "table1.csv") if r["draw"] == "1" and r["dataset"] in datasets
    ]
    for row in rows:
        row["accuracy_mean"] = f"{float(row['accuracy_mean']):.1f}"
        row["accuracy_std"] = f"{float(row['accuracy_std']):.1f}"
    return [{name: row[name] for name in names} for row in rows]
