"""The audit page: what was found in a graph and its labels, in one HTML file without network."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from robustgc.report.charts import choice, decisions
from robustgc.report.gather import Findings, Suspect
from robustgc.report.pictures import mark, picture
from robustgc.report.text import (
    N_COLOURS,
    asset,
    count,
    document,
    fixed,
    known,
    name,
    number,
    plain,
    safe,
    table,
    whole,
)

_NOTE = 1000  # letters of a note
MOST_ROWS = 500
_MOST_CLASSES = 200
_COMMAND = 20_000  # characters

_CAPTION = (
    "Suspicion: the probability that the label is wrong. Margin, from &minus;1 to 1: the value "
    "that the other labels give its class, less the value of the best other class."
)
_WORDS = (
    ("lambda_1", "λ<sub>1</sub>", "How well the graph is connected: near 0, almost in two."),
    ("gamma", "gamma", "How much labels count against smoothness over the graph."),
    ("eigengap", "Eigengap", "The step to the next eigenvalue: the wider, the clearer the groups."),
    ("condition_bound", "Condition bound", "How much the solve can magnify an error, at most."),
    ("residual", "Residual", "What is left over when the answer is put into its equations."),
)


def render(findings: Findings) -> str:
    """Return the page as HTML: one file, readable without network.

    Examples
    --------
    >>> from robustgc.report.page import render
    >>> from robustgc.report.gather import Findings
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
    text += f", {count(int(sum(f.given)), 'label')} of {count(len(f.classes), 'class', 'classes')}"
    if f.predicted is not None:
        answered = int(sum(f.predicted))
        text += f": {count(answered, 'node was', 'nodes were')} answered"
        text += f", {whole(f.n_nodes - answered)} left without an answer"
    if f.noise_rate is not None and known(f.noise_rate):
        text += f"; about {100 * f.noise_rate:.0f} % of the labels look wrong"
        if f.n_wrong:
            text += f": the {whole(f.n_wrong)} most suspicious"
    return text + "."


def certificate(findings: Findings) -> str:
    """Return the evidence that the answer solves its problem."""
    items = "".join(
        f'<div><dt>{title}</dt><dd class="value">{number(getattr(findings, field))}</dd>'
        f"<dd>{words}</dd></div>"
        for field, title, words in _WORDS
    )
    solver = name(findings.solver) if findings.solver else "not known"
    items += f'<div><dt>Solver</dt><dd class="value">{solver}</dd><dd>The method in use.'
    return f'<h2>Certificate</h2><dl class="certificate">{items}</dd></div></dl>'


def class_sizes(findings: Findings) -> str:
    """Return how many labels and how many nodes every class has."""
    given, predicted = findings.given, findings.predicted
    order = list(range(len(findings.classes)))
    if len(order) > _MOST_CLASSES:
        sizes = given if predicted is None else predicted
        order = sorted(order, key=lambda k: -sizes[k])[:_MOST_CLASSES]
    answered = () if predicted is None else predicted
    longest = max(_shares(given) + _shares(answered), default=1.0) or 1.0
    rows = "".join(_class_row(findings, k, longest) for k in order)
    left = len(findings.classes) - len(order)
    more = f"<p>{left} smaller classes are not shown.</p>" if left else ""
    caption = "Bars compare shares: outlined of the given labels, filled of the answer."
    heads = (
        '<th scope="col">class</th><th scope="col" class="number">labels</th>'
        '<th scope="col" class="number">answer</th><th scope="col">shares</th>'
    )
    sizes_table = table("Class sizes", caption, heads, rows, ' class="sizes"')
    return f"<h2>Class sizes</h2>{sizes_table}{more}"


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts) or 1
    return [amount / total for amount in counts]


def _class_row(findings: Findings, k: int, longest: float) -> str:
    given, predicted = findings.given, findings.predicted
    colour = f"var(--c{k % N_COLOURS})"
    width = 100 * _shares(given)[k] / longest
    bars = f'<span class="bar hollow" style="width:{width:.1f}%;border-color:{colour}"></span>'
    if predicted is not None:
        width = 100 * _shares(predicted)[k] / longest
        bars += f'<span class="bar" style="width:{width:.1f}%;background:{colour}"></span>'
    answer = "not known" if predicted is None else whole(int(predicted[k]))
    return (
        f'<tr><th scope="row"><span class="class">{mark(k)}{name(findings.classes[k])}</span></th>'
        f'<td class="number">{whole(int(given[k]))}</td><td class="number">{answer}</td>'
        f'<td class="bars">{bars}</td></tr>'
    )


def suspicious(findings: Findings) -> str:
    """Return the table of given labels, the worst first; of very many the worst only."""
    title = "<h2>Suspicious labels</h2>"
    if findings.suspects is None:
        return title + "<p>The labels were not checked.</p>"
    if not findings.suspects:
        return title + "<p>No label is suspicious.</p>"
    worst = sorted(findings.suspects, key=_rank)
    reviewed = any(suspect.reviewed for suspect in worst)
    left = len(worst) - MOST_ROWS
    note = "Every label is judged by the others, while it is left out itself."
    if left > 0:
        note = f"The {MOST_ROWS} most suspicious labels are shown, {whole(left)} less suspicious "
        note += "ones are not."
    if reviewed:
        note += " Labels that a person has reviewed stand last."
    kinds = (
        ("node", "text"), ("given", "text"), ("suggested", "text"), ("suspicion", "number"),
        ("margin", "number"), ("evidence", "text"), *([("reviewed", "text")] if reviewed else []),
    )  # fmt: skip
    heads = "".join(
        f'<th scope="col" data-kind="{kind}"'
        + (' class="number"' if kind == "number" else "")
        + (' data-first="descending"' if text == "suspicion" else "")
        + (' aria-sort="descending"' if text == "suspicion" and not reviewed else "")
        + f'><button type="button">{text}</button></th>'
        for text, kind in kinds
    )
    rows = "".join(_suspect_row(suspect, reviewed) for suspect in worst[:MOST_ROWS])
    return (
        f"{title}<p>{note} Evidence: the labelled nodes that speak most against a label.</p>"
        '<div class="tools" hidden><label>Filter <input id="filter" type="search" '
        'autocomplete="off" spellcheck="false"></label><span id="shown" class="soft" role="status">'
        "</span></div>" + table("Suspicious labels", _CAPTION, heads, rows, ' id="suspects"')
    )


def _rank(suspect: Suspect) -> tuple[bool, float]:
    """Return what the table is sorted by: reviewed labels last, else the worst first."""
    return suspect.reviewed, 1.0 if math.isnan(suspect.suspicion) else -suspect.suspicion


def _suspect_row(s: Suspect, reviewed: bool) -> str:
    likely = ' class="number likely"' if s.suspicion > 0.5 else ' class="number"'
    witnesses = ", ".join(name(witness) for witness in s.evidence) or "&ndash;"
    return (
        f'<tr><td class="name">{name(s.node)}</td><td>{name(s.given)}</td>'
        f"<td>{name(s.suggested)}</td>"
        f'<td{likely} data-value="{_key(s.suspicion)}">{fixed(s.suspicion)}</td>'
        f'<td class="number" data-value="{_key(s.margin)}">{fixed(s.margin)}</td>'
        f'<td class="evidence">{witnesses}</td>'
        + f"<td>{'yes' if s.reviewed else ''}</td>" * reviewed
        + "</tr>"
    )


def _key(value: float) -> str:
    """Return what a column is sorted by; empty, and last, if there is nothing."""
    return f"{value:.6g}" if known(value) else ""


def reproduce(findings: Findings) -> str:
    """Return what it takes to get the same page again."""
    command = findings.command
    lines = (
        f'<pre tabindex="0" aria-label="Command"><code>{safe(command, _COMMAND)}</code></pre>'
        if command
        else "<p>The command was not recorded.</p>"
    )
    pairs = "".join(
        f"<dt>{text}</dt><dd>{value}</dd>"
        for text, value in (
            ("Versions", _listed(findings.versions)),
            ("Seeds", _listed(findings.seeds)),
            ("Date", name(findings.date) if findings.date else "not recorded"),
            *([("Run", name(findings.run))] if findings.run else []),
        )
    )
    return f'<h2>How to reproduce</h2>{lines}<dl class="pairs">{pairs}</dl>'


def _listed(values: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name(key)} {name(plain(value))}" for key, value in values.items())
    return text or "not recorded"


_SECTIONS = {
    "certificate": certificate,
    "classes": class_sizes,
    "drawing": picture,
    "decisions": decisions,
    "choice": choice,
    "labels": suspicious,
    "reproduce": reproduce,
}
