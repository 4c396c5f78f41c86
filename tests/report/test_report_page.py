"""The audit page: what it says, that nothing in it can break out, how it behaves in a browser."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pytest

import chromium
from robustgc.choice.candidates import Candidate
from robustgc.report.gather import Findings, Histogram, Picture, Suspect
from robustgc.report.page import render, summary
from robustgc.report.text import N_COLOURS, asset, fixed, number, script_json

HOSTILE = [
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "a & b \"c\" 'd'", "<!--",
    "line\u2028and\u2029paragraph", "\u202eright to left", "x" * 5000, "nul\x00 and \ud800", "",
]  # fmt: skip
SECTIONS = [
    "Certificate", "Class sizes", "Picture of the graph", "Decision values",
    "How the parameter was chosen", "Suspicious labels", "How to reproduce",
]  # fmt: skip


def a_picture(n, m, names, rng, classes=2):
    given = np.where(np.arange(n) < n // 10, rng.integers(0, classes, n), -1)
    suspicion = np.where(given >= 0, rng.random(n), np.nan)
    edges = rng.integers(0, n, (m, 2))
    answer = rng.integers(-1, classes, n)
    return Picture(rng.standard_normal((n, 2)), edges, names, given, answer, suspicion)


def full(n=60, m=120, names=None, classes=("left", "right"), suspects=30):
    rng = np.random.default_rng(31)
    names = names or [f"node {i}" for i in range(n)]
    members = [
        Candidate(q, eta, 0.0, False, 0.7 + 0.02 * q, 0.1, 1 / 8)
        for q in (1, 2)
        for eta in (0.1, 0.5, 0.9, None)
    ]
    worst = [
        Suspect(names[i % n], classes[0], classes[-1], float(s), float(1 - 2 * s), names[:2])
        for i, s in enumerate(rng.random(suspects))
    ]
    counts = np.full(len(classes), 3).tolist()
    return Findings(
        "Audit", n, classes, counts, m, 1, counts, 0.25, 3, 0.08, 0.07, 0.02, 120.0,
        3e-9, "krylov", a_picture(n, m, names, rng, len(classes)),
        Histogram(np.linspace(-2, 2, 21), rng.integers(1, 50, 20), len(classes) == 2),
        members, members[6], None, worst, "robustgc audit graph.csv", {"robustgc": "0.1.0"},
        {"layout": 7}, "2026-11-16",
    )  # fmt: skip


def hostile():
    names = [HOSTILE[i % len(HOSTILE)] for i in range(60)]
    return replace(
        full(names=names, classes=("</script>", "<b>&amp;")),
        title=HOSTILE[0], solver=HOSTILE[1], command="</pre><script>alert(3)</script>\nx & y",
        versions={HOSTILE[0]: HOSTILE[1]}, seeds={HOSTILE[2]: HOSTILE[3]}, date=HOSTILE[0],
    )  # fmt: skip


class Outline(HTMLParser):
    """The elements of a page, the text of the cells, and the text of every script."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.headings, self.open = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag == "script":
            self.scripts.append("")
        if tag in ("h1", "h2", "h3"):
            self.headings.append([tag, ""])

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "script" in self.open[-1:]:
            self.scripts[-1] += data
        if self.headings and self.headings[-1][0] in self.open:
            self.headings[-1][1] += data


def test_the_summary_is_one_sentence():
    found = Findings("t", 1222, ("a", "b"), (9, 3), n_components=1, predicted=(700, 510),
                     noise_rate=0.25, n_wrong=3)  # fmt: skip
    assert summary(found) == (
        "1222 nodes in 1 component, 12 labels of 2 classes: 1210 nodes were answered, 12 left "
        "without an answer; about 25 % of the labels look wrong: the 3 most suspicious."
    )
    assert summary(Findings("t", 1, ("a",), (1,))) == "1 node, 1 label of 1 class."
    assert summary(replace(found, noise_rate=float("nan"))).endswith("without an answer.")


def test_all_sections_are_there_in_order_and_named():
    page = render(full())
    outline = Outline(page)
    assert outline.headings == [["h1", "Audit"], *(["h2", text] for text in SECTIONS)]
    assert outline.tags[0] == ("html", {"lang": "en"})
    assert page.count("<table") == page.count("<caption>") == 3
    assert "The choice has 2 modes, eta = 0.9: it predicts 74 % of the labels" in page
    assert page.count('class="pick"') == 1
    for text in ("krylov", "robustgc audit graph.csv", "2026-11-16", "layout"):
        assert text in page


def test_what_is_missing_is_said():
    page = render(Findings("Audit", 6, ("a", "b"), (2, 1)))
    assert len(Outline(page).headings) == 8
    for text in ("not known", "nothing is drawn", "no decision values", "parameter was given.",
                 "not checked", "not recorded"):  # fmt: skip
        assert text in page
    assert "eta = 0.9." in render(Findings("Audit", 6, ("a",), (2,), eta=0.9))
    assert "No label is suspicious" in render(replace(full(), suspects=()))


NEEDED = ("title", "n_nodes", "classes", "given")


@pytest.mark.parametrize("field", [n for n in Findings.__dataclass_fields__ if n not in NEEDED])
def test_every_field_may_be_missing(field):
    default = Findings("Audit", 6, ("a", "b"), (2, 1))
    assert render(replace(full(), **{field: getattr(default, field)}))


def test_counts_may_be_arrays():
    found = full()
    same = replace(found, given=np.array(found.given), predicted=np.array(found.predicted))
    assert render(same) == render(found)


def test_values_that_are_not_finite():
    nan = float("nan")
    unknown = Candidate(1, 0.9, 0.0, False, nan, nan, 1.0)
    found = replace(
        full(), lambda_1=nan, condition_bound=float("inf"), noise_rate=nan,
        suspects=[Suspect("a", "b", "c", nan, nan), Suspect("d", "b", "c", 0.2, nan)],
        candidates=[unknown], best=unknown,
    )  # fmt: skip
    page = render(found)
    assert "unbounded" in page
    assert page.index("<bdi>d</bdi>") < page.index("<bdi>a</bdi>")  # what is unknown comes last
    assert (number(-2e-9), fixed(-0.0001), fixed(None)) == (
        "&minus;2.00 &times; 10<sup>&minus;9</sup>", "0.00", "&ndash;")  # fmt: skip


def test_hostile_text_stays_text():
    page = render(hostile())
    page.encode("utf-8")
    outline = Outline(page)
    assert "img" not in [tag for tag, _ in outline.tags]
    assert [attrs.get("type") for tag, attrs in outline.tags if tag == "script"] == [
        "application/json", None]  # fmt: skip
    assert not [a for _, attrs in outline.tags for a in attrs if a.startswith("on")]
    data = json.loads(outline.scripts[0])
    assert data["n"][:2] == HOSTILE[:2]
    assert data["classes"] == ["</script>", "<b>&amp;"]
    assert len(data["n"][6]) == 120
    assert not re.search("[<>&\u2028\u2029]", outline.scripts[0])
    assert script_json("</script>") == '"\\u003c/script\\u003e"'


def test_nothing_is_loaded_from_elsewhere():
    page = render(full())
    assert not re.search(r"https?:|//[a-z]|url\(|@import|\ssrc=|<link|<iframe", page)
    policy = next(a["content"] for t, a in Outline(page).tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_the_size_is_bounded_by_what_is_drawn():
    names = [f"a rather long name of node number {i}" for i in range(3000)]
    page = render(replace(full(3000, 10_000, names, suspects=20_000), n_nodes=100_000))
    assert len(page.encode()) < 1_000_000
    assert "a sample of 3000 nodes, 10\u202f000 edges" in page
    longest = render(replace(full(3000, 10_000, ["&" * 500] * 3000, suspects=20_000)))
    assert len(longest.encode()) < 5_000_000


def test_the_worst_labels_come_first_and_only_500_are_shown():
    page = render(full(suspects=720))
    assert "220 less suspicious ones are not" in page
    rows = page[page.index('<table id="suspects"') :].split("<tr>")[2:]
    shown = [float(re.search(r'data-value="([^"]+)"', row)[1]) for row in rows]
    assert shown == sorted(shown, reverse=True)
    assert len(shown) == 500
    assert page.count('<td class="name">') == 500
    assert page.count('aria-sort="descending"') == 1


def test_many_classes_take_the_colours_again_in_another_shape():
    page = render(full(classes=tuple(f"class {k}" for k in range(30))))
    legend = page[page.index('aria-label="Classes"') :]
    first, eleventh = (legend[: legend.index(f"class {k}<")].rsplit("<svg", 1)[1] for k in (0, 10))
    assert "<circle" in first
    assert "<polygon" in eleventh
    assert "and 6 more classes" in legend
    assert "100 smaller classes" in render(full(classes=tuple(map(str, range(300)))))


def test_both_modes_have_every_colour():
    modes = asset("page.css").split("prefers-color-scheme: dark")
    wanted = [f"--c{k}" for k in range(N_COLOURS)]
    assert [re.findall(r"(--c\d+): #", mode) for mode in modes] == [wanted, wanted]


def test_every_asset_says_what_it_is_for_and_the_page_does_not():
    for path in (resources.files("robustgc.report") / "assets").iterdir():
        head, _, text = path.read_text(encoding="utf-8").partition("*/\n")
        assert head.startswith("/* "), path.name
        assert asset(path.name) == text != "", path.name


@pytest.fixture(scope="module")
def browser():
    if chromium.PROGRAM is None:
        pytest.skip("Chromium is not installed: pages are not opened in a browser")
    with chromium.Browser() as opened:
        yield opened


def written(folder, found):
    path = folder / "audit.html"
    path.write_text(render(found), encoding="utf-8")
    return path


PAGES = {
    "full": full,
    "hostile": hostile,
    "large": lambda: full(3000, 10_000, suspects=500),
    "long": lambda: full(classes=("word" * 40, "b" * 300)),
    "missing": lambda: Findings("Audit", 6, ("a", "b"), (2, 1)),
}


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_in_a_browser_nothing_is_asked_for_and_nothing_overflows(name, browser, tmp_path):
    path = written(tmp_path, PAGES[name]())
    for width, scheme in ((390, "light"), (1280, "dark")):
        browser.open(path, width, scheme=scheme)
        assert browser.requests() == [path.as_uri()]
        assert browser.complaints() == []
        assert browser.run("innerWidth") == width
        assert browser.run("document.documentElement.scrollWidth") == width


@pytest.mark.browser
def test_in_a_browser_the_table_is_sorted_and_filtered(browser, tmp_path):
    browser.open(written(tmp_path, full()))
    column = (
        "[...document.querySelectorAll('#suspects tbody tr:not([hidden])')].map(r => r.cells[{}]"
    )
    numbers = column.format(3) + ".dataset.value * 1)"
    assert browser.run(numbers) == sorted(browser.run(numbers), reverse=True)
    browser.run("document.querySelectorAll('#suspects th button')[3].focus()")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                     windowsVirtualKeyCode=13)  # fmt: skip
    assert browser.run(numbers) == sorted(browser.run(numbers))
    state = "[...document.querySelectorAll('#suspects th')].map(h => h.ariaSort)"
    assert browser.run(state) == [None, None, None, "ascending", None, None]
    browser.run("document.querySelectorAll('#suspects th button')[0].click()")
    names = [int(text.split()[1]) for text in browser.run(column.format(0) + ".textContent)")]
    assert names == sorted(names)
    browser.run("{const f = document.getElementById('filter'); f.value = 'Node 17';"
                "f.dispatchEvent(new Event('input'))}")  # fmt: skip
    assert browser.run(column.format(0) + ".textContent)") == ["node 17"]
    assert browser.run("document.getElementById('shown').textContent") == "1 of 30 rows"
    assert browser.complaints() == []


@pytest.mark.browser
def test_in_a_browser_a_node_tells_its_name(browser, tmp_path):
    browser.open(written(tmp_path, hostile()), 390)
    tip = "document.getElementById('tip')"
    assert browser.run(f"{tip}.hidden")
    browser.run("document.getElementById('picture').focus()")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", code="ArrowRight")
    text = browser.run(f"{tip}.textContent")
    assert "suspicion: " in text
    assert any(text.startswith(name) for name in HOSTILE if name)
    assert browser.run(f"{tip}.children.length") == 0
    assert browser.run("document.documentElement.scrollWidth") == 390
    assert browser.complaints() == []


@pytest.mark.browser
def test_the_browser_would_notice(browser, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text(
        "<meta name=viewport content='width=device-width'><img src='http://example.invalid/x.png'>"
        "<div style='width:700px'>wide</div><script>missing()</script>",
        encoding="utf-8",
    )
    browser.open(path, 390)
    assert len(browser.requests()) == 2
    assert len(browser.complaints()) >= 2
    assert browser.run("document.documentElement.scrollWidth") > 390


@pytest.mark.browser
def test_an_injected_script_would_not_run(browser, tmp_path):
    path = written(tmp_path, full())
    page = path.read_text(encoding="utf-8")
    path.write_text(page.replace("</main>", "<script>document.title = 'ran'</script></main>"))
    browser.open(path)
    assert browser.run("document.title") == "Audit"
