"""The picture of the graph or the points, and its legend."""

import math
from typing import Any

import numpy as np

from robustgc.report.gather import Findings, Picture
from robustgc.report.text import N_COLOURS, count, known, name, plain, script_json, whole

_UNITS = 10_000  # places are whole numbers of this, which is finer than any screen
_LEGEND = 24


def _polygon(sides: int, turn: float, size: float) -> list[list[float]]:
    angles = [turn + 2 * math.pi * k / sides for k in range(sides)]
    return [[round(size * math.sin(a), 3), round(-size * math.cos(a), 3)] for a in angles]


# Classes beyond the colours take them again in another shape. Empty: a circle.
SHAPES: list[list[list[float]]] = [
    [],
    _polygon(3, 0.0, 1.35),
    _polygon(4, math.pi / 4, 1.25),
    _polygon(3, math.pi, 1.35),
    _polygon(4, 0.0, 1.3),
]


def mark(code: int, kind: str = "predicted") -> str:
    """Return a node of a class as a small drawing, as in the picture."""
    shape = SHAPES[code // N_COLOURS % len(SHAPES)]
    size = 4.5 if kind == "predicted" else 5.5
    colour = "soft" if kind == "predicted" else "line"
    look = f'fill="var(--{f"c{code % N_COLOURS}" if code >= 0 else colour})"'
    if kind != "predicted":
        look += ' stroke="var(--ink)" stroke-width="1.8"'
    if kind == "unanswered":
        inside = '<path d="M-4-4 4 4M-4 4 4-4" stroke="var(--soft)" stroke-width="1.6"/>'
    elif shape and code >= 0:
        points = " ".join(f"{size * x:.1f},{size * y:.1f}" for x, y in shape)
        inside = f'<polygon points="{points}" {look}/>'
    else:
        inside = f'<circle r="{size}" {look}/>'
    if kind == "suspicious":
        inside += '<circle r="9" fill="none" stroke="var(--ink)" stroke-width="2"/>'
    return f'<svg viewBox="-10 -10 20 20" aria-hidden="true">{inside}</svg>'


def picture(findings: Findings) -> str:
    """Return the section with the drawn nodes."""
    drawn = findings.picture
    if drawn is None or not len(drawn.names):
        return "<h2>Picture</h2><p>The nodes have no coordinates: nothing is drawn.</p>"
    n, m = len(drawn.names), len(drawn.edges)
    what = "points" if drawn.kind == "points" else "nodes"
    share = "all" if n == findings.n_nodes else "a sample of"
    said = f"{share} {whole(n)} {what}, {count(m, 'edge')}"
    if findings.n_edges is not None and m < findings.n_edges:
        said += f" of {whole(findings.n_edges)}"
    return (
        f"<h2>Picture of the {'points' if drawn.kind == 'points' else 'graph'}</h2>"
        f'<p class="soft">Drawn: {said}. Point at a node or tap it to see its name; with the '
        "keyboard, the arrow keys go through the given labels, the most suspicious first.</p>"
        '<figure class="picture"><canvas id="picture" tabindex="0" role="img" '
        f'aria-label="Picture of {said}, coloured by class" aria-describedby="tip"></canvas>'
        '<div id="tip" class="tip" role="status" hidden></div></figure>'
        "<noscript><p>The picture needs JavaScript; everything else does not.</p></noscript>"
        + _legend(findings, drawn)
        + f'<script type="application/json" id="picture-data">{_data(findings, drawn)}</script>'
    )


def _legend(findings: Findings, drawn: Picture) -> str:
    names = findings.classes
    items = [f"<li>{mark(k)}{name(names[k])}</li>" for k in range(min(len(names), _LEGEND))]
    if len(names) > _LEGEND:
        items.append(f"<li>and {len(names) - _LEGEND} more classes</li>")
    given, answer = np.asarray(drawn.given), np.asarray(drawn.answer)
    suspicious = np.asarray(drawn.suspicion, dtype=float) > 0.5
    kinds = [
        ("predicted", "small: answered by the model", (given < 0) & (answer >= 0)),
        ("given", "large, outlined: given label", (given >= 0) & ~suspicious),
        ("suspicious", "ringed: given label, more likely wrong than right", suspicious),
        ("unanswered", "cross: no answer", (given < 0) & (answer < 0)),
    ]
    shown = [f"<li>{mark(-1, kind)}{text}</li>" for kind, text, here in kinds if here.any()]
    return (
        f'<ul class="legend" aria-label="Classes">{"".join(items)}</ul>'
        f'<ul class="legend" aria-label="Kinds of nodes">{"".join(shown)}</ul>'
    )


def _data(findings: Findings, drawn: Picture) -> str:
    xy = np.asarray(drawn.xy, dtype=float)
    low, high = xy.min(axis=0), xy.max(axis=0)
    unit = _UNITS / (float((high - low).max()) or 1.0)
    wide, tall = np.maximum((high - low) * unit, 0.4 * _UNITS)  # a line gets some room around it
    shift = (np.array([wide, tall]) - (high - low) * unit) / 2
    at = np.rint((xy - low) * unit + shift).astype(int)
    suspicion: list[Any] = [
        round(100 * float(s)) if known(float(s)) else None for s in np.asarray(drawn.suspicion)
    ]
    return script_json(
        {
            "x": at[:, 0].tolist(),
            "y": (round(float(tall)) - at[:, 1]).tolist(),
            "w": round(float(wide)),
            "h": round(float(tall)),
            "e": np.asarray(drawn.edges, dtype=int).ravel().tolist(),
            "n": [plain(text) for text in drawn.names],
            "g": np.asarray(drawn.given, dtype=int).tolist(),
            "a": np.asarray(drawn.answer, dtype=int).tolist(),
            "s": suspicion,
            "classes": [plain(text) for text in findings.classes],
            "colours": list(range(N_COLOURS)),
            "shapes": SHAPES,
        }
    )
