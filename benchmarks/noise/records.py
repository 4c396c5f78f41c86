"""What trials leave: one row per trial and column, and the suspicion of every given label."""

import os
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parents[1] / "records"
KEY = ["data", "noise", "rate", "labels", "repeat"]
ROWS, ROW_KEY = "noise.csv.gz", [*KEY, "column"]
# Suspicions in thousandths, sorted, of the labels that are right and of those that are wrong.
LABELS, LABELS_KEY = "noise_suspicion.csv.gz", KEY
EMPTY = {
    ROWS: [*ROW_KEY, "accuracy", "auc", "seconds", "note"],
    LABELS: [*LABELS_KEY, "right", "wrong"],
}
TEXT = ("data", "noise", "column", "note", "right", "wrong")


def read(name: str, folder: Path = FOLDER) -> pd.DataFrame:
    path = folder / name
    if not path.exists():
        return pd.DataFrame(columns=EMPTY[name])
    table = pd.read_csv(path)
    text = [column for column in TEXT if column in table]
    return table.astype(dict.fromkeys(text, object)).fillna(dict.fromkeys(text, ""))


def write(name: str, table: pd.DataFrame, folder: Path = FOLDER) -> None:
    """Replace the file at once, sorted and without a time stamp: the same rows, the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{name}.part"
    table.sort_values(ROW_KEY if name == ROWS else LABELS_KEY).to_csv(
        partial,
        index=False,
        float_format="%.5g",
        compression={"method": "gzip", "mtime": 1, "compresslevel": 9},
    )
    os.replace(partial, folder / name)


def merged(name: str, table: pd.DataFrame, new: list[dict[str, object]]) -> pd.DataFrame:
    """Add rows; where a key is there already, the new row stands."""
    if not new:
        return table
    fresh = pd.DataFrame(new, columns=EMPTY[name])
    both = pd.concat([table, fresh]) if len(table) else fresh
    return both.drop_duplicates(ROW_KEY if name == ROWS else LABELS_KEY, keep="last")


def forget(data: list[str], columns: list[str]) -> None:
    """Drop the rows of some columns on some data, so that they are run again."""
    table = read(ROWS)
    write(ROWS, table[~(table["data"].isin(data) & table["column"].isin(columns))])
    labels = read(LABELS)
    if "auto" in columns and len(labels):
        write(LABELS, labels[~labels["data"].isin(data)])
