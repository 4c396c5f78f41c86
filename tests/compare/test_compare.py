"""`robustgc compare`: complete rows, the same again, failures, bad input, files and page."""

import csv
import json
import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

import chromium
from robustgc.cli.app import app
from robustgc.compare import trials
from robustgc.compare.comparing import check_options, compare
from robustgc.compare.page import Comparison, render, summary
from robustgc.datasets import two_blocks

RUN = CliRunner()
GRAPH_MODELS = [name for name in trials.MODELS if name != trials.SPREADING]


def blocks(classes=3, size=20, seed=23):
    sizes = [size] * classes
    inside = np.full((classes, classes), 0.05) + 0.5 * np.eye(classes)
    graph = nx.stochastic_block_model(sizes, inside, seed=seed)
    return nx.to_scipy_sparse_array(graph), np.repeat([f"class {k}" for k in range(classes)], size)


@pytest.fixture(scope="module")
def found():
    data = two_blocks(60, 0.7, 0.2, seed=29)
    return compare(data.weights, data.labels, sizes=[10, 20], noise=[0, 25], repeats=6)


def untimed(comparison):
    return [replace(trial, seconds=0.0) for trial in comparison.trials]


def test_every_model_has_a_row_for_every_draw(found):
    assert len({(t.model, t.labels, t.noise_percent, t.repeat) for t in found.trials}) == 6 * 24
    assert len(found.trials) == 6 * 24
    assert {t.model for t in found.trials} == set(GRAPH_MODELS)
    assert {c.labels for c in found.cells} == {6, 12}
    assert all(0 <= t.accuracy <= 1 and not t.reason for t in found.trials)
    assert (found.n_nodes, found.n_counted, found.repeats, found.failures) == (60, 60, 6, ())


def test_means_errors_and_ranks_are_those_of_the_rows(found):
    cell = next(c for c in found.cells if (c.model, c.labels, c.noise_percent) == ("ZhouGC", 6, 25))
    values = [t.accuracy for t in found.trials
              if (t.model, t.labels, t.noise_percent) == ("ZhouGC", 6, 25)]  # fmt: skip
    assert cell.accuracy_mean == pytest.approx(np.mean(values))
    assert cell.accuracy_error == pytest.approx(np.std(values, ddof=1) / np.sqrt(6))
    assert all(c.rank is not None and 1 <= c.rank <= 6 for c in found.cells)
    robust = [c for c in found.cells if c.model == "RobustGC"]
    assert min(c.accuracy_mean for c in robust if not c.noise_percent) > 0.9


def test_the_same_seed_draws_the_same_and_parts_agree_with_the_whole():
    W, truth = blocks()
    options = {"models": ["ZhouGC", "RobustGC"], "noise": [0, 20], "repeats": 2, "seed": 31}
    whole = compare(W, truth, sizes=[10, 30], **options)
    assert untimed(whole) == untimed(compare(W, truth, sizes=[10, 30], **options))
    part = compare(W, truth, sizes=[30], **options)
    assert untimed(part) == [t for t in untimed(whole) if t.labels == 18]
    other = compare(W, truth, sizes=[30], **{**options, "seed": 37})
    assert untimed(part) != untimed(other)
    assert whole.classes == ("class 0", "class 1", "class 2")


def test_drawn_labels():
    codes = np.array([-1] * 5 + [0] * 40 + [1] * 12 + [2])
    for repeat in range(20):
        right, wrong = (trials.draw_labels(codes, 10, noise, repeat, 41) for noise in (0, 40))
        given = right >= 0
        assert given.sum() == 10
        assert (right[given] == codes[given]).all()
        assert (np.bincount(right[given]) >= [2, 2, 1]).all()  # the rare classes as well
        assert (given == (wrong >= 0)).all()
        assert (wrong[given] != codes[given]).sum() == 4
    few = np.array([0] * 6 + [1] * 6)
    named, renamed = (trials.draw_labels(codes, 6, 40, 3, 41) for codes in (few, 1 - few))
    assert (np.where(named < 0, -1, 1 - named) == renamed).all()
    for repeat in range(20):  # two classes are left, even if every second label is wrong
        assert set(trials.draw_labels(few, 4, 50, repeat, 43)) == {-1, 0, 1}


def test_nodes_without_truth_are_not_counted_and_pieces_are_allowed():
    W, truth = blocks(classes=2)
    both = np.kron(np.eye(2), W.toarray())
    labels = [*truth[:18], None, None, *truth[20:], *([None] * 40)]
    seen = []
    result = compare(both, labels, sizes=[10, 60], noise=[20], repeats=2,
                     watch=lambda done, whole: seen.append((done, whole)))  # fmt: skip
    assert (result.n_nodes, result.n_counted) == (80, 38)
    assert seen == [(1, 2), (2, 2)]
    assert "60 % (48 labels) was left out: of 38 true labels" in result.notes[0]
    assert {c.labels for c in result.cells} == {8}


def test_a_model_that_fails_does_not_stop_the_others(monkeypatch):
    W, truth = blocks(classes=2)

    class Broken:
        def __init__(self, **_):
            pass

        def fit_predict(self, X, y):
            raise ZeroDivisionError("<b>no pivot</b>")

    monkeypatch.setitem(trials.MODELS, "PoissonGC", Broken)
    result = compare(W, truth, models=["ZhouGC", "PoissonGC"], sizes=[20], noise=[0], repeats=2)
    assert result.failures == (("PoissonGC", "ZeroDivisionError: <b>no pivot</b>", 2),)
    zhou, broken = result.cells
    assert (zhou.rank, broken.rank, broken.repeats) == (1, None, 0)
    assert math.isnan(broken.accuracy_mean)
    page = render(result, "Broken")
    assert "ZeroDivisionError: &lt;b&gt;no pivot" in page
    assert result.sentence().startswith("ZhouGC has the best mean accuracy in 1 of 1 setting")
    equal = summary([zhou, replace(zhou, model="BelkinGC")])
    assert equal.endswith(
        "BelkinGC in 1 (significant in none); where models are equal, each of them counts."
    )
    assert summary([broken]) == "No model has an answer: all trials failed."
    assert render(Comparison((), (broken,), 40, 40, ("a", "b"), 2, 7), "None")


def test_points_bring_label_spreading():
    rng = np.random.default_rng(47)
    X = np.vstack([rng.normal(m, 0.5, (15, 2)) for m in (0, 3, 6)])
    truth = np.repeat(["a", "b", "c"], 15)
    for affinity in ("knn", "rbf"):
        result = compare(points=X, truth=truth, affinity=affinity, sizes=[20], noise=[0], repeats=1)
        assert [c.model for c in result.cells] == list(trials.MODELS)
        assert min(c.accuracy_mean for c in result.cells) > 0.8, affinity


BAD = {
    "Model 'Nobody' is unknown; choose from RobustGC": {"models": ["Nobody"]},
    "LabelSpreading needs points": {"models": ["LabelSpreading"]},
    "No model is named": {"models": []},
    "label size of 0 % is not allowed; 0 < size < 100": {"sizes": [0]},
    "label size of 100 %": {"sizes": [5, 100]},
    "noise of -5 % is not allowed; 0 <= noise < 100": {"noise": [-5]},
    "noise of 100 %": {"noise": [100]},
    "noise of nan %": {"noise": [math.nan]},
    "No noise is named": {"noise": []},
    "repeats=0 with seed=7": {"repeats": 0},
}


@pytest.mark.parametrize("text", BAD)
def test_bad_options(text):
    options = {"models": None, "sizes": [5], "noise": [0], "repeats": 2, "seed": 7}
    with pytest.raises(ValueError, match=text):
        check_options(**{**options, **BAD[text]}, with_points=False)


def test_bad_input():
    W, truth = blocks(classes=2)
    with pytest.raises(ValueError, match="1 class only, 'a'"):
        compare(W, ["a"] * 40)
    with pytest.raises(ValueError, match="9 nodes have a true label; a comparison needs at least"):
        compare(W, [None] * 31 + ["a", "b", "a", "b", "a", "b", "a", "b", "b"])
    with pytest.raises(ValueError, match="36 labels leave nothing to predict: 30 nodes"):
        compare(W, [None] * 10 + list(truth[10:]), sizes=[90])
    with pytest.raises(ValueError, match="negative"):
        compare(-W, truth)
    with pytest.raises(ValueError, match="either a graph or points"):
        compare(truth=truth)
    with pytest.raises(ValueError, match="Pass truth"):
        compare(W)


@pytest.fixture
def files(tmp_path):
    W, truth = blocks()
    pairs = np.argwhere(np.triu(W.toarray()))
    names = [f"<i>{i}</i>" for i in range(len(truth))]
    with (tmp_path / "<b>edges.csv").open("w", encoding="utf-8") as file:
        file.writelines(["source,target\n", *(f"{names[i]},{names[j]}\n" for i, j in pairs)])
    with (tmp_path / "truth.csv").open("w", encoding="utf-8") as file:
        file.writelines(
            ["node,label\n", *(f"{a},{b}\n" for a, b in zip(names, truth, strict=True))]
        )
    return tmp_path


def run(folder, *options):
    start = ["compare", str(folder / "<b>edges.csv"), "--labels", str(folder / "truth.csv")]
    return RUN.invoke(app, [*start, "--out", str(folder / "out"), *options])


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_command_writes_tables_and_a_page(files):
    out = files / "out"
    out.mkdir()
    (out / "mine.txt").write_text("kept")
    (out / "summary.csv").write_text("old")
    options = ["--models", "RobustGC,ZhouGC", "--sizes", "10,20", "--noise", "0,20"]
    result = run(files, *options, "--repeats", "2", "--seed", "31", "--json")
    assert result.exit_code == 0, result.stderr
    assert sorted(p.name for p in out.iterdir()) == ["index.html", "mine.txt", "summary.csv",
                                                     "trials.csv"]  # fmt: skip
    summary_rows, fits = rows(out / "summary.csv"), rows(out / "trials.csv")
    assert (len(summary_rows), len(fits)) == (8, 16)
    told = json.loads(result.stdout)
    assert (told["n_nodes"], told["seed"], len(told["cells"]), told["failures"]) == (60, 31, 8, [])
    assert told["cells"][0]["model"] == summary_rows[0]["model"]
    assert f"Open {out / 'index.html'}" in result.stderr
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;edges.csv" in page
    assert "<b>" not in page
    assert "script" not in page
    assert page.count("<h2>20 % of the labels wrong</h2>") == 1
    assert page.count('class="plot"') == 2
    again = run(files, *options, "--repeats", "2", "--seed", "31", "--quiet")
    assert (again.stdout, again.stderr) == ("", "")
    same = [[{**r, "seconds": ""} for r in t] for t in (fits, rows(out / "trials.csv"))]
    assert same[0] == same[1]


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (["--models", "Nobody"], 2, "Model 'Nobody' is unknown"),
        (["--sizes", "five"], 2, "--sizes five is not a list of numbers"),
        (["--sizes", "120"], 2, "A label size of 120 % is not allowed"),
        (["--noise", "-1"], 2, "A noise of -1 % is not allowed"),
        (["--noise", ","], 2, "No noise is named"),
        (["--affinity", "near"], 2, "--affinity near is unknown"),
        (["--sizes", "99"], 1, "59 labels leave"),
        (["--label-column", "kind"], 1, "kind"),
    ],
)
def test_the_command_says_what_is_wrong(files, options, code, text):
    if options == ["--sizes", "99"]:
        path = files / "truth.csv"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:50]))
    result = run(files, *options)
    assert result.exit_code == code, result.stderr
    assert text in result.stderr
    assert not (files / "out").exists()


def test_nothing_but_failures_is_an_error(files, monkeypatch):
    monkeypatch.setitem(trials.MODELS, "ZhouGC", lambda **_: None)
    result = run(files, "--models", "ZhouGC", "--repeats", "1")
    assert result.exit_code == 1
    assert "ZhouGC failed in" in result.stderr
    assert "No model has an answer" in result.stderr


def test_the_folder_is_checked_before_the_work(files):
    (files / "out").write_text("a file")
    result = run(files)
    assert result.exit_code == 1
    assert "is a file; name a folder with --out" in result.stderr


@pytest.mark.browser
def test_in_a_browser_nothing_is_asked_for_and_nothing_overflows(found, tmp_path):
    if chromium.PROGRAM is None:
        pytest.skip("Chromium is not installed: pages are not opened in a browser")
    failed = trials.Trial("ZhouGC", 4, 0, 0, math.nan, 0.1, "<b>" * 99)
    hostile = replace(found, notes=["<img src=x>" * 30], trials=(failed,) * 3)
    title = "</title><script>alert(1)</script>" + "x" * 500
    pages = (render(found, "Two blocks"), render(hostile, title, "</pre>" * 99))
    with chromium.Browser() as browser:
        for k, page in enumerate(pages):
            path = tmp_path / f"{k}.html"
            path.write_text(page, encoding="utf-8")
            for width, scheme in ((390, "light"), (1280, "dark")):
                browser.open(path, width, scheme=scheme)
                assert browser.requests() == [path.as_uri()]
                assert browser.complaints() == []
                assert browser.run("innerWidth") == width
                assert browser.run("document.documentElement.scrollWidth") == width
                assert browser.run("document.querySelectorAll('script, img, b').length") == 0
