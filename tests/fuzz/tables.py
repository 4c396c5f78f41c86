"""Text tables: edges, labels and points as rows of fields, in the dialects that there are."""

import numpy as np

from tests.fuzz.draw import chance, exponents, pick, reach

NAMES = ["a", "b", "c", "d", "e", "Zürich", "日本", "=1+1", "x_y", "0", "1", "01", "NA", "node"]


def names(rng, n):
    """Return n names of nodes: numbers, or text with surprises."""
    if chance(rng, 0.5):
        return [str(i) for i in range(n)]
    made = [f"{pick(rng, *NAMES)}{i}" for i in range(n)]
    return made if chance(rng, 0.9) else [pick(rng, *NAMES, "", " ") for _ in range(n)]


def edges(rng, n):
    """Return pairs of nodes and weights; connected more often than not."""
    tree = [(i, int(rng.integers(i))) for i in range(1, n)]
    more = [tuple(map(int, rng.integers(0, n, 2))) for _ in range(int(rng.integers(0, 2 * n)))]
    pairs = list(dict.fromkeys(tuple(sorted(pair)) for pair in tree + more))
    if chance(rng, 0.1):
        pairs += pairs[:3]
    weight = exponents(rng, len(pairs), reach(rng)).tolist()
    if chance(rng, 0.05) and weight:
        weight[0] = pick(rng, -1.0, 0.0, np.nan, np.inf, 5e-324, 1e308)
    return pairs, weight


def _quoted(rng, field, mark):
    if mark in field or '"' in field or "\n" in field or chance(rng, 0.05):
        return '"' + field.replace('"', '""') + '"'
    return field


def text(rng, header, rows):
    """Return rows of fields in some dialect, as bytes, and the ending that goes with it."""
    ending, mark = pick(
        rng, (".csv", ","), (".csv", ","), (".csv", ";"), (".tsv", "\t"), (".txt", " ")
    )
    if mark == " ":
        rows = [[field.replace(" ", "_") or "_" for field in row] for row in rows]
    lines = [mark.join(_quoted(rng, field, mark) for field in row) for row in rows]
    if header and chance(rng, 0.9):
        lines.insert(0, mark.join(header))
    if chance(rng, 0.1):
        lines.insert(int(rng.integers(len(lines) + 1)), pick(rng, "# x", "% x", "", ""))
    content = pick(rng, "\n", "\n", "\r\n").join(lines) + pick(rng, "\n", "\n", "")
    if chance(rng, 0.05):
        content = "\ufeff" + content
    return content.encode("latin-1" if chance(rng, 0.04) else "utf-8", "replace"), ending


def edge_table(rng, nodes, pairs, weight):
    header = pick(rng, ["source", "target"], ["from", "to"], ["u", "v"], ["a", "a"])
    rows = [[nodes[i], nodes[j]] for i, j in pairs]
    if chance(rng, 0.6):
        header = [*header, pick(rng, "weight", "w")]
        rows = [[*row, repr(w)] for row, w in zip(rows, weight, strict=True)]
    return text(rng, header, rows)


def labelled(rng, nodes):
    """Return nodes with labels, and the labels that there are."""
    pool = pick(
        rng, ["x", "y"], ["1", "2", "3"], ["true", "false"], ["été", "=1"], ["a" * 400, "b"]
    )
    share = pick(rng, 0.3, 0.6, 1.0)
    rows = [[node, pick(rng, *pool)] for node in nodes if chance(rng, share)]
    rows += [[node, label] for node, label in zip(nodes, pool, strict=False)]
    rows = list({row[0]: row for row in rows}.values())
    if chance(rng, 0.07):
        rows.append(pick(rng, ["nobody", "x"], [nodes[0], "z"], ["", "x"], [nodes[-1], ""]))
    return rows, pool


def label_table(rng, nodes):
    return text(rng, ["node", "label"], labelled(rng, nodes)[0])


def decided(rng, rows, pool):
    """Return an issues table of labels with decisions; at times of other labels, or odd ones."""
    header = ["node", "given", "suggested", "suspicion", "decision"]
    odd = ["maybe", "class:keep", f"class:{pool[0]}", " Keep ", "new", "=1", "\x00", "x" * 400]
    made = []
    for node, label in rows:
        other = [one for one in pool if one != label]
        decision = pick(rng, "", "keep", "change", "drop", *other)
        if chance(rng, 0.01):
            decision = pick(rng, *odd)
        given = pick(rng, *pool, "") if chance(rng, 0.005) else label
        suspicion = pick(rng, "0.97", "0.5", "1e-300", "nan", "")
        made.append([node, given, pick(rng, *other), suspicion, decision])
    rng.shuffle(made)
    keep = [k for k in range(5) if chance(rng, 0.98)]
    made = made + made[:1] if chance(rng, 0.03) else made
    return text(rng, [header[k] for k in keep], [[row[k] for k in keep] for row in made])


def point_table(rng, n, d):
    X = rng.normal(size=(n, d)) * pick(rng, 1.0, 1.0, 1e150, 1e-200)
    rows = [[f"p{i}", *map(repr, row)] for i, row in enumerate(X.tolist())]
    return text(rng, ["id", *(f"x{k}" for k in range(d))], rows)
