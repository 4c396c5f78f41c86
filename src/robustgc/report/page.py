"""The audit page: what was found in a graph and its labels, in one HTML file without network."""

from robustgc.report.charts import choice, decisions
from robustgc.report.findings import Findings
from robustgc.report.pictures import picture
from robustgc.report.tables import certificate, class_sizes, reproduce, suspicious
from robustgc.report.text import asset, count, document, known, safe, whole

_NOTE = 1000  # letters of a note
_SECTIONS = {
    "certificate": certificate,
    "classes": class_sizes,
    "drawing": picture,
    "decisions": decisions,
    "choice": choice,
    "labels": suspicious,
    "reproduce": reproduce,
}


def render(findings: Findings) -> str:
    """Return the page as HTML: one file, readable without network.

    Examples
    --------
    >>> from robustgc.report.page import render
    >>> from robustgc.report.findings import Findings
    >>> page = render(Findings("Two blocks", 6, ("a", "b"), (2, 1)))
    >>> page.startswith("<!doctype html>"), "6 nodes, 3 labels" in page
    (True, True)
    """
    sections = "\n".join(
        f'<section id="{key}">{write(findings)}</section>' for key, write in _SECTIONS.items()
    )
    body = f"{_notes(findings)}\n{sections}"
    return document(findings.title, summary(findings), body, script=asset("fit.js"))


def _notes(findings: Findings) -> str:
    """Return what was decided while the input was read, as a list."""
    rows = "".join(f"<li><bdi>{safe(note, _NOTE)}</bdi></li>" for note in findings.notes)
    return f'<ul class="soft" id="notes">{rows}</ul>' if rows else ""


def summary(findings: Findings) -> str:
    """Return the findings in one sentence."""
    f = findings
    text = count(f.n_nodes, "node")
    if f.n_components is not None:
        text += f" in {count(f.n_components, 'component')}"
    labels = sum(int(amount) for amount in f.given)
    text += f", {count(labels, 'label')} of {count(len(f.classes), 'class', 'classes')}"
    if f.n_answered is not None:
        text += f": {count(f.n_answered, 'node was', 'nodes were')} answered"
        if f.n_unanswered is not None:
            text += f", {whole(f.n_unanswered)} left without an answer"
    if f.noise_rate is not None and known(f.noise_rate):
        text += f"; about {100 * f.noise_rate:.0f} % of the labels look wrong"
        if f.n_wrong:
            text += f": the {whole(f.n_wrong)} most suspicious"
    return text + "."
