"""Draw the packages of robustgc and what they import of each other: docs/floor-plan.svg.

``python tools/floor_plan.py`` writes the picture; with ``--check`` it only says whether the picture
is still that of the imports. The same tree gives the same bytes. Only the standard library is used.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, permutations
from pathlib import Path
from pydoc import splitdoc
from xml.sax.saxutils import escape

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY / "src" / "robustgc"
PICTURE = REPOSITORY / "docs" / "floor-plan.svg"

# A colour says what a package is for; one that is in no family is drawn in grey.
FAMILIES = {
    "where users come in": ("#1f6feb", "cli api estimators"),
    "from weights to evidence": (
        "#1a7f4b",
        "graph affinity linalg models transduction choice audit",
    ),
    "ways in and out": ("#9a5b00", "io storage report mpi"),
    "experiments": ("#8250df", "paper compare datasets workbench"),
}  # fmt: skip
OTHER = "#57606a"
INK, QUIET, LINE, PAPER, FRAME = "#1f2328", "#57606a", "#6e7781", "#ffffff", "#d0d7de"

WIDTH = 900
BOX, GAP, LANE = 244, 24, 30  # widths: a box, between boxes, a line that passes between boxes
ABOVE, BETWEEN = 96, 48  # heights: title and legend, between rows
TITLE, BODY, LEADING = 17, 13, 17  # sizes of type
MOST = 6  # places of a row up to which all orders are tried


# --- What imports what -----------------------------------------------------------------------


def package_of(path: Path, source: Path) -> str:
    """Return the package of a file, or its own name if it lies beside the packages."""
    return path.relative_to(source).parts[0].removesuffix(".py")


def files(source: Path) -> list[Path]:
    """Return all files but the public names in ``__init__.py``, which import from everywhere."""
    return sorted(path for path in source.rglob("*.py") if path != source / "__init__.py")


def imported(node: ast.AST) -> list[str]:
    """Return the modules of robustgc that a node imports, also those that it names as text."""
    if isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.Call):
        called = ast.unparse(node.func).split(".")[-1]
        parts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
        texts = [text for text in parts if isinstance(text, str)]
        # f"robustgc.mpi.{name}" names a package
        names = [text.rstrip(".") for text in texts if called == "import_module"]
        names += [f"robustgc.{text}" for text in texts if called == "loops"]
    else:
        names = []
    return [name.removeprefix("robustgc.") for name in names if name.startswith("robustgc.")]


def deferred(tree: ast.Module) -> set[ast.AST]:
    """Return the nodes that do not run when the file is imported: functions, types only."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.update(part for inner in node.body for part in ast.walk(inner))
        elif isinstance(node, ast.If) and ast.unparse(node.test) in (
            "TYPE_CHECKING",
            "typing.TYPE_CHECKING",
        ):
            found.update(part for inner in node.body for part in ast.walk(inner))
    return found


def read_imports(source: Path) -> tuple[dict[str, str], dict[tuple[str, str], bool]]:
    """Return the sentence of every package, and its imports: True where they wait for a call."""
    sentences: dict[str, str] = {}
    lazy: dict[tuple[str, str], bool] = {}
    packages = {package_of(path, source) for path in files(source)}
    for path in files(source):
        own = package_of(path, source)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if path in (source / own / "__init__.py", source / f"{own}.py"):
            sentences[own] = splitdoc(ast.get_docstring(tree) or "")[0].replace("`", "")
        later = deferred(tree)
        for node in ast.walk(tree):
            for other in {name.split(".")[0] for name in imported(node)} & packages - {own}:
                lazy[own, other] = lazy.get((own, other), True) and node in later
    return {name: sentences.get(name, "") for name in sorted(packages)}, dict(sorted(lazy.items()))


# --- Which of it is drawn --------------------------------------------------------------------


@dataclass(frozen=True)
class Arrow:
    """One package imports another; `up`: against the order, which only a lazy import may do."""

    importer: str
    imported: str
    lazy: bool
    up: bool = False

    @property
    def ends(self) -> tuple[str, str]:
        """The two packages, the upper one first."""
        return (self.imported, self.importer) if self.up else (self.importer, self.imported)


def reaches(below: dict[str, set[str]], start: str, target: str) -> bool:
    """Return whether a way leads down from one package to another."""
    seen, todo = set[str](), [start]
    while todo:
        for name in below.get(todo.pop(), set()) - seen:
            seen.add(name)
            todo.append(name)
    return target in seen


def reduced(
    edges: list[tuple[str, str]], all_edges: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Drop the edges for which there is a way of several of `all_edges`."""
    below: dict[str, set[str]] = {}
    for upper, lower in all_edges:
        below.setdefault(upper, set()).add(lower)
    return [
        (upper, lower)
        for upper, lower in edges
        if not any(reaches(below, other, lower) for other in below[upper] - {lower})
    ]


def arrows(lazy: dict[tuple[str, str], bool]) -> list[Arrow]:
    """Return the arrows to draw: what follows from two or more of them is left out.

    A solid arrow is left out for a way of solid ones, a dashed one for any way.
    """
    eager = [edge for edge, later in lazy.items() if not later]
    below: dict[str, set[str]] = {}
    for upper, lower in eager:
        below.setdefault(upper, set()).add(lower)
    try:
        tuple(TopologicalSorter(below).static_order())
    except CycleError as error:
        sys.exit(f"Packages import each other in a circle: {' -> '.join(error.args[1])}.")
    down, up = list(eager), []
    for upper, lower in (edge for edge, later in lazy.items() if later):
        if reaches(below, lower, upper):
            up.append((upper, lower))
        else:
            below.setdefault(upper, set()).add(lower)
            down.append((upper, lower))
    solid = reduced(eager, eager)
    dashed = reduced([edge for edge in down if lazy[edge]], down)
    return sorted(
        [Arrow(*edge, lazy=False) for edge in solid]
        + [Arrow(*edge, lazy=True) for edge in dashed]
        + [Arrow(*edge, lazy=True, up=True) for edge in up],
        key=lambda arrow: (arrow.importer, arrow.imported),
    )


# --- Where it lies ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Rows from the top, of package names and of places where an arrow passes; their middles."""

    rows: list[list[str]]
    chains: list[list[str]]  # by arrow: the places that it goes through, from the top
    x: dict[str, float]


def row_numbers(names: list[str], drawn: list[Arrow]) -> dict[str, int]:
    """Return the row of every package: right below the lowest of those that import it."""
    above: dict[str, set[str]] = {name: set() for name in names}
    for arrow in drawn:
        above[arrow.ends[1]].add(arrow.ends[0])
    row: dict[str, int] = {}
    for name in TopologicalSorter({name: sorted(above[name]) for name in names}).static_order():
        row[name] = 1 + max((row[other] for other in above[name]), default=-1)
    below: dict[str, list[int]] = {}  # nobody imports it: it comes right above what it imports
    for arrow in drawn:
        below.setdefault(arrow.ends[0], []).append(row[arrow.ends[1]])
    return {n: row[n] if above[n] else min(below.get(n, [1])) - 1 for n in names}


def placed(names: list[str], drawn: list[Arrow]) -> Layout:
    """Put packages into rows, in an order with few crossings, and near what they belong to."""
    row = row_numbers(names, drawn)
    rows: list[list[str]] = [[] for _ in range(max(row.values()) + 1)]
    for name in names:
        rows[row[name]].append(name)
    chains = []
    for arrow in drawn:
        upper, lower = arrow.ends
        between = [f"{upper}>{lower}{'^' * arrow.up}{k}" for k in range(row[upper] + 1, row[lower])]
        for k, place in enumerate(between, start=row[upper] + 1):
            rows[k].append(place)
        chains.append([upper, *between, lower])
    links = [pair for chain in chains for pair in pairwise(chain)]
    return min(_candidates(rows, chains, links), key=lambda plan: _untidy(plan, links))


def _candidates(
    rows: list[list[str]], chains: list[list[str]], links: list[tuple[str, str]]
) -> Iterator[Layout]:
    """Try one order of the rows, then others where one long arrow is first put left or right."""
    best = _ordered(rows, links)
    plan = Layout(best, chains, _straight(best, chains, _positions(best, links)))
    yield plan
    for _ in range(2):
        for chain in chains:
            for left in (True, False) if len(chain) > 2 else ():
                inner = set(chain[1:-1])
                moved = [sorted(row, key=lambda n: (n in inner) != left) for row in plan.rows]
                found = _ordered(moved, links)
                other = Layout(found, chains, _straight(found, chains, _positions(found, links)))
                if _untidy(other, links) < _untidy(plan, links):
                    plan = other
                    yield plan


def _untidy(plan: Layout, links: list[tuple[str, str]]) -> tuple[int, float]:
    """Measure a layout: arrows that cross, and how far arrows go sideways; long ones count more."""
    crossed = sum(_crossings(a, b, links) for a, b in pairwise(plan.rows))
    aside = sum(abs(plan.x[u] - plan.x[v]) * (1 + (">" in u) + (">" in v)) for u, v in links)
    return crossed, round(aside, 3)


def _crossings(first: list[str], second: list[str], links: list[tuple[str, str]]) -> int:
    a = {name: k for k, name in enumerate(first)}
    b = {name: k for k, name in enumerate(second)}
    ends = [(a[u], b[v]) for u, v in links if u in a and v in b]
    return sum(p[0] < q[0] and p[1] > q[1] for p in ends for q in ends)


def _ordered(rows: list[list[str]], links: list[tuple[str, str]]) -> list[list[str]]:
    """Order every row so that arrows cross least, given the rows beside it; until none changes."""
    rows = [list(row) for row in rows]
    for turn in range(8):
        before = [list(row) for row in rows]
        for k in range(len(rows)) if turn % 2 == 0 else reversed(range(len(rows))):
            near = [*rows[max(k - 1, 0) : k], *rows[k + 1 : k + 2]]
            place = {name: (i + 0.5) / len(row) for row in near for i, name in enumerate(row)}
            own = [(u, v) for u, v in links if u in rows[k] or v in rows[k]]
            if len(rows[k]) <= MOST:
                tried = (list(order) for order in permutations(rows[k]))
                rows[k] = min(tried, key=lambda row: _cost(row, k, rows, own, place))
        if rows == before:
            break
    return rows


def _cost(
    row: list[str],
    k: int,
    rows: list[list[str]],
    links: list[tuple[str, str]],
    near: dict[str, float],
) -> tuple[int, float]:
    """Measure one order of one row: arrows that cross, and how far they go sideways."""
    above, below = rows[k - 1] if k else [], rows[k + 1] if k + 1 < len(rows) else []
    place = near | {name: (i + 0.5) / len(row) for i, name in enumerate(row)}
    aside = sum(abs(place[u] - place[v]) for u, v in links if u in place and v in place)
    return _crossings(above, row, links) + _crossings(row, below, links), round(aside, 9)


def _width(place: str) -> float:
    return LANE if ">" in place else BOX + GAP


def _positions(rows: list[list[str]], links: list[tuple[str, str]]) -> dict[str, float]:
    """Return the middle of every place: as near to its neighbours as the boxes of its row allow."""
    x: dict[str, float] = {}
    for row in rows:
        left = WIDTH / 2 - sum(map(_width, row)) / 2
        for name in row:
            x[name] = left + _width(name) / 2
            left += _width(name)
    near: dict[str, list[tuple[str, float]]] = {name: [] for name in x}
    for u, v in links:
        weight = 1.0 + 9.0 * (">" in u) + 9.0 * (">" in v)  # long arrows straight
        near[u].append((v, weight))
        near[v].append((u, weight))
    for turn in range(60):
        for row in rows if turn % 2 == 0 else reversed(rows):
            wishes = []
            for name in row:
                pull = [(x[other], weight) for other, weight in near[name]] + [(WIDTH / 2, 0.2)]
                total = sum(weight for _, weight in pull)
                wishes.append((sum(at * weight for at, weight in pull) / total, total))
            x.update(zip(row, _apart(row, wishes), strict=True))
    return x


def _straight(
    rows: list[list[str]], chains: list[list[str]], x: dict[str, float]
) -> dict[str, float]:
    """Let long arrows go straight down where the boxes beside them leave a way."""
    x = dict(x)
    for chain in chains:
        inner = chain[1:-1]
        low, high = LANE / 2, WIDTH - LANE / 2
        for place in inner:
            row = next(row for row in rows if place in row)
            k = row.index(place)
            for other in row[max(k - 1, 0) : k]:
                low = max(low, x[other] + (_width(other) + LANE) / 2)
            for other in row[k + 1 : k + 2]:
                high = min(high, x[other] - (_width(other) + LANE) / 2)
        if inner and low <= high:
            mean = sum(x[place] for place in inner) / len(inner)
            x.update(dict.fromkeys(inner, min(max(mean, low), high)))
    return x


def _apart(row: list[str], wishes: list[tuple[float, float]]) -> list[float]:
    """Return the middles nearest to the wishes that leave everything of a row its width.

    Least squares with an order: neighbours that would overlap are merged and share their mean.
    """
    offsets = [0.0]
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + (_width(left) + _width(right)) / 2)
    blocks: list[list[float]] = []  # mean, weight, members
    for (wish, weight), offset in zip(wishes, offsets, strict=True):
        blocks.append([wish - offset, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, total, count = blocks.pop()
            before = blocks[-1]
            before[0] = (before[0] * before[1] + mean * total) / (before[1] + total)
            before[1] += total
            before[2] += count
    starts = [mean for mean, _, count in blocks for _ in range(int(count))]
    low, high = 14 + _width(row[0]) / 2, WIDTH - 14 - _width(row[-1]) / 2 - offsets[-1]
    return [
        min(max(start, low), max(low, high)) + off
        for start, off in zip(starts, offsets, strict=True)
    ]


# --- How it looks ----------------------------------------------------------------------------

# Widths of letters in parts of the size of type, with room for fonts that are wider than most.
_NARROW, _WIDE = "ijlftrI.,:;'|()[] ", "mwMW@%"


def text_width(text: str, size: float) -> float:
    """Return how wide a line may come out, in whatever font a browser takes."""
    parts = (0.38 if c in _NARROW else 0.94 if c in _WIDE else 0.63 for c in text)
    return size * sum(parts)


def wrapped(text: str, size: float, room: float) -> list[str]:
    """Cut a sentence into lines that fit."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def colour_of(name: str) -> str:
    """Return the colour of a package's family."""
    return next((c for c, members in FAMILIES.values() if name in members.split()), OTHER)


def draw(source: Path = SOURCE) -> str:
    """Return the picture of a source tree as SVG."""
    sentences, lazy = read_imports(source)
    drawn = arrows(lazy)
    plan = placed(list(sentences), drawn)
    lines = {name: wrapped(text, BODY, BOX - 30) for name, text in sentences.items()}
    y, top, height = float(ABOVE), {}, {}
    for row in plan.rows:
        tallest = max(len(lines[name]) for name in row if name in lines)
        for name in row:
            top[name], height[name] = y, float(38 + LEADING * tallest)
        y += 38 + LEADING * tallest + BETWEEN
    parts = [
        *_header(),
        *_arrows(plan, drawn, top, height),
        *(
            _box(
                f"{name}.py" if (source / f"{name}.py").is_file() else f"{name}/",
                colour_of(name),
                *(plan.x[name], top[name], height[name], lines[name]),
            )
            for name in sentences
        ),
    ]
    caption = (
        "An arrow goes from a package to one that it imports; arrows that follow from others are "
        "left out (transitive reduction). Dashed: imported inside of a function, when it is "
        "needed. Drawn from the imports by tools/floor_plan.py."
    )
    for line in wrapped(caption, 12.5, WIDTH - 60):
        parts.append(f'<text class="quiet" x="24" y="{_number(y)}">{escape(line)}</text>')
        y += 18
    tall = _number(y + 8)
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" width="{WIDTH}" '
        f'height="{tall}" role="img" aria-labelledby="title">',
        '<title id="title">The packages of robustgc and what they import of each other</title>',
        f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
        'markerHeight="8" orient="auto" markerUnits="userSpaceOnUse">'
        f'<path d="M0 0.5 L10 5 L0 9.5 Z" fill="{LINE}"/></marker></defs>',
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{_number(y + 7)}" rx="10" '
        f'fill="{PAPER}" stroke="{FRAME}"/>',
    ]
    return "\n".join([*head, *parts, "</svg>", ""])


_STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"
    f"fill:{INK};font-size:{BODY}px}}"
    ".big{font-size:20px;font-weight:600}"
    ".quiet{font-size:12.5px;"
    f"fill:{QUIET}}}"
    ".name{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace;"
    f"font-size:{TITLE}px;font-weight:700}}"
    f".arrow{{fill:none;stroke:{LINE};stroke-width:1.5;marker-end:url(#tip)}}"
    ".lazy{stroke-dasharray:5 4}"
)


def _header() -> list[str]:
    """Return title and legend."""
    parts = [
        '<text class="big" x="24" y="40">The floor plan of robustgc</text>',
    ]
    x = 24.0
    for label, (colour, _) in FAMILIES.items():
        parts.append(
            f'<rect x="{_number(x)}" y="56" width="12" height="12" rx="3" fill="{colour}"/>'
        )
        parts.append(f'<text class="quiet" x="{_number(x + 18)}" y="66.5">{escape(label)}</text>')
        x += 18 + text_width(label, 12.5) + 16
    return parts


def _box(
    title: str, colour: str, middle: float, top: float, height: float, lines: list[str]
) -> str:
    """Return one package."""
    left = middle - BOX / 2
    indent = f'x="{_number(left + 18)}"'
    body = "".join(
        f'<text {indent} y="{_number(top + 45 + LEADING * k)}">{escape(line)}</text>'
        for k, line in enumerate(lines)
    )
    return (
        f'<g><rect x="{_number(left)}" y="{_number(top)}" width="{BOX}" height="{_number(height)}" '
        f'rx="8" fill="{PAPER}"/>'
        f'<rect x="{_number(left)}" y="{_number(top)}" width="{BOX}" height="{_number(height)}" '
        f'rx="8" fill="{colour}" fill-opacity="0.08" stroke="{colour}" stroke-width="1.3"/>'
        f'<text class="name" style="fill:{colour}" {indent} '
        f'y="{_number(top + 25)}">{escape(title)}</text>{body}</g>'
    )


def _arrows(
    plan: Layout, drawn: list[Arrow], top: dict[str, float], height: dict[str, float]
) -> list[str]:
    """Return the arrows: straight down beside boxes, in a bow from row to row."""
    leaving: dict[str, list[tuple[float, int]]] = {}
    arriving: dict[str, list[tuple[float, int]]] = {}
    for k, chain in enumerate(plan.chains):
        leaving.setdefault(chain[0], []).append((plan.x[chain[1]], k))
        arriving.setdefault(chain[-1], []).append((plan.x[chain[-2]], k))
    parts = []
    for k, (arrow, chain) in enumerate(zip(drawn, plan.chains, strict=True)):
        start = _port(plan.x[chain[0]], leaving[chain[0]], k)
        end = _port(plan.x[chain[-1]], arriving[chain[-1]], k)
        at = [start, *(plan.x[place] for place in chain[1:-1]), end]
        points = [(at[0], top[chain[0]] + height[chain[0]])]
        for place, x in zip(chain[1:-1], at[1:-1], strict=True):
            points += [(x, top[place]), (x, top[place] + height[place])]
        points.append((at[-1], top[chain[-1]]))
        if arrow.up:
            points.reverse()
        path = f"M{_pair(points[0])}"
        for (x0, y0), (x1, y1) in pairwise(points):
            half = (y0 + y1) / 2
            straight = abs(x0 - x1) < 0.05
            path += f"L{_pair((x1, y1))}" if straight else (
                f"C{_pair((x0, half))} {_pair((x1, half))} {_pair((x1, y1))}"
            )  # fmt: skip
        kind = "arrow lazy" if arrow.lazy else "arrow"
        says = f"{arrow.importer} imports {arrow.imported}" + " when it is needed" * arrow.lazy
        parts.append(f'<path class="{kind}" d="{path}"><title>{says}</title></path>')
    return parts


def _port(middle: float, others: list[tuple[float, int]], own: int) -> float:
    """Return where an arrow touches a box: side by side with the others, in the order of them."""
    place = [k for _, k in sorted(others)].index(own)
    step = min(44.0, (BOX - 60) / max(1, len(others) - 1))
    return middle + (place - (len(others) - 1) / 2) * step


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _pair(point: tuple[float, float]) -> str:
    return f"{_number(point[0])},{_number(point[1])}"


def main(arguments: list[str] | None = None) -> int:
    """Write the picture, or say whether it is still that of the imports."""
    parser = argparse.ArgumentParser(description="Draw docs/floor-plan.svg from the imports.")
    parser.add_argument("--check", action="store_true", help="only check: 1 if it is stale")
    picture = draw(SOURCE)
    if parser.parse_args(arguments).check:
        if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == picture:
            return 0
        sys.stderr.write("docs/floor-plan.svg is stale: run python tools/floor_plan.py.\n")
        return 1
    PICTURE.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
