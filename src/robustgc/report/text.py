"""The frame of a page, and text that is safe in it: all that came from outside goes through here.

A page is one HTML file that asks for nothing from elsewhere. How it looks and what it does is in
the CSS and JavaScript of the folder `assets`.
"""

import base64
import hashlib
import json
import math
import re
from functools import cache
from html import escape
from importlib import resources
from typing import Any

LONGEST = 120  # characters of a name that are shown
# Control characters and halves of surrogate pairs have no place in HTML or UTF-8.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_IN_SCRIPT = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def plain(value: Any, longest: int = LONGEST) -> str:
    """Return a name as text that a page can hold, cut if it is very long; not yet escaped."""
    text = _UNFIT.sub("\ufffd", str(value).replace("\r\n", "\n"))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def safe(value: Any, longest: int = LONGEST) -> str:
    """Return a name as HTML, in text or in a quoted attribute."""
    return escape(plain(value, longest))


def name(value: Any) -> str:
    """Return a name as HTML that cannot change the direction of the text around it."""
    return f"<bdi>{safe(value) or '(no name)'}</bdi>"


def script_json(data: Any) -> str:
    """Return JSON that ends no script element and no line of JavaScript."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_IN_SCRIPT)


def known(value: float | None) -> bool:
    """Whether there is a number to show."""
    return value is not None and math.isfinite(value)


def number(value: float | None, digits: int = 4) -> str:
    """Return a number in few digits, "not known" if there is none."""
    if value is None or math.isnan(value):
        return "not known"
    if math.isinf(value):
        return "unbounded" if value > 0 else "-unbounded"
    size = abs(value)
    if size and (size < 1e-3 or size >= 1e6):
        mantissa, power = f"{value:.{digits - 2}e}".split("e")
        return f"{mantissa} &times; 10<sup>{int(power)}</sup>".replace("-", "&minus;")
    return f"{value:.{digits}g}".replace("-", "&minus;")


def count(value: int, one: str, many: str | None = None) -> str:
    """Return how many of what."""
    return f"{whole(value)} {one if value == 1 else many or one + 's'}"


def whole(value: int) -> str:
    """Return a whole number, from 10,000 on with a gap at the thousands."""
    return f"{value:,}".replace(",", "\u202f") if abs(value) >= 10_000 else str(value)


def fixed(value: float | None, digits: int = 2) -> str:
    """Return a number with as many places as its neighbours in the column."""
    if value is None or not math.isfinite(value):
        return "&ndash;"
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "&minus;")  # no -0


def table(label: str, caption: str, heads: str, rows: str, attributes: str = "") -> str:
    """Return a table that scrolls by itself where the page is narrower."""
    caption = f"<caption><span>{caption}</span></caption>" if caption else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table{attributes}>'
        f"{caption}<thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


@cache
def asset(name: str) -> str:
    """Return a file of the folder `assets`, without the comment at its head.

    That comment is for those who read the file, and is not sent with every page.
    """
    path = resources.files("robustgc.report") / "assets" / name
    return path.read_text(encoding="utf-8").partition("*/\n")[2]


# The colours of classes and lines stand in page.css alone, as --c0 and so on.
N_COLOURS = len(set(re.findall(r"--c\d+(?=:)", asset("page.css"))))


def document(title: str, lead: str, body: str, *, style: str = "", script: str = "") -> str:
    """Return a whole page: its title, one sentence that sums it up, and what follows.

    The title is text, lead and body are HTML; `script` runs at the end, and the page allows no
    other.
    """
    code = f"\n<script>{script}</script>" if script else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{safe(title)}</title><style>{asset('page.css')}{style}</style></head>\n"
        f'<body><main><h1>{name(title)}</h1><p class="lead" id="summary">{lead}</p>'
        f"{body}</main>{code}</body></html>\n"
    )


def _policy(script: str) -> str:
    """Allow this script, by its hash, and styles; nothing else, and nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " if script else ""
    return (
        f"default-src 'none'; {allowed}style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
