"""Bad calls from Python: a sentence or the right answer, never a traceback of something else."""

import errno
import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import graphs
import lifting
import oracles
from robustgc import (
    BelkinGC,
    Graph,
    HarmonicGC,
    PoissonGC,
    RobustGC,
    ZhouGC,
    classify,
    condition_bound,
    extend,
    lambda_1,
    leave_one_out,
    load,
    robust,
    robust_path,
    zhou,
    zhou_path,
)
from robustgc.cli.messages import described, print_json
from robustgc.estimators.saving.model import save
from samples import moons

NAN, INF = float("nan"), float("inf")
GRAPH = Graph(graphs.two_cliques(4, 0.1))
Y = np.array([1.0, 0, 0, 0, 0, 0, 0, -1.0])
NO_NUMBERS = [
    NAN,
    INF,
    -INF,
    0,
    0.0,
    -0.5,
    True,
    "0.5",
    None,
    [0.5],
    np.array([0.5]),
    0.5j,
    10**400,
]


@pytest.mark.parametrize("eta", [*NO_NUMBERS, 1, 1.0, 2])
def test_no_eta_outside_of_theorem_1(eta):
    for etas in ([eta], (0.5, eta), np.array([0.5, eta], dtype=object)):
        with pytest.raises(ValueError, match=r"eta = .* strictly between 0 and 1"):
            robust_path(GRAPH, Y, etas=etas)
    with pytest.raises(ValueError, match=r"eta=.* strictly between 0 and 1"):
        RobustGC(eta=eta, affinity="precomputed").fit(GRAPH.W, [0, *[-1] * 6, 1])


@pytest.mark.parametrize("gamma", NO_NUMBERS)
@pytest.mark.parametrize(
    "call",
    [
        lambda g: robust(GRAPH, Y, gamma=g),
        lambda g: robust(GRAPH, Y, gamma=g, n_modes=2),
        lambda g: robust_path(GRAPH, Y, [0.01, g]),
        lambda g: zhou(GRAPH, Y, gamma=g),
        lambda g: zhou_path(GRAPH, Y, [0.01, g]),
        lambda g: condition_bound(GRAPH, g),
        lambda g: leave_one_out(GRAPH, Y, gamma=g),
        lambda g: ZhouGC(gamma=g, affinity="precomputed").fit(GRAPH.W, [0, *[-1] * 6, 1]),
    ],
)
def test_no_gamma_that_is_no_number_above_0(call, gamma):
    with pytest.raises(ValueError, match=r"gamma ?= ?.* is not allowed; it must be a "):
        call(gamma)


@pytest.mark.parametrize("gamma", [NAN, INF, "0.5", None, True])
def test_no_extension_by_what_is_no_number(gamma):
    with pytest.raises(ValueError, match="finite number, that of the fit"):
        extend([1.0], [1.0], [[1.0]], 0.0, gamma=gamma)


@pytest.mark.parametrize("grid", [[], (), np.array([]), iter(())])
def test_grids_without_a_number(grid):
    for call in (zhou_path, robust_path):
        with pytest.raises(ValueError, match="gammas is empty; give at least one"):
            call(GRAPH, Y, grid)
    with pytest.raises(ValueError, match="etas is empty"):
        robust_path(GRAPH, Y, etas=grid)


@pytest.mark.parametrize("grid", ["0.5", b"1", 0.5, {0.5: 1}, np.array(0.5), np.array([[0.5]])])
def test_what_is_no_grid(grid):
    with pytest.raises(ValueError, match=r"gammas = .* must be a list of numbers"):
        zhou_path(GRAPH, Y, grid)
    with pytest.raises(ValueError, match=r"etas = .* must be a list of numbers"):
        robust_path(GRAPH, Y, etas=grid)


def test_a_path_needs_gammas_or_etas_and_takes_any_sequence_of_them():
    for given in ({}, {"gammas": [0.01], "etas": [0.5]}):
        with pytest.raises(ValueError, match="one of the two"):
            robust_path(GRAPH, Y, **given)
    expected = oracles.robust(np.asarray(GRAPH.W), Y, 0.5 * lambda_1(GRAPH))
    for etas in ([0.5], (np.float32(0.5),), iter([0.5]), np.array([0.5]), pd.Series([0.5])):
        np.testing.assert_allclose(robust_path(GRAPH, Y, etas=etas)[0].f, expected, rtol=1e-9)


# What may be changed by update.


@pytest.fixture(scope="module")
def fitted():
    return RobustGC(affinity="precomputed").fit(GRAPH.W, [3, 3, -1, -1, -1, -1, 4, 4])


@pytest.mark.parametrize("changes", [None, [(0, 1)], [0, 1], "ab", 5, np.eye(2), pd.DataFrame()])
def test_update_needs_a_mapping(fitted, changes):
    before = vars(fitted).copy()
    with pytest.raises(TypeError, match=r"mapping from node to label, such as .* dict\(pairs\)"):
        fitted.update(changes)
    assert vars(fitted) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({True: 3}, "True is not a node of the fitted graph; nodes are 0 to 7"),
        ({NAN: 3}, "nan is not a node"),
        ({None: 3}, "None is not a node"),
        ({(1, 2): 3}, r"\(1, 2\) is not a node"),
        ({2.0: 3}, "2.0 is not a node"),
        ({2: [3]}, r"\[3\] is not a class of the fit; those are 3, 4"),
        ({2: {}}, "{} is not a class"),
        ({2: ([],)}, r"\(\[\],\) is not a class"),
        ({2: np.array([3])}, r"array\(\[3\]\) is not a class"),
        ({2: "x" * 5000}, r"'x{197}\.\.\.' \(5000 characters\) is not a class"),
        ({2: object}, "<class 'object'> is not a class"),
    ],
)
def test_what_update_refuses(fitted, changes, message):
    with pytest.raises(ValueError, match=message):
        fitted.update(changes)


def test_true_is_no_class_among_numbers_and_1_none_among_booleans():
    clf = RobustGC(affinity="precomputed").fit(GRAPH.W, [0, 0, -1, -1, -1, -1, 1, 1])
    with pytest.raises(ValueError, match="True is not a class of the fit; those are 0, 1"):
        clf.update({2: True})
    y = np.array([True, True, None, None, None, None, False, False])
    clf = RobustGC(affinity="precomputed").fit(GRAPH.W, y)
    with pytest.raises(ValueError, match="1 is not a class of the fit; those are False, True"):
        clf.update({2: 1})
    assert clf.update({2: np.True_}).transduction_[2]


@pytest.mark.parametrize(
    "changes",
    [
        {np.int64(2): 3, np.uint8(5): 4},
        {2: 3.0, 5: np.float32(4)},
        {2: np.array(3), 5: np.int8(4)},
        pd.Series({2: 3, 5: 4}),
        {2: 3, 5: 4, 3: pd.NA, 4: NAN},
        {2: 3, 5: 4, 3: "", 4: -1},
    ],
)
def test_ways_to_say_the_same(changes):
    y = np.array([3, 3, -1, -1, -1, -1, 4, 4])
    clf = RobustGC(eta=0.9, n_modes=1, affinity="precomputed").fit(GRAPH.W, y)
    y[2], y[5] = 3, 4
    fresh = RobustGC(eta=0.9, n_modes=1, affinity="precomputed").fit(GRAPH.W, y)
    np.testing.assert_allclose(clf.update(changes).f_, fresh.f_, rtol=1e-9)


def test_the_na_of_data_frames_may_be_the_marker():
    y = pd.Series(["a", "a", None, None, None, None, "b", "b"], dtype="string")
    clf = RobustGC(affinity="precomputed").fit(GRAPH.W, y)
    assert clf.update({2: "a"}).transduction_[2] == "a"
    with pytest.raises(ValueError, match="'c' is not a class"):
        clf.update({2: "c"})


# Label weights of any size.

MODELS = [{}, {"eta": 0.9, "n_modes": 1}, {"eta": 0.7, "n_modes": 2, "class_weight": "balanced"}]


def weighted(sizes, **options):
    """Three blocks with four labels each, one of them wrong, and the weights of those labels."""
    W, truth = lifting.blocks(6007, [15, 15, 15], 0.5, 0.05)
    nodes = np.concatenate([np.flatnonzero(truth == k)[:4] for k in range(3)])
    y, weights = np.full(45, -1), np.ones(45)
    y[nodes], weights[nodes] = truth[nodes], sizes
    y[nodes[0]] = 1
    clf = RobustGC(affinity="precomputed", **options).fit(W, y, weights)
    return clf, W, y, weights


@pytest.mark.parametrize("options", MODELS)
@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e-150, 1e150, 1.7e308])
def test_the_unit_of_label_weights_does_not_matter(options, unit):
    one, scaled = weighted(np.ones(12), **options)[0], weighted(np.full(12, unit), **options)[0]
    np.testing.assert_allclose(scaled.f_, one.f_, rtol=1e-9)
    issues = scaled.label_issues()
    assert np.isfinite(issues.margin).all()
    np.testing.assert_allclose(issues.suspicion, one.label_issues().suspicion, atol=1e-9)


@pytest.mark.parametrize("low", [1e-300, 1e-150, 1e-20, 1e-10])
def test_light_labels_are_answered_by_the_dense_formula(low):
    sizes = np.ones(12)
    sizes[[1, 5, 9]] = low  # one of each class
    clf, W, y, weights = weighted(sizes * 1e100, eta=0.9, n_modes=1)
    W = np.asarray(W.todense()) if hasattr(W, "todense") else W
    labelled = y >= 0
    relative = weights / weights[labelled].mean()
    for k in range(3):
        signs = np.where(labelled, np.where(y == k, 1.0, -1.0), 0.0) * relative
        expected = oracles.robust(W, signs, 0.9 * oracles.lambda_1(W))
        np.testing.assert_allclose(clf.f_[:, k], expected, rtol=1e-7, atol=1e-9)
    for options in MODELS:
        issues = weighted(sizes, **options)[0].label_issues()
        assert np.isfinite(issues.margin).all()
        assert np.isfinite(issues.suspicion).all()


@pytest.mark.parametrize("ratio", [1e-5, 1e-3])
def test_light_classes_are_judged_as_others(ratio):
    """Balanced classes do not depend on their weight at all: an exact check."""
    options = MODELS[2]
    sizes = np.ones(12)
    sizes[4:8] = sizes[0] = ratio  # all labels of class 1
    light, even = weighted(sizes, **options)[0], weighted(np.ones(12), **options)[0]
    f, expected = light.f_, even.f_
    np.testing.assert_allclose(f / np.abs(f).max(), expected / np.abs(expected).max(), atol=1e-9)
    issues, expected = light.label_issues(), even.label_issues()
    np.testing.assert_array_equal(issues.node, expected.node)
    np.testing.assert_allclose(issues.margin, expected.margin, atol=1e-9)


@pytest.mark.parametrize("options", MODELS)
def test_classes_that_weigh_next_to_nothing_are_refused(options):
    for small in (1e-150, 1e-9):
        sizes = np.ones(12)
        sizes[8:] = small
        with pytest.raises(ValueError, match=r"class 2 weighs .* below 1e-06 rounding.* give 0"):
            weighted(sizes, **options)
    sizes = np.ones(12)
    sizes[8] = 1e150
    with pytest.raises(ValueError, match=r"from 1 to 1e\+150: without its heaviest label class"):
        weighted(sizes, **options)


def test_an_update_that_leaves_a_class_without_weight_is_refused():
    sizes = np.ones(12)
    sizes[10:] = 1e-100
    clf, _, y, _ = weighted(sizes)
    heavy = np.flatnonzero(y == 2)[:2]
    with pytest.raises(ValueError, match=r"class 2 weighs less than 1e-15 of class"):
        clf.update({int(heavy[1]): None})
    assert np.isfinite(clf.label_issues().margin).all()


def test_label_weights_must_be_numbers():
    clf = RobustGC(affinity="precomputed")
    with pytest.raises(ValueError, match="sample_weight must be numbers"):
        clf.fit(GRAPH.W, [0, *[-1] * 6, 1], ["heavy"] * 8)


def test_weights_of_a_score():
    clf = RobustGC(affinity="precomputed").fit(GRAPH.W, [0, 0, -1, -1, -1, -1, 1, 1])
    truth = [0, 0, 0, 1, 1, 1, 1, 1]
    assert clf.score(GRAPH.W, truth, np.full(8, 1e308)) == clf.score(GRAPH.W, truth) == 7 / 8
    for weight in (np.zeros(8), np.full(8, NAN), np.full(8, INF), -np.ones(8)):
        with pytest.raises(ValueError, match="finite, at least 0, and not 0 for all"):
            clf.score(GRAPH.W, truth, weight)


# Containers, failures, names.


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("kind", [RobustGC, ZhouGC, BelkinGC, HarmonicGC, PoissonGC])
@pytest.mark.parametrize("affinity", ["precomputed", "knn", "rbf"])
def test_a_matrix_of_numpy_is_an_array_everywhere(kind, affinity):
    if affinity == "precomputed":
        X, y = np.asarray(GRAPH.W), [0, *[-1] * 6, 1]
    else:
        X, y, _ = moons()
    array, matrix = kind(affinity=affinity).fit(X, y), kind(affinity=affinity).fit(np.matrix(X), y)
    np.testing.assert_array_equal(array.f_, matrix.f_)
    for some in (X, X[:3] + 0.01):
        expected = array.decision_function(some)
        np.testing.assert_array_equal(matrix.decision_function(np.matrix(some)), expected)
        np.testing.assert_array_equal(matrix.predict(np.matrix(some)), array.predict(some))


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_functions_take_a_matrix_of_numpy_too():
    W = np.matrix(GRAPH.W)
    assert lambda_1(Graph(W)) == lambda_1(GRAPH)
    assert classify(W, {0: "a", 7: "b"}).labels == classify(np.asarray(W), {0: "a", 7: "b"}).labels


class StopError(BaseException):
    """As KeyboardInterrupt, which pytest would take for its own."""


@pytest.mark.parametrize("fitted_before", [False, True])
@pytest.mark.parametrize("what", ["LocalAnswers", "encode", "check_priors", "Labels.names"])
@pytest.mark.parametrize("stop", [StopError, ValueError])
def test_a_fit_that_fails_or_is_stopped_changes_no_attribute(
    monkeypatch, fitted_before, what, stop
):
    X, y, _ = moons()
    clf = RobustGC(priors="labels")
    if fitted_before:
        clf.fit(X, y, np.ones(len(y)))
    before = dict(vars(clf))
    home = {
        "LocalAnswers": "robustgc.estimators.fits.LocalAnswers",
        "Labels.names": "robustgc.transduction.labels.Labels.names",
    }

    def stopped(*_args, **_kwargs):
        raise stop("here")

    monkeypatch.setattr(home.get(what, f"robustgc.estimators.robust.{what}"), stopped)
    with pytest.raises(stop, match="here"):
        clf.fit(X[:, :1], y, np.full(len(y), 2.0))
    assert list(vars(clf)) == list(before)
    assert all(vars(clf)[name] is value for name, value in before.items())


def test_an_update_that_is_stopped_changes_nothing(monkeypatch):
    clf = RobustGC(affinity="precomputed").fit(GRAPH.W, [0, 0, -1, -1, -1, -1, 1, 1])
    before = dict(vars(clf))

    def stopped(*_):
        raise StopError

    monkeypatch.setattr("robustgc.transduction.labels.Labels.names", stopped)
    with pytest.raises(StopError):
        clf.update({2: 0})
    assert all(vars(clf)[name] is value for name, value in before.items())


@pytest.fixture(scope="module")
def odd():
    """Nodes are pairs; labels hold half a surrogate pair, a line break, and much text."""
    graph = nx.grid_2d_graph(4, 4)
    first, second = "a\udc80\n", "b" * 60
    labels = {(0, 0): first, (1, 0): first, (0, 1): second, (3, 3): second, (2, 3): second}
    return classify(graph, labels)


def test_odd_names_and_labels_can_be_printed(odd):
    text = str(odd.issues)
    text.encode("utf-8")
    lines = text.splitlines()
    assert len(lines) == 2 + 5
    assert lines[2].startswith("  (0, 1)  bbbbb")
    assert "a\\udc80\\n" in lines[2]
    assert lines[2].endswith("(0, 0), (1, 0)")
    for thing in (odd, odd.estimator, odd.issues, next(iter(odd.issues)), odd.labels):
        repr(thing).encode("utf-8")


def test_columns_of_the_printed_table_do_not_run_together():
    issues = classify(nx.path_graph(4), {0: 2**53 + 1, 3: 2**53, 1: 2**53 + 1}).issues
    assert f"{2**53 + 1}  {2**53 + 1}" in str(issues)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_odd_names_and_labels_can_be_written(odd, tmp_path, ending):
    odd.write(tmp_path / f"answers.{ending}")
    frame = pd.read_parquet if ending == "parquet" else pd.read_csv
    found = frame(tmp_path / f"answers.{ending}", **({"sep": "\t"} if ending == "tsv" else {}))
    assert found["label"].tolist()[0] == "a\\udc80\n"
    assert odd.to_frame()["label"].tolist()[0] == "a\\udc80\n"
    odd.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_pairs_as_names_cannot_be_saved_and_that_is_said(odd, tmp_path):
    with pytest.raises(ValueError, match=r"node 0 is \(0, 0\) of type tuple; names must be text"):
        odd.save(tmp_path / "model")
    save(odd.estimator, tmp_path / "model")
    assert str(load(tmp_path / "model").issues).count("a\\udc80\\n") >= 2


@pytest.mark.parametrize("options", [{}, {"affinity": "rbf"}, {"landmarks": 60}])
def test_the_page_of_a_loaded_model_of_points(tmp_path, options):
    X, y, _ = moons()
    same_page(classify(points=X, labels=y, **options), tmp_path)


@pytest.mark.parametrize("options", [{}, {"eta": 0.9, "n_modes": 1}])
def test_the_page_of_a_loaded_model_of_a_graph(tmp_path, options):
    same_page(classify(nx.karate_club_graph(), {0: "a", 33: "b", 32: "b"}, **options), tmp_path)


def same_page(result, folder):
    """Check that the page of a loaded model is that of the fit, but for the eigengap."""
    result.save(folder / "model.zip")
    result.report(folder / "fitted.html")
    load(folder / "model.zip").report(folder / "loaded.html")
    pages = [(folder / f"{name}.html").read_text().split("<") for name in ("fitted", "loaded")]
    assert len(pages[0]) == len(pages[1])
    differ = [pair for pair in zip(*pages, strict=True) if pair[0] != pair[1]]
    assert len(differ) <= 1
    assert all(new.endswith("not known") for _, new in differ)


# What the command line says of errors of the system.


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (MemoryError(), ["not enough memory: the work does not fit", "robustgc info"]),
        (MemoryError("Unable to allocate 8 GiB."), ["allocate 8 GiB. `robustgc info`"]),
        (MemoryError("It takes 8 GiB. Use less."), ["memory: It takes 8 GiB. Use less."]),
        (OSError(errno.EFBIG, "File too large", "x"), ["x: File too large. Raise the limit"]),
        (OSError(errno.ENOSPC, "No space left on device"), ["a file (", "Make room"]),
        (OSError(errno.ENOSPC, "No space left", "out.npy"), ["out.npy: No space left. Make room"]),
        (OSError(errno.ENOSPC, "Full", b"out.npy"), ["out.npy: Full. Make room"]),
        (OSError(errno.EXDEV, "Cross-device", "a", None, "b"), ["a -> b: Cross-device. Check"]),
        (PermissionError(errno.EACCES, "Permission denied", "x"), ["x: Permission denied. Check"]),
        (FileNotFoundError(errno.ENOENT, "No such file", "x"), ["x: No such file. Check the name"]),
        (OSError(errno.EMFILE, "Too many open files"), ["Too many open files. Close", "ulimit"]),
        (OSError(errno.EIO, "Input/output error", "x"), ["x: Input/output error. Check the disk"]),
        (OSError("model is no folder. Rename it."), ["model is no folder. Rename it."]),
        (OSError(), ["a file cannot be read or written. Check"]),
        (ValueError(), ["ValueError without a message"]),
        (UnicodeEncodeError("utf-8", "\udc80", 0, 1, "surrogates not allowed"), ["UTF-8"]),
    ],
)
def test_messages_of_the_system_are_complete(error, parts):
    text, code = described(error)
    assert code == 1
    assert not text.endswith((": .", "]", ": "))
    assert "[Errno" not in text
    assert text.endswith((".", ")"))
    for part in parts:
        assert part in text


def test_json_on_standard_output_holds_odd_labels():
    app = typer.Typer()
    app.command()(lambda: print_json({"classes": ["a\udc80", "b"]}))
    done = CliRunner().invoke(app, [])
    assert json.loads(done.stdout)["classes"] == ["a\udc80", "b"]
