import csv

import numpy as np
import pytest

from robustgc.paper.records import Store, generator, name_of, run


def trial(key):
    rng = generator(key)
    return [{"model": m, "value": float(rng.random())} for m in ("a", "b")]


KEYS = [{"dataset": d, "repeat": r, "seed": 7} for d in ("x", "y") for r in range(6)]


def finished(path, jobs=1, keys=KEYS):
    store = Store(path)
    steps = list(run(trial, keys, store, jobs=jobs))
    rows = sorted(store.read(), key=lambda r: (r["trial"], r["model"]))
    return steps, rows


def test_order_and_number_of_jobs_do_not_matter(tmp_path):
    _, one = finished(tmp_path / "one.csv")
    _, two = finished(tmp_path / "two.csv", jobs=2, keys=KEYS[::-1])
    assert one == two
    assert len(one) == 24


def test_a_rerun_does_only_what_is_missing(tmp_path):
    path = tmp_path / "trials.csv"
    finished(path, keys=KEYS[:5])
    steps, rows = finished(path)
    assert steps[0] == (5, 12)
    assert steps[-1] == (12, 12)
    assert rows == finished(tmp_path / "whole.csv")[1]
    assert finished(path)[0] == [(12, 12)]


def test_progress_counts_only_what_was_asked_for(tmp_path):
    path = tmp_path / "trials.csv"
    finished(path)
    assert finished(path, keys=KEYS[:3])[0] == [(3, 3)]


@pytest.mark.parametrize("cut", [3, 20, 60])
def test_a_torn_file_loses_only_the_torn_trial(tmp_path, cut):
    path = tmp_path / "trials.csv"
    _, whole = finished(path)
    text = path.read_text()
    path.write_text(text[:-cut])
    steps, rows = finished(path)
    assert steps[0] == (11, 12)
    assert rows == whole


def test_records_are_flat(tmp_path):
    path = tmp_path / "trials.csv"
    finished(path)
    with path.open(newline="") as file:
        row = next(csv.DictReader(file))
    assert list(row) == ["trial", "dataset", "repeat", "seed", "model", "value", "of"]
    assert row["trial"] == name_of(KEYS[0])


def test_random_numbers_belong_to_the_key():
    draws = [generator(key).random() for key in KEYS]
    assert len(set(draws)) == len(KEYS)
    shuffled = dict(reversed(KEYS[3].items()))
    assert generator(shuffled).random() == draws[3]
    assert np.isscalar(draws[0])
