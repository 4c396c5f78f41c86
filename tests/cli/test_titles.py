"""Pages have a title with the name of what was read, also where it was piped in."""

import pytest
from typer.testing import CliRunner

from robustgc.cli.app import app

EDGES = "source,target\n" + "".join(
    f"{side}{i},{side}{j}\n" for side in "ab" for i in range(5) for j in range(i)
)
LABELS = "node,label\n" + "".join(f"a{i},red\nb{i},blue\n" for i in range(5))


@pytest.mark.parametrize(
    ("words", "page", "title"),
    [
        (["classify", "--report", "page.html", "-o", "x.csv"], "page.html", "Labels of {}"),
        (["audit", "--report", "page.html", "-o", "x.csv"], "page.html", "Doubtful labels of {}"),
        (
            ["compare", "--out", "c", "--sizes", "40", "--noise", "0", "--repeats", "1"],
            "c/index.html",
            "Models compared on {}",
        ),
    ],
)
@pytest.mark.parametrize("graph", ["-", "edges.csv"])
def test_titles_name_what_was_read(tmp_path, monkeypatch, words, page, title, graph):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "labels.csv").write_text(LABELS)
    words = [words[0], graph, "--labels", "labels.csv", *words[1:]]
    done = CliRunner().invoke(app, words, input=EDGES)
    assert done.exit_code == 0, done.output
    name = "standard input" if graph == "-" else "edges.csv"
    text = (tmp_path / page).read_text(encoding="utf-8")
    assert f"<title>{title.format(name)}" in text
