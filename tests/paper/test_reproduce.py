"""The whole reproduction at small size: every claim judged, every figure drawn, one page."""

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

from robustgc.cli.app import app
from robustgc.paper import claims, reproduce
from robustgc.paper.figures import FIGURES

RUN = CliRunner()
pytestmark = pytest.mark.slow

# Claims with margins wide enough to hold at six repeats; the others are judged, not asserted.
SURE = [
    "ZhouGC (with gamma = 1) is truly a regression model",
    "BelkGC (p = 2) fits much better",
    "The flipped label pushes",
    "RobustGC (eta = 0.5) clearly splits",
    "RobustGC is only slightly affected",
    "The condition number is at most",
    "In order to have a reasonable condition number",
    "As the bandwidth of the kernel is extended",
    "... but the classification becomes less precise",
    "Low connectivity: RobustGC is able",
    "Low connectivity: these two models outperform",
    "High connectivity: BelkGC is again worse",
    "... and for all the sizes in the cases of karate",
    "RobustGC has the most stable behaviour",
    "BelkGC presents the sharpest plot",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, usps):
    out = tmp_path_factory.mktemp("reproduction")
    result = RUN.invoke(
        app, ["reproduce", "--repeats", "6", "--jobs", "2", "--out", str(out),
              "--csv", str(out / "mine.csv")],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert f"Open {out / 'index.html'}" in result.stdout
    return out


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_claim_is_judged_with_numbers(folder):
    rows = rows_of(folder / "data" / "claims.csv")
    assert len(rows) == len(claims.CLAIMS) >= 25
    assert {r["verdict"] for r in rows} <= {"holds", "does not hold"}
    assert all(re.search(r"\d|none", r["numbers"]) for r in rows)
    assert {r["section"] for r in rows} == {"3.1", "3.2", "3.3", "4.1", "4.2", "4.3"}


@pytest.mark.parametrize("start", SURE)
def test_claim_holds_at_small_size(folder, start):
    rows = rows_of(folder / "data" / "claims.csv")
    (row,) = [r for r in rows if r["sentence"].startswith(start)]
    assert row["verdict"] == "holds", row["numbers"]


def test_table_in_the_papers_columns(folder):
    rows = rows_of(folder / "mine.csv")
    assert list(rows[0]) == ["dataset", "percent_labelled", "n_labelled", "model",
                             "accuracy_mean", "accuracy_std", "rank"]  # fmt: skip
    assert len(rows) == 132


def test_every_figure_is_drawn_as_png_and_svg(folder):
    for name in FIGURES:
        assert (folder / "figures" / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (folder / "figures" / f"{name}.svg").read_text()[:600]


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("src", "href", "srcset")]
        assert tag not in ("script", "link", "iframe")


def test_the_page_needs_no_network(folder):
    text = (folder / "index.html").read_text()
    links = Links()
    links.feed(text)
    assert len(links.found) == len(FIGURES)
    assert all(link.startswith("data:image/png;base64,") for link in links.found)
    assert "url(" not in text.split("</style>")[0]
    for word in ("Table 1", "What the paper claims", "How long it took", "digits49-s", "paper"):
        assert word in text


@pytest.mark.browser
@pytest.mark.skipif(not shutil.which("chromium"), reason="no Chromium on this machine")
def test_a_real_browser_shows_the_page(folder, tmp_path):
    picture = tmp_path / "page.png"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}",
             "--window-size=1000,2000", f"--screenshot={picture}"]  # fmt: skip
    page = (folder / "index.html").as_uri()
    subprocess.run(["chromium", *flags, page], capture_output=True, timeout=120, check=True)
    assert picture.stat().st_size > 50_000


def test_the_page_says_what_it_rests_on(folder):
    text = (folder / "index.html").read_text()
    assert "Repeats: digits49-s 6, digits49-w 6, karate 6" in text
    assert "seed 7. The paper has 20." in text


def test_rank_claims_are_not_judged_where_the_test_cannot_fail(tmp_path):
    arguments = ["reproduce", "table1", "--datasets", "karate,polbooks,polblogs", "--repeats", "3"]
    assert RUN.invoke(app, [*arguments, "--out", str(tmp_path)]).exit_code == 0
    rows = rows_of(tmp_path / "data" / "claims.csv")
    (row,) = [r for r in rows if r["sentence"].startswith("... and for all the sizes")]
    assert row["verdict"] == "not run"
    assert "fewer than 6 repeats" in row["numbers"]


def test_list_and_wrong_names():
    listed = RUN.invoke(app, ["reproduce", "--list"]).stdout
    assert all(part in listed for part in reproduce.PARTS)
    bad = RUN.invoke(app, ["reproduce", "table2"])
    assert bad.exit_code == 2
    assert "part 'table2' is unknown; choose from losses" in bad.stderr
    bad = RUN.invoke(app, ["reproduce", "table1", "--datasets", "karate,cora"])
    assert bad.exit_code == 2
    assert "data set 'cora' is unknown" in bad.stderr


def test_bad_places_are_refused_before_any_work(tmp_path):
    bad = RUN.invoke(app, ["reproduce", "losses", "--csv", str(tmp_path / "no" / "t.csv"),
                           "--out", str(tmp_path / "out")])  # fmt: skip
    assert bad.exit_code == 1
    assert "is not a folder" in bad.stderr
    assert not (tmp_path / "out").exists()
    bad = RUN.invoke(app, ["reproduce", "losses", "--csv", str(tmp_path)])
    assert bad.exit_code == 1
    assert "is a folder" in bad.stderr
    (tmp_path / "file").write_text("mine")
    bad = RUN.invoke(app, ["reproduce", "losses", "--out", str(tmp_path / "file")])
    assert bad.exit_code == 1
    assert "--out" in bad.stderr
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.usefixtures("no_usps")
def test_without_the_digits_the_rest_runs_and_says_so(tmp_path):
    arguments = ["reproduce", "losses", "table1", "outofsample", "--repeats", "2",
                 "--datasets", "digits49-s,karate", "--out", str(tmp_path)]  # fmt: skip
    result = RUN.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "data not on this machine" in result.stderr
    assert "usps49.npz" in result.stderr
    text = (tmp_path / "index.html").read_text()
    assert "data not on this machine" in text
    assert "karate" in text
    verdicts = {r["sentence"]: r["verdict"] for r in rows_of(tmp_path / "data" / "claims.csv")}
    assert "not run" in verdicts.values()


def test_a_run_stopped_by_ctrl_c_goes_on_where_it_was(tmp_path):
    command = [
        sys.executable,
        "-c",
        "from robustgc.cli import main; main()",
        "reproduce",
        "table1",
        "--datasets",
        "polbooks,karate",
        "--repeats",
        "40",
        "--out",
        str(tmp_path),
    ]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
    trials = tmp_path / "data" / "table1-trials.csv"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (trials.is_file() and trials.stat().st_size > 1e5):
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "run again to go on" in errors
    kept = len({r["trial"] for r in rows_of(trials) if r["of"]})
    assert 0 < kept < 360
    again = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "Open" in again.stdout
    assert len({r["trial"] for r in rows_of(trials)}) == 360


def test_a_partial_run_keeps_what_others_computed(tmp_path):
    for dataset in ("karate", "polbooks"):
        arguments = ["reproduce", "table1", "--datasets", dataset, "--repeats", "2"]
        assert RUN.invoke(app, [*arguments, "--out", str(tmp_path)]).exit_code == 0
    cells = rows_of(tmp_path / "data" / "table1.csv")
    assert {r["dataset"] for r in cells} == {"karate", "polbooks"}
    kept = [r for r in cells if r["dataset"] == "karate"]
    arguments = ["reproduce", "table1", "--datasets", "polbooks", "--repeats", "3"]
    mine = tmp_path / "mine.csv"
    RUN.invoke(app, [*arguments, "--out", str(tmp_path), "--csv", str(mine)])
    cells = rows_of(tmp_path / "data" / "table1.csv")
    assert [r for r in cells if r["dataset"] == "karate"] == kept
    assert {r["dataset"] for r in rows_of(mine)} == {"polbooks"}
