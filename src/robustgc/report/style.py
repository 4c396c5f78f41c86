"""How the pages look and what they do: the CSS and JavaScript of the folder `assets`."""

import re
from functools import cache
from importlib import resources


@cache
def asset(name: str) -> str:
    """Return a file of the folder `assets`, without the comment at its head.

    That comment is for those who read the file, and is not sent with every page.
    """
    path = resources.files("robustgc.report") / "assets" / name
    return path.read_text(encoding="utf-8").partition("*/\n")[2]


# The colours of classes and lines stand in page.css alone, as --c0 and so on.
N_COLOURS = len(set(re.findall(r"--c\d+(?=:)", asset("page.css"))))
