"""Whether 200 fixed runs give the same bytes as before: for changes that move or rename code.

    python -m benchmarks same_answers record FILE
    python -m benchmarks same_answers compare FILE [GROUP ...]
    python -m benchmarks same_answers show GROUP RUN
    python -m benchmarks same_answers models FOLDER

`record` writes a SHA-256 of what every run gives, `compare` says by group which are others now and
exits with 1 if any is; `show` prints one, to be compared with that of another checkout. The groups
from classify on have sentences in them (notes, reasons, refusals), which may be worded otherwise on
purpose; those before have numbers and classes only.

Bytes depend on the machine and its libraries, so a record is good for the machine that made it;
one thread is used, whatever OMP_NUM_THREADS says. `models` has written the saved models in
`records/models_before_packages`; it is not to be run again for that folder, since later versions
have to load what the version before packages has saved.
"""

import contextlib
import json
import pprint
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.same_answers import commands, estimators, functions, results, words
from benchmarks.same_answers.digests import Run, digest

RUNS: dict[str, Mapping[str, Run]] = {
    "RobustGC": estimators.ROBUST,
    "ways": estimators.WAYS,
    "points": estimators.POINTS,
    "peers": estimators.PEERS,
    "functions": functions.FUNCTIONS,
    "datasets": functions.DATASETS,
    "classify": results.CLASSIFY,
    "saved": results.SAVED,
    "texts": words.TEXTS,
    "commands": commands.COMMANDS,
    "refusals": words.REFUSALS,
}


@contextlib.contextmanager
def alone() -> Iterator[str]:
    """Give a run a folder of its own, and keep its warnings to itself."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield folder


def answer(name: str, run: Run) -> str:
    """Return the digest of a run; one that fails has that of its failure, which is told."""
    with alone() as folder:
        try:
            return digest(run())
        except Exception as error:
            text = f"{type(error).__name__}: {error}".replace(folder, "FOLDER")
    print(f"{name} failed: {text}", file=sys.stderr)
    return digest(text)


def answers(groups: list[str]) -> dict[str, dict[str, str]]:
    found = {}
    for group in groups:
        start = time.perf_counter()
        found[group] = {name: answer(f"{group}, {name}", run) for name, run in RUNS[group].items()}
        seconds = time.perf_counter() - start
        print(f"{group:<10}{len(found[group]):>4} runs{seconds:7.1f} s", file=sys.stderr)
    return found


def record(file: str) -> bool:
    found = answers(list(RUNS))
    Path(file).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{sum(map(len, found.values()))} digests are in {file}.")
    return True


def compare(file: str, *groups: str) -> bool:
    if unknown := set(groups) - set(RUNS):
        sys.exit(f"There is no group {min(unknown)}; there are {', '.join(RUNS)}.")
    before = json.loads(Path(file).read_text(encoding="utf-8"))
    good = True
    for group, now in answers(list(groups) or list(RUNS)).items():
        known = before.get(group, {})
        others = [name for name in {**known, **now} if known.get(name) != now.get(name)]
        same = len(known) - sum(name in known for name in others)
        print(f"{group:<10}{same:>4} of {len(known)} are the same")
        for name in others:
            what = "differs" if name in known and name in now else "new" if name in now else "gone"
            print(f"    {name}: {what}")
        good &= not others
    return good


def show(group: str, name: str) -> bool:
    np.set_printoptions(threshold=sys.maxsize, floatmode="unique")
    with alone():
        pprint.pprint(RUNS[group][name](), width=100)
    return True


def models(folder: str) -> bool:
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, made in results.MODELS.items():
        made().save(Path(folder) / f"{name}.zip")
    return True


def main() -> None:
    verbs: dict[str, Any] = {f.__name__: f for f in (record, compare, show, models)}
    if len(sys.argv) < 3 or sys.argv[1] not in verbs:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(0 if verbs[sys.argv[1]](*sys.argv[2:]) else 1)


if __name__ == "__main__":
    main()
