"""The reproduction page: one HTML file that needs no network."""

import base64
from html import escape
from pathlib import Path

from robustgc.graph.atomic import new_file
from robustgc.paper.figures import draw
from robustgc.paper.problems import MODELS
from robustgc.paper.records import Rows, matching, read_csv
from robustgc.report.text import asset

CAPTIONS = {
    "losses": "Squared error (SE) and the concave error (CE) of RobustGC, for a positive and for "
    "an unknown label.",
    "chain": "A chain of 20 nodes with a link ten times weaker in the middle. ZhouGC gamma = 1, "
    "BelkGC p = 2, RobustGC eta = 0.5.",
    "conditioning": "The bound of section 3.2 and the true condition number.",
    "moons": "Out-of-sample extension of RobustGC, eta = 0.9, exp(-d^2 / (2 sigma^2)); 50 points "
    "a class, 5 of each labelled.",
    "blocks": "Weight matrices: 200 nodes, 70 % connected inside, 30 % or 50 % across.",
    "noise": "Accuracy against label noise: mean, with the band from least to greatest. ZhouGC, "
    "BelkGC and RobustGC at their best parameter, PF-RobustGC at eta = 0.9.",
    "tuning": "Accuracy against the tuning parameter, smallest and largest label size.",
    "outofsample": "Digits 4 and 9, 1000 nodes, sigma = 5, 10 labels: fitted on a subgraph and "
    "extended to the rest; a point out of range counts as wrong. Dotted: where the Wilcoxon test "
    "(5 %) first does not tell the two apart.",
}


def write(folder: Path) -> Path:
    """Draw the figures into folder/figures and write folder/index.html from folder/data."""
    data, pictures = folder / "data", folder / "figures"
    drawn = draw(data, pictures)
    parts = [_summary(data), _claims(data)]
    late = ("tuning", "outofsample")  # after the table, as in the paper
    parts += [_picture(pictures, name) for name in drawn if name not in late]
    parts += [_table1(data)]
    parts += [_picture(pictures, name) for name in late if name in drawn]
    parts += [_seconds(data)]
    html = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>Robust Classification of Graph-Based Data, reproduced</title>"
        f"<style>{asset('reproduce.css')}</style></head><body>"
        "<h1>Robust Classification of Graph-Based Data, reproduced</h1>"
        + "\n".join(parts)
        + "</body></html>\n"
    )
    with new_file(folder / "index.html") as file:
        file.write(html.encode("utf-8"))
    return folder / "index.html"


def _table(heads: str, body: str) -> str:
    """Return a table with headings separated by |."""
    head = "".join(f"<th>{text}</th>" for text in heads.split("|"))
    return f"<table><tr>{head}</tr>{body}</table>"


def _summary(data: Path) -> str:
    cells, claims = read_csv(data / "table1-compare.csv"), read_csv(data / "claims.csv")
    held = sum(c["verdict"] == "holds" for c in claims)
    judged = sum(c["verdict"] != "not run" for c in claims)
    text = f"<p>{held} of {judged} claims of the paper hold on our data."
    known, drawn = ([c for c in cells if (c["in_spread"] != "") == d] for d in (False, True))
    for part, names in ((known, "karate, polblogs and polbooks"), (drawn, "digits and synth")):
        if part:
            inside = sum(c["within"] == "1" for c in part)
            text += f" Table 1, {names}: {inside} of {len(part)} cells within 3 standard errors or "
            text += "1.5 points of the paper's."
    if drawn:
        inside = sum(c["in_spread"] == "1" for c in drawn)
        text += f" Of the latter, whose subset or draw the paper does not name, {inside} lie within"
        text += " the spread of our means over five subsets or draws."
    notes = "".join(f"<p>{escape(n['part'])}: {escape(n['note'])}</p>" for n in
                    read_csv(data / "notes.csv"))  # fmt: skip
    return text + "</p>" + notes


def _claims(data: Path) -> str:
    classes = {"holds": "holds", "does not hold": "fails", "not run": "soft"}
    body = "".join(
        f"<tr><td>{escape(c['section'])}</td><td>{escape(c['sentence'])}<br>"
        f"<span class=soft>asked: {escape(c['test'])}</span></td>"
        f"<td class={classes[c['verdict']]}>{escape(c['verdict'])}</td>"
        f"<td>{escape(c['numbers'])}</td></tr>"
        for c in read_csv(data / "claims.csv")
    )
    table = _table("section|claim|here|our numbers", body)
    return f"<h2>What the paper claims</h2><div class=scroll>{table}</div>"


def _picture(folder: Path, name: str) -> str:
    image = base64.b64encode((folder / f"{name}.png").read_bytes()).decode()
    return (
        f'<figure id="{name}"><img alt="{escape(CAPTIONS[name])}" '
        f'src="data:image/png;base64,{image}"><figcaption>{escape(CAPTIONS[name])} '
        f"Also figures/{name}.png, figures/{name}.svg and data/{name}.csv.</figcaption></figure>"
    )


def _table1(data: Path) -> str:
    cells = read_csv(data / "table1-compare.csv")
    if not cells:
        return ""
    body = ""
    for dataset, percent in dict.fromkeys((c["dataset"], c["percent_labelled"]) for c in cells):
        row = {c["model"]: c for c in matching(cells, dataset=dataset, percent_labelled=percent)}
        size = f"{percent} % ({row[MODELS[0]]['n_labelled']})"
        body += f"<tr><td>{dataset}</td><td class=number>{size}</td>"
        body += "".join(_cell(row[model]) for model in MODELS) + "</tr>"
    if any(n["part"] == "table1" for n in read_csv(data / "notes.csv")):
        body += "".join(
            f"<tr><td>{name}</td><td colspan=13 class=soft>data not on this machine</td></tr>"
            for name in ("digits49-s", "digits49-w")
        )
    heads = "".join(f"<th colspan=3>{model}</th>" for model in MODELS)
    return (
        "<h2>Table 1</h2><p>Accuracy in %, mean ± standard deviation over the repeats, rank in "
        "brackets, colour by rank (the darker, the better); the paper's beside it; difference in "
        f"standard errors. {_repeats(cells)}</p><div class=scroll><table><tr><th>data</th>"
        "<th>labels</th>"
        f"{heads}</tr><tr><th></th><th></th>{'<th>ours</th><th>paper</th><th>diff</th>' * 4}</tr>"
        f"{body}</table></div>{_exceptions(cells)}{_spread(cells)}"
    )


def _repeats(cells: Rows) -> str:
    """Say how much each data set rests on."""
    counts = {c["dataset"]: c["repeats"] for c in cells}
    text = ", ".join(f"{name} {n}" for name, n in counts.items())
    return f"Repeats: {text}; seed {cells[0]['seed']}. The paper has 20."


def _cell(c: dict[str, str]) -> str:
    ours = f"{float(c['ours_mean']):.1f} ± {float(c['ours_std']):.1f} ({c['ours_rank']})"
    paper = f"{float(c['paper_mean']):.1f} ± {float(c['paper_std']):.1f} ({c['paper_rank']})"
    mark = "" if c["within"] == "1" else " class=fails"
    return (
        f"<td class='number rank{c['ours_rank']}'>{ours}</td>"
        f"<td class='number rank{c['paper_rank']}'>{paper}</td>"
        f"<td class=number><span{mark}>{float(c['standard_errors']):+.1f}</span></td>"
    )


def _exceptions(cells: Rows) -> str:
    apart = [c for c in cells if c["within"] != "1"]
    if not apart:
        return "<p>No cell is more than 3 standard errors and 1.5 points apart.</p>"
    items = "".join(
        f"<li>{c['dataset']} {c['percent_labelled']} % {c['model']}: ours "
        f"{float(c['ours_mean']):.1f}, paper {float(c['paper_mean']):.1f} "
        f"({float(c['standard_errors']):+.1f} standard errors). {_reason(c)}</li>"
        for c in apart
    )
    return f"<p>Cells more than 3 standard errors and 1.5 points apart:</p><ul>{items}</ul>"


def _reason(c: dict[str, str]) -> str:
    if c["in_spread"] == "":
        return "The labelled nodes are drawn at random; another seed may move it."
    side = "easier" if float(c["paper_mean"]) > float(c["ours_mean"]) else "harder"
    return (
        f"Likely reason: the paper's subset or draw, which it does not name, is {side} than ours."
    )


def _spread(cells: Rows) -> str:
    """Show the range over five subsets or draws where the paper's own is unknown."""
    drawn = [c for c in cells if c["in_spread"] != ""]
    if not drawn:
        return ""
    body = "".join(
        f"<tr><td>{c['dataset']}</td><td class=number>{c['percent_labelled']} %</td>"
        f"<td>{c['model']}</td><td class=number>{float(c['spread_low']):.1f} to "
        f"{float(c['spread_high']):.1f}</td><td class=number>{float(c['paper_mean']):.1f}</td>"
        f"<td>{'inside' if c['in_spread'] == '1' else 'outside. ' + _reason(c)}</td></tr>"
        for c in drawn
    )
    table = _table("data|labels|model|ours|paper|the paper's mean is", body)
    return (
        "<h3>Digits and synth over five subsets or draws</h3><p>Least to greatest of our means: "
        "five runs of 125 consecutive images of each digit, five draws of the block model.</p>"
        f"<div class=scroll>{table}</div>"
    )


def _seconds(data: Path) -> str:
    body = "".join(
        f"<tr><td>{escape(r['part'])}</td><td class=number>{float(r['seconds']):.1f} s</td>"
        f"<td>{escape(r['seed'])}</td><td>{escape(r['repeats'])}</td></tr>"
        for r in read_csv(data / "runs.csv")
    )
    return f"<h2>How long it took</h2>{_table('part|time|seed|repeats', body)}"
