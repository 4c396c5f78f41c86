"""The outcome of a comparison and its page: who is best where, in one HTML file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from robustgc.compare.trials import Cell, Trial
from robustgc.graph.atomic import together
from robustgc.io.opening import replacing
from robustgc.io.writing import write_table
from robustgc.paper.stats import FEWEST
from robustgc.report.charts import plot, steps
from robustgc.report.gather import Findings, installed
from robustgc.report.page import reproduce
from robustgc.report.text import (
    N_COLOURS,
    asset,
    count,
    document,
    fixed,
    known,
    name,
    safe,
    table,
    whole,
)

FILES = ("trials.csv", "summary.csv", "index.html")
WORDS = {
    "RobustGC": "nothing to tune: candidates weighed by how well they predict labels left out",
    "PF-RobustGC": "the paper's parameter-free model, eta = 0.9 and one mode",
    "ZhouGC": "Zhou et al., gamma = 1",
    "BelkinGC": "Belkin and Niyogi, eigenvectors chosen by leave-one-out",
    "HarmonicGC": "Zhu, Ghahramani and Lafferty: every node is the mean of its neighbours",
    "PoissonGC": "Calder et al.: labels as sources and sinks",
    "LabelSpreading": "that of scikit-learn, with the same neighbours or kernel width",
}
_DASHES = ("", "6 3", "2 3", "9 3 2 3", "1 2", "12 4", "6 2 1 2 1 2")  # told apart without colour


@dataclass(frozen=True)
class Comparison:
    """The outcome of `compare`."""

    trials: tuple[Trial, ...]
    cells: tuple[Cell, ...]
    n_nodes: int
    n_counted: int  # nodes with a true label
    classes: tuple[str, ...]
    repeats: int
    seed: int
    notes: tuple[str, ...] = ()  # on what was read, and on label sizes that were left out

    @property
    def failures(self) -> tuple[tuple[str, str, int], ...]:
        """Model, reason and number of the trials that failed."""
        counts = Counter((t.model, t.reason) for t in self.trials if t.reason)
        return tuple((model, reason, count) for (model, reason), count in counts.items())

    def sentence(self) -> str:
        """Say who is best."""
        return summary(self.cells)

    def summary(self) -> dict[str, Any]:
        """Return the outcome for machines."""
        names = ("model", "reason", "trials")
        facts = ("n_nodes", "n_counted", "classes", "repeats", "seed", "notes")
        return {
            **{name: getattr(self, name) for name in facts},
            "summary": self.sentence(),
            "failures": [dict(zip(names, failure, strict=True)) for failure in self.failures],
            "cells": [asdict(cell) for cell in self.cells],
        }

    def write(
        self, folder: str | Path, *, title: str, command: str | None = None, excel: bool = False
    ) -> None:
        """Write trials.csv, summary.csv and index.html, all or none; other files there stay."""
        trials, means, page = paths = [Path(folder) / name for name in FILES]
        Path(folder).mkdir(exist_ok=True)
        with together(paths):
            write_table(trials, _columns(self.trials), excel=excel)
            write_table(means, _columns(self.cells), excel=excel)
            with replacing(page) as file:
                file.write(render(self, title, command).encode("utf-8"))


def _columns(rows: Sequence[Any]) -> dict[str, list[Any]]:
    records = [asdict(row) for row in rows]
    return {name: [record[name] for record in records] for name in records[0]}


def render(outcome: Comparison, title: str, command: str | None = None) -> str:
    """Return the page as HTML: one file, readable without network.

    Examples
    --------
    >>> from robustgc.compare.page import Comparison, render
    >>> from robustgc.compare.trials import Cell
    >>> cell = Cell("ZhouGC", 4, 10.0, 0, 0.9, 0.01, 1, 10, 0.1)
    >>> "90.0 ± 1.0" in render(Comparison((), (cell,), 40, 40, ("a", "b"), 10, 7), "Mine")
    True
    """
    noises = sorted({cell.noise_percent for cell in outcome.cells})
    sections = "\n".join(f"<section>{_noise_section(outcome, noise)}</section>" for noise in noises)
    again = Findings(
        title, outcome.n_nodes, outcome.classes, (), command=command, versions=installed(),
        seeds={"labels and noise": outcome.seed}, date=date.today().isoformat(),
    )  # fmt: skip
    body = (
        f"{_how(outcome)}\n{sections}\n<section>{_models(outcome)}</section>\n"
        f"{_failures(outcome)}<section>{reproduce(again)}</section>"
    )
    lead = safe(summary(outcome.cells), 1000)
    return document(title, lead, body, style=asset("compare.css"))


def summary(cells: Sequence[Cell]) -> str:
    """Say in a sentence which model is best, in how many settings, and whether by chance."""
    settings: dict[tuple[float, int], list[Cell]] = {}
    for cell in cells:
        settings.setdefault((cell.noise_percent, cell.labels), []).append(cell)
    wins: dict[str, list[bool]] = {}
    for group in settings.values():
        for cell in _best(group):
            wins.setdefault(cell.model, []).append(_alone(group))
    if not wins:
        return "No model has an answer: all trials failed."
    order = sorted(wins, key=lambda model: (-len(wins[model]), -sum(wins[model])))
    first, *others = order
    where = count(len(settings), "setting")
    text = f"{first} has the best mean accuracy in {len(wins[first])} of {where}"
    text += f" (significant in {sum(wins[first]) or 'none'}, by Wilcoxon's test at 5 %)"
    for model in others:
        text += f", {model} in {len(wins[model])} (significant in {sum(wins[model]) or 'none'})"
    equal = sum(map(len, wins.values())) > len(settings)
    return text + ("; where models are equal, each of them counts." if equal else ".")


def _best(group: Sequence[Cell]) -> list[Cell]:
    means = [cell.accuracy_mean for cell in group if known(cell.accuracy_mean)]
    return [cell for cell in group if means and cell.accuracy_mean > max(means) - 1e-9]


def _alone(group: Sequence[Cell]) -> bool:
    """Whether the test separates the best from the next."""
    ranked = [cell.rank for cell in group if cell.rank is not None]
    best = _best(group)
    return len(ranked) > 1 and ranked.count(1) == 1 and best[0].rank == 1


def _how(outcome: Comparison) -> str:
    text = f"{count(outcome.n_nodes, 'node')} of {count(len(outcome.classes), 'class', 'classes')}"
    if outcome.n_counted < outcome.n_nodes:
        text += f", {whole(outcome.n_counted)} of them with a true label"
    text += (
        f"; for every label size and noise, {count(outcome.repeats, 'draw')} of labels, the same "
        "for all models. Accuracy is measured on the nodes whose label is hidden; a node without "
        "an answer counts as wrong. The tests are not corrected for their number."
    )
    if outcome.repeats < FEWEST:
        text += f" With fewer than {FEWEST} draws the test cannot tell any two models apart."
    notes = "".join(f"<p class=soft>Note: {safe(note, 500)}.</p>" for note in outcome.notes)
    return f"<p>{text}</p>{notes}"


def _noise_section(outcome: Comparison, noise: float) -> str:
    """Return the section of one noise: sentence, chart, table."""
    here = [cell for cell in outcome.cells if cell.noise_percent == noise]
    title = f"{noise:g} % of the labels wrong" if noise else "All labels right"
    return f"<h2>{title}</h2><p>{_sentence(here)}</p>{_chart(outcome, here, title)}{_table(here)}"


def _sizes(cells: Sequence[Cell]) -> dict[int, float]:
    return {cell.labels: cell.labels_percent for cell in cells}


def _sentence(here: Sequence[Cell]) -> str:
    parts = []
    for labels in _sizes(here):
        group = [cell for cell in here if cell.labels == labels]
        names = " and ".join(name(cell.model) for cell in _best(group)) or "no model"
        sure = " (significant)" if _alone(group) else ""
        parts.append(f"with {count(labels, 'label')}, {names}{sure}")
    return f"Best mean accuracy: {'; '.join(parts)}."


def _chart(outcome: Comparison, here: Sequence[Cell], title: str) -> str:
    """Draw accuracy against label size; all noises on one scale, so that charts compare."""
    means = [cell.accuracy_mean for cell in outcome.cells if known(cell.accuracy_mean)]
    if not means:
        return ""
    low, high = max(min(means) - 0.04, 0.0), min(max(means) + 0.04, 1.02)
    sizes = _sizes(here)
    at = {labels: 100 * (k + 0.5) / len(sizes) for k, labels in enumerate(sizes)}
    inside = items = ""
    for k, model in enumerate(dict.fromkeys(cell.model for cell in outcome.cells)):
        spots = [
            f"{at[cell.labels]:.2f} {100 - 100 * (cell.accuracy_mean - low) / (high - low):.2f}"
            for cell in here
            if cell.model == model and known(cell.accuracy_mean)
        ]
        look = f'stroke="var(--c{k % N_COLOURS})"'
        dash = f'stroke-dasharray="{_DASHES[k % len(_DASHES)]}"'
        inside += f'<path d="M{"L".join(spots)}" {look} stroke-width="2" {dash}/>' if spots else ""
        dots = "".join(f"M{spot}h0" for spot in spots)
        inside += f'<path d="{dots}" {look} stroke-width="7" stroke-linecap="round"/>'
        items += f'<li><svg viewBox="0 -10 20 20" aria-hidden="true"><path d="M0 0H20" {look} '
        items += f'stroke-width="2.5" {dash}/></svg>{name(model)}</li>'
    x = [(at[labels], f"{percent:.3g} %") for labels, percent in sizes.items()]
    y = [(100 * (v - low) / (high - low), f"{100 * v:g} %") for v in steps(low, min(high, 1.0), 7)]
    label = f"{title}: mean accuracy against the share of labelled nodes, a line for each model"
    chart = plot(label, inside, x, y, "labelled nodes; mean accuracy on the others")
    return f'{chart}<ul class="legend" aria-label="Lines">{items}</ul>'


def _table(here: Sequence[Cell]) -> str:
    best = {id(c) for n in _sizes(here) for c in _best([c for c in here if c.labels == n])}
    heads = "".join(
        f'<th scope="col" class="number">{count(labels, "label")}<br><small>{percent:.3g} % of the '
        "nodes</small></th>"
        for labels, percent in _sizes(here).items()
    )
    rows = ""
    for model in dict.fromkeys(cell.model for cell in here):
        rows += f'<tr><th scope="row">{name(model)}</th>'
        for cell in (cell for cell in here if cell.model == model):
            text = f"{fixed(100 * cell.accuracy_mean, 1)} ± {fixed(100 * cell.accuracy_error, 1)}"
            text = f"<strong>{text}</strong>" if id(cell) in best else text
            rank = "&ndash;" if cell.rank is None else cell.rank
            rows += f'<td class="number">{text} <small>({rank})</small></td>'
        rows += "</tr>"
    caption = (
        "Accuracy in %, mean ± standard error; best mean in bold. In brackets the rank, which "
        "neighbours share if Wilcoxon's test at 5 % does not tell them apart."
    )
    heads = f'<th scope="col">model</th>{heads}'
    return table("Accuracy", caption, heads, rows, ' class="cells"')


def _models(outcome: Comparison) -> str:
    seconds: dict[str, list[float]] = {}
    for cell in outcome.cells:
        seconds.setdefault(cell.model, []).append(cell.seconds_mean)
    rows = "".join(
        f'<tr><th scope="row">{name(model)}</th><td>{safe(WORDS.get(model, ""))}</td>'
        f'<td class="number">{sum(taken) / len(taken):.2g} s</td></tr>'
        for model, taken in seconds.items()
    )
    heads = (
        '<th scope="col">model</th><th scope="col">what it is</th>'
        '<th scope="col" class="number">time of a fit</th>'
    )
    return "<h2>The models</h2>" + table("Models", "", heads, rows, ' class="cells"')


def _failures(outcome: Comparison) -> str:
    if not outcome.failures:
        return ""
    items = "".join(
        f"<li>{name(model)}, {count(many, 'trial')}: {safe(reason, 500)}</li>"
        for model, reason, many in outcome.failures
    )
    return f"<section><h2>Trials that failed</h2><ul>{items}</ul></section>\n"
