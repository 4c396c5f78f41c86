"""The fuzzer: it stays alive, repeats itself, and would notice what must not be."""

import numpy as np
import pytest

from robustgc import HarmonicGC, RobustGC
from samples import CLIQUES, Y_CLIQUES
from tests.fuzz import answers, runner, verdict, worker
from tests.fuzz.answers import Asked
from tests.fuzz.verdict import BrokenError
from tests.fuzz.watch import FAILED, Watch

SEED = 8117
EACH_ONCE = 1019  # the first eight faults of this seed are all that there are


@pytest.mark.parametrize("kind", worker.KINDS)
def test_a_few_cases_of_every_kind_run(kind):
    tally = runner.run([kind], SEED, 120.0, lambda found: None, most=40)
    assert tally.cases[kind] == 40
    assert tally.answers >= 8
    assert tally.refusals > 5
    assert not [cause for cause in tally.found if "exit code" in cause]  # the harness itself


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", worker.KINDS)
def test_a_case_depends_on_its_number_only(kind):
    programs = [worker.made(kind, SEED, k).program() for k in range(40)]
    assert programs == [worker.made(kind, SEED, k).program() for k in range(40)]
    assert len(set(programs)) > 35
    for text in programs:
        if "object at 0x" not in text:  # which no source gives again
            compile(text.encode("utf-8", "replace"), "case", "exec")


@pytest.mark.slow
def test_every_fault_is_seen(monkeypatch):
    monkeypatch.setattr(runner, "PATIENCE", 5.0)
    tally = runner.run(["faults"], EACH_ONCE, 100.0, lambda found: None, most=8)
    causes = "\n".join(tally.found)
    for part in ["ended by SIGSEGV", "took too long", "too much memory", "KeyError at",
                 "ValueError at", "something does not hold", "RuntimeWarning at"]:  # fmt: skip
        assert part in causes
    assert len(tally.found) == 7


def test_the_command_repeats_a_case_and_says_what_it_found(capsys):
    from tests.fuzz.__main__ import main

    numbers = {worker.made("faults", SEED, k).program(): str(k) for k in range(40)}
    again = ["--kind", "faults", "--seed", str(SEED), "--case"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "KINDS", ["faults"])
        assert main([*again, numbers["Fine()"]]) == 0
        assert main([*again, numbers["Ugly()"]]) == 1
    said = capsys.readouterr().out
    assert "Ugly()" in said
    assert "ValueError: no sentence" in said


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("eta=3 is not allowed; it must be 'auto'.", None),
        ("Use text (or 'numbers.')", None),
        ("", "empty"),
        ("x" * 2001 + ".", "2002 characters"),
        ("no sentence", "does not end as a sentence"),
        ("Unable to allocate 7 GiB.", "memory was asked for"),
        (f"The label {'y' * 201} is odd.", "more than 200 characters"),
        (f"The label {'y' * 200} is odd.", None),
    ],
)
def test_messages(message, wrong):
    found = verdict.of_message(message, ["y" * 5000, "short"])
    assert (found is None) if wrong is None else (wrong in found)


@pytest.mark.parametrize(
    "error",
    [
        AttributeError("x."), IndexError("x."), KeyError("x"), AssertionError(),
        RecursionError("x."),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), np.linalg.LinAlgError("x."),
        np._core._exceptions._ArrayMemoryError((9,), np.dtype(float)), ValueError(), OSError("x"),
    ],
)  # fmt: skip
def test_exceptions_that_are_findings(error):
    def fails():
        raise error

    watch = Watch()
    assert watch("step", fails) is FAILED
    assert len(watch.findings) == 1


@pytest.mark.parametrize(
    "error",
    [ValueError("Give two."), MemoryError("Too large."), FileNotFoundError(2, "no", "file")],
)
def test_exceptions_that_are_fine(error):
    def fails():
        raise error

    watch = Watch()
    watch("step", fails)
    assert not watch.findings


class Case:
    """What the checks need to know of a call."""

    graph, more, plain, X, y = True, {}, CLIQUES, CLIQUES, Y_CLIQUES

    def __init__(self, **options):
        self.options = {"affinity": "precomputed", **options}


def asked(estimator=RobustGC, **options):
    case = Case(**options)
    return Asked(case, estimator(**case.options).fit(case.X, case.y), [])


def spoil(name, place, value):
    def change(clf):
        changed = getattr(clf, name).copy()
        changed[place] = value
        setattr(clf, name, changed)

    return change


WRONG = [
    (spoil("f_", 2, np.nan), "NaN in f_"),
    (spoil("f_", 2, np.inf), "infinity in f_"),
    (spoil("f_", 2, 5.0), "the class is not that of f_"),
    (spoil("transduction_", 2, 7), "neither a class nor the marker"),
    (spoil("transduction_", 2, -1), "no class"),
    (spoil("transduction_", 2, 1), "the class is not that of f_"),
    (spoil("reasons_", 2, "because"), "an unknown reason"),
    (lambda clf: setattr(clf, "f_", clf.f_[:-1]), "f_ has another shape"),
    (lambda clf: setattr(clf, "residual_", 0.1), "residual_ above tol without a word"),
    (lambda clf: setattr(clf, "residual_", np.nan), "residual_ is not finite"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_wrong_answers_are_noticed(change, message):
    found = asked(eta=0.5, n_modes=1)
    answers.fitted(found)
    change(found.clf)
    with pytest.raises(BrokenError, match=message):
        answers.fitted(found)


@pytest.mark.parametrize("estimator", [RobustGC, HarmonicGC])
def test_an_answer_that_is_not_the_formula_s(estimator):
    options = {"eta": 0.5, "n_modes": 1} if estimator is RobustGC else {}
    found = asked(estimator, **options)
    answers.formula(found, None)
    found.clf.f_ = found.clf.f_ * 1.001
    with pytest.raises(BrokenError, match="not the formula's"):
        answers.formula(found, None)


def test_answers_that_differ_between_containers():
    a, b = asked(eta=0.5, n_modes=1).clf, asked(eta=0.5, n_modes=1).clf
    answers.agree(a, b, 1e-6, "sparse")
    b.f_ = b.f_ + 1e-3
    with pytest.raises(BrokenError, match="f_ differs"):
        answers.agree(a, b, 1e-6, "sparse")
    b.f_, b.transduction_ = a.f_, a.transduction_[::-1]
    with pytest.raises(BrokenError, match="labels differ"):
        answers.agree(a, b, 1e-6, "sparse")


def test_probabilities_that_are_none():
    for P in [np.full((2, 2), 0.4), np.array([[np.nan, 1.0]] * 2), np.array([[2.0, -1.0]] * 2)]:
        with pytest.raises(BrokenError, match="probabilities"):
            answers._probable(P, 2, 2)


def test_generated_graphs_are_what_they_claim():
    from tests.fuzz import graphs as generated

    for k in range(60):
        W = generated.weights(np.random.default_rng([SEED, k]))
        assert W.shape[0] == W.shape[1] >= 2
        assert np.isfinite(W).all()
        assert (W >= 0).all()
        assert (W == W.T).all()
