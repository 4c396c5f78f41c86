"""Two charts: the decision values, and the accuracy of the candidates on left-out labels.

Lines and bars stretch with the page; words are HTML beside them, so that they keep their size on
a phone.
"""

import math
from collections.abc import Sequence

from robustgc.choice.candidates import Candidate
from robustgc.report.gather import Findings, Histogram
from robustgc.report.text import N_COLOURS, count, fixed, known, name, number, table, whole

Tick = tuple[float, str]  # place from 0 to 100, text
_DASHES = ("", "6 3", "2 3", "9 3 2 3", "1 4", "12 4")
_LISTED = 10


def plot(
    label: str, shapes: str, x: Sequence[Tick], y: Sequence[Tick], what: str, over: str = ""
) -> str:
    """Return a chart: shapes in a square of 100 units, ticks, and HTML that lies over it."""
    grid = "".join(
        f'<line x1="0" x2="100" y1="{100 - at:.2f}" y2="{100 - at:.2f}" stroke="var(--line)"/>'
        for at, _ in y
    )
    below = "".join(f'<span style="left:{at:.2f}%">{text}</span>' for at, text in x)
    y_ticks = "".join(f'<span style="bottom:{at:.2f}%">{text}</span>' for at, text in y)
    return (
        f'<div class="plot" role="img" aria-label="{label}"><div class="y">{y_ticks}</div>'
        f'<div class="area"><svg viewBox="0 0 100 100" preserveAspectRatio="none" '
        f'aria-hidden="true">{grid}{shapes}</svg>{over}</div>'
        f'<div class="x">{below}</div><div class="what">{what}</div></div>'
    )


def steps(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers from low to high."""
    if not high > low:
        return [low]
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    unit = next(k * power for k in (1, 2, 2.5, 5, 10) if k * power >= raw)
    return [k * unit for k in range(math.ceil(low / unit), math.floor(high / unit + 1e-9) + 1)]


def decisions(findings: Findings) -> str:
    """Return the section with the histogram."""
    title, hist = "<h2>Decision values</h2>", findings.histogram
    if hist is None or not len(hist.counts) or not max(hist.counts):
        return title + "<p>There are no decision values to show.</p>"
    names = findings.classes
    if hist.signed and len(names) == 2:
        text = "Far from 0 the model is sure, near 0 it is not."
        what = f"← {name(names[0])} &nbsp; 0 &nbsp; {name(names[1])} →"
    else:
        text = "How far the best class of a node is ahead of the next one. Near 0 it is a guess."
        what = "lead of the best class"
    return f"{title}<p>{text}</p>{_bars(hist, what)}"


def _bars(hist: Histogram, what: str) -> str:
    edges = [float(edge) for edge in hist.edges]
    low, span = edges[0], (edges[-1] - edges[0]) or 1.0
    top = max(map(float, hist.counts)) * 1.05
    bars = ""
    for k, amount in enumerate(hist.counts):
        left, right = (100 * (edges[k + j] - low) / span for j in (0, 1))
        colour = f"c{int(edges[k] + edges[k + 1] > 0)}" if hist.signed else "soft"
        bars += (
            f'<rect x="{left:.3f}" width="{max(right - left - 0.15, 0.1):.3f}" '
            f'y="{100 - 100 * float(amount) / top:.3f}" height="{100 * float(amount) / top:.3f}" '
            f'fill="var(--{colour})"/>'
        )
    if low < 0 < edges[-1]:
        at = -100 * low / span
        bars += f'<line x1="{at:.2f}" x2="{at:.2f}" y1="0" y2="100" stroke="var(--ink)"/>'
    x = [(100 * (v - low) / span, number(v)) for v in steps(low, edges[-1], 4)]
    y = [(100 * v / top, whole(round(v))) for v in steps(0, top, 4) if v == round(v)]
    total = sum(int(amount) for amount in hist.counts)
    label = f"Histogram of {total} decision values from {fixed(low)} to {fixed(edges[-1])}"
    return plot(label, bars, x, y, what)


def choice(findings: Findings) -> str:
    """Return the section on the candidates."""
    title = "<h2>How the parameter was chosen</h2>"
    tried = [c for c in findings.candidates if known(c.accuracy)]
    if not tried:
        eta = f": eta = {number(findings.eta)}" if known(findings.eta) else ""
        return f"{title}<p>Nothing was chosen: the parameter was given{eta}.</p>"
    best = findings.best
    text = "Every candidate predicted each given label while that label was left out. "
    if best is not None:
        text += (
            f"The choice has {_model(best)}: it predicts {100 * best.accuracy:.0f} % of the "
            f"labels, and has {100 * best.weight:.0f} % of the weight in the ensemble."
        )
    etas = sorted({_eta(c) for c in tried}, key=lambda eta: (eta is None, eta))
    return (
        f"{title}<p>{text}</p>{_lines(tried, etas, best)}{_weights(tried, etas)}"
        f"{_heaviest(tried, best)}"
    )


def _model(c: Candidate) -> str:
    return f"{count(c.n_modes, 'mode')}, eta = {c.eta:g}" if c.lifted else _kind(c)


def _kind(c: Candidate) -> str:
    """Return eta of a lifted filter, else what the candidate is."""
    return f"{c.eta:g}" if c.lifted else "ZhouGC" if c.is_filter else "regression"


def _eta(c: Candidate) -> float | None:
    """Return where a candidate stands on the axis of eta: None is least squares, 0 ZhouGC."""
    if not c.is_filter or c.eta is None:
        return None
    return max(c.eta, 0.0)


def _ticks(etas: Sequence[float | None]) -> list[Tick]:
    """Give every eta the same room: those tried crowd near 1."""
    return [
        (100 * (k + 0.5) / len(etas), "least sq." if eta is None else f"{eta or 'ZhouGC'}")
        for k, eta in enumerate(etas)
    ]


def _lines(tried: Sequence[Candidate], etas: Sequence[float | None], best: Candidate | None) -> str:
    modes = sorted({c.n_modes for c in tried})
    best_of: dict[tuple[int, float | None], float] = {}
    for c in tried:
        key = c.n_modes, _eta(c)
        best_of[key] = max(c.accuracy, best_of.get(key, 0.0))
    low, high = max(min(best_of.values()) - 0.05, 0.0), min(max(best_of.values()) + 0.05, 1.03)
    places = [at for at, _ in _ticks(etas)]
    inside, picks, items = "", "", ""
    for j, q in enumerate(modes):
        # Side by side: models that do equally well would hide each other.
        aside = (j - (len(modes) - 1) / 2) * min(60 / len(etas) / len(modes), 2.2)
        spots = [
            (x + aside, 100 - 100 * (best_of[q, eta] - low) / (high - low), eta)
            for x, eta in zip(places, etas, strict=True)
            if (q, eta) in best_of
        ]
        look = f'stroke="var(--c{j % N_COLOURS})"'
        line = "L".join(f"{x:.2f} {y:.2f}" for x, y, eta in spots if eta)
        dots = "".join(f"M{x:.2f} {y:.2f}h0" for x, y, _ in spots)
        dash = f'stroke-dasharray="{_DASHES[j % len(_DASHES)]}"'
        inside += f'<path d="M{line}" {look} stroke-width="2" {dash}/>' if line else ""
        inside += f'<path d="{dots}" {look} stroke-width="8" stroke-linecap="round"/>'
        items += f'<li><svg viewBox="0 -10 20 20" aria-hidden="true"><path d="M0 0H20" {look} '
        items += f'stroke-width="2.5" {dash}/></svg>{count(q, "mode")}</li>'
        for x, y, eta in spots:
            if best is not None and (best.n_modes, _eta(best)) == (q, eta):
                picks += f'<i class="pick" style="left:{x:.2f}%;bottom:{100 - y:.2f}%"></i>'
    percents = [
        (100 * (v - low) / (high - low), f"{100 * v:.0f} %") for v in steps(low, min(high, 1.0))
    ]
    ring = '<svg viewBox="-10 -10 20 20" aria-hidden="true"><circle r="8" fill="none" '
    ring += 'stroke="var(--ink)" stroke-width="2.5"/></svg>'
    items += f"<li>{ring}the choice</li>" if picks else ""
    label = f"Accuracy on left-out labels against eta, one line for each of {len(modes)} models"
    chart = plot(
        label, inside, _ticks(etas), percents, "eta; left-out labels predicted, in %", picks
    )
    return f'{chart}<ul class="legend" aria-label="Lines">{items}</ul>'


def _weights(tried: Sequence[Candidate], etas: Sequence[float | None]) -> str:
    shares = [sum(c.weight for c in tried if _eta(c) == eta) for eta in etas]
    top = max(*shares, 1e-9) * 1.1
    wide = 60 / len(etas)
    inside = "".join(
        f'<rect x="{at - wide / 2:.2f}" width="{wide:.2f}" y="{100 - 100 * share / top:.2f}" '
        f'height="{100 * share / top:.2f}" fill="var(--soft)"/>'
        for (at, _), share in zip(_ticks(etas), shares, strict=True)
    )
    y = [(100 * v / top, f"{100 * v:.0f} %") for v in steps(0, top, 3)]
    label = "Share of the ensemble's weight by eta"
    chart = plot(label, inside, _ticks(etas), y, "eta; weight in the ensemble, in %")
    return chart.replace('class="plot"', 'class="plot low"', 1)


def _heaviest(tried: Sequence[Candidate], best: Candidate | None) -> str:
    rows = "".join(
        f'<tr{" class=chosen" if c is best else ""}><td class="number">{c.n_modes}</td>'
        f'<td class="number">{_kind(c)}</td>'
        f"<td>{'yes' if c.centred else 'no'}</td>"
        f'<td class="number">{100 * c.accuracy:.0f} %</td>'
        f'<td class="number">{fixed(c.evidence, 3)}</td>'
        f'<td class="number">{100 * c.weight:.1f} %</td></tr>'
        for c in sorted(tried, key=lambda c: -c.weight)[:_LISTED]
    )
    heads = "".join(
        f'<th scope="col"{" class=number" if right else ""}>{text}</th>'
        for text, right in (
            ("modes", True), ("eta", True), ("centred", False),
            ("accuracy", True), ("evidence", True), ("weight", True),
        )
    )  # fmt: skip
    caption = f"The heaviest {min(_LISTED, len(tried))} of {count(len(tried), 'candidate')}."
    return table("Candidates", caption, heads, rows)
