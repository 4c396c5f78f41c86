"""One look for all pictures: the same colour, marker and line for the same model everywhere."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robustgc.graph.atomic import new_file

# Okabe and Ito's palette, told apart by colour-blind readers; lines and markers differ as well.
COLOUR = {
    "ZhouGC": "#E69F00",
    "BelkGC": "#009E73",
    "RobustGC": "#0072B2",
    "PF-RobustGC": "#D55E00",
}
CLASS = {"positive": "#56B4E9", "negative": "#CC79A7"}
LINE = {"ZhouGC": ":", "BelkGC": "--", "RobustGC": "-", "PF-RobustGC": "-."}
MARKER = {"ZhouGC": "^", "BelkGC": "s", "RobustGC": "o", "PF-RobustGC": "D"}
MODELS = tuple(LINE)


class MissingPlotError(ImportError):
    """matplotlib is not installed; the text has the line that installs it."""


def pyplot() -> Any:
    """Import matplotlib, drawing to files only."""
    try:
        import matplotlib  # noqa: PLC0415 (an extra, and slow to import)
    except ImportError as error:
        raise MissingPlotError("Pictures need matplotlib: pip install 'robustgc[plot]'.") from error
    matplotlib.use("agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    return plt


def flat(colours: list[str]) -> Any:
    """Return a colour map of these colours and nothing between them."""
    pyplot()
    from matplotlib.colors import ListedColormap  # noqa: PLC0415

    return ListedColormap(colours)


def read(path: Path) -> list[dict[str, str]]:
    """Read the rows of a result file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@contextmanager
def figure(folder: Path, name: str, *args: Any, **kwargs: Any) -> Iterator[tuple[Any, Any]]:
    """Open a figure and save it as name.png and name.svg."""
    plt = pyplot()
    settings = {"font.size": 9, "axes.grid": True, "grid.alpha": 0.25, "legend.frameon": False,
                "svg.hashsalt": "robustgc", "axes.spines.top": False,
                "axes.spines.right": False}  # fmt: skip
    with plt.rc_context(settings):
        drawn, axes = plt.subplots(*args, layout="constrained", **kwargs)
        yield drawn, axes
        folder.mkdir(parents=True, exist_ok=True)
        with new_file(folder / f"{name}.png") as file:
            drawn.savefig(file, format="png", dpi=130)
        with new_file(folder / f"{name}.svg") as file:
            drawn.savefig(file, format="svg", metadata={"Date": None})
        plt.close(drawn)


def legend(drawn: Any, axes: Any, columns: int = 4) -> None:
    """Put one legend below all panels."""
    handles, names = axes.get_legend_handles_labels()
    drawn.legend(handles, names, loc="outside lower center", ncols=columns)
