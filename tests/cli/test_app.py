import os
import re
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from robustgc.cli.app import app
from robustgc.paper import demo

RUN = CliRunner()


def test_demo_prints_what_it_promises():
    result = RUN.invoke(app, ["demo"])
    assert result.exit_code == 0, result.output
    text = result.stdout
    assert "polblogs: 1222 blogs, 16714 links, 12 labels of which 3 are wrong" in text
    accuracy = dict(re.findall(r"^  (\w+)[^\n]*?(\d+\.\d) %", text, flags=re.MULTILINE))
    assert set(accuracy) == {"LabelSpreading", "ZhouGC", "BelkinGC", "RobustGC"}
    assert float(accuracy.pop("RobustGC")) > max(map(float, accuracy.values()))
    assert re.search(r"lambda_1 = 0.08143.*about \d+% of the labels look wrong", text)
    assert re.search(r"RobustGC disagrees with \d+ of\s+12", text)
    assert len(text.splitlines()) < 25


def test_demo_flips_what_it_says_and_judges_labels_unseen():
    found = demo.run(n_labels=12, n_wrong=3, seed=7)
    wrong = [row for row in found.issues if row.given != found.data.labels[row.node]]
    assert len(found.issues) == 12
    assert len(wrong) == 3
    caught = [row for row in wrong if row.suggested != row.given]
    assert len(caught) >= 2
    assert found.accuracy["RobustGC"] > 0.9


def test_other_numbers_and_bad_ones():
    result = RUN.invoke(app, ["demo", "--labels", "40", "--wrong", "10", "--seed", "11"])
    assert "40 labels of which 10 are wrong" in result.stdout
    bad = RUN.invoke(app, ["demo", "--labels", "5", "--wrong", "9"])
    assert bad.exit_code == 1
    assert "9 of 5 labels cannot be flipped" in bad.stderr
    assert bad.stdout == ""
    for wrong in (["--labels", "many"], ["--labels", "1222"], ["--wrong", "-1"], ["--seed", "-1"]):
        assert RUN.invoke(app, ["demo", *wrong]).exit_code == 2


def test_output_that_cannot_hold_blocks_gets_ascii():
    done = subprocess.run(
        [sys.executable, "-c", "from robustgc.cli import main; main()", "demo"],
        capture_output=True, check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    )  # fmt: skip
    assert b"#####" in done.stdout


def test_version_and_help():
    assert RUN.invoke(app, ["--version"]).stdout.strip() == f"robustgc {version('robustgc')}"
    assert "demo" in RUN.invoke(app, ["--help"]).stdout


@pytest.mark.parametrize("arguments", [["--version"], ["demo", "--help"]])
def test_installed_script(arguments):
    code = "from robustgc.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout
    assert not done.stderr
