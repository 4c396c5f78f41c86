"""The paper's figures, drawn from result files: one look, and a model looks the same in all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from robustgc.graph.atomic import new_file
from robustgc.paper.problems import MODELS, TUNED
from robustgc.paper.records import Rows, matching, numbers, read_csv

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


@contextmanager
def _figure(folder: Path, name: str, *args: Any, **kwargs: Any) -> Iterator[tuple[Any, Any]]:
    """Open a figure and save it as name.png and name.svg."""
    plt = pyplot()
    settings = {"font.size": 9, "axes.grid": True, "grid.alpha": 0.25, "legend.frameon": False,
                "svg.hashsalt": "robustgc", "axes.spines.top": False,
                "axes.spines.right": False}  # fmt: skip
    with plt.rc_context(settings):
        figure, axes = plt.subplots(*args, layout="constrained", **kwargs)
        yield figure, axes
        folder.mkdir(parents=True, exist_ok=True)
        with new_file(folder / f"{name}.png") as file:
            figure.savefig(file, format="png", dpi=130)
        with new_file(folder / f"{name}.svg") as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
        plt.close(figure)


def _legend(figure: Any, axes: Any) -> None:
    """Put one legend below all panels."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)


def _label_panels(figure: Any, axes: Any, x: str) -> None:
    """Name the axes of a grid of panels that show accuracy, at its left and lower edge."""
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy, %")
    for ax in axes[-1]:
        ax.set_xlabel(x)
    _legend(figure, axes[0, 0])


def losses(data: Path, out: Path) -> None:
    """Draw squared and concave error for a positive and an unknown label."""
    rows = read_csv(data / "losses.csv")
    with _figure(out, "losses", 1, 2, figsize=(7, 2.8), sharey=True) as (figure, axes):
        for ax, name in zip(axes, ("positive", "unknown"), strict=True):
            part = matching(rows, label=name)
            f = numbers(part, "f")
            ax.plot(f, numbers(part, "SE"), ":", color=COLOUR["ZhouGC"],
                    label="squared error (SE)", linewidth=2)  # fmt: skip
            ax.plot(f, numbers(part, "CE"), "-", color=COLOUR["RobustGC"],
                    label="concave error (CE)", linewidth=2)  # fmt: skip
            ax.axhline(0, color="0.6", linewidth=0.7)
            ax.set(title=f"{name} label", xlabel="decision value f", ylim=(-9.2, 9.2))
        axes[0].set_ylabel("error")
        _legend(figure, axes[0])


def chain(data: Path, out: Path) -> None:
    """Draw decision values along the chain for both examples."""
    rows = read_csv(data / "chain.csv")
    examples = list(dict.fromkeys(r["example"] for r in rows))
    with _figure(out, "chain", 2, 1, figsize=(7, 5), sharex=True) as (figure, axes):
        for ax, example in zip(axes, examples, strict=True):
            part = matching(rows, example=example)
            for model in TUNED:
                ax.plot(range(1, 21), numbers(part, "f", model=model), LINE[model],
                        marker=MARKER[model], markersize=4, color=COLOUR[model],
                        label=model)  # fmt: skip
            for r in part[:20]:
                if r["label"] != "0":
                    ax.plot(int(r["node"]) + 1, int(r["label"]), "k+", markersize=11,
                            markeredgewidth=2)  # fmt: skip
            ax.axvline(10.5, color="0.5", linewidth=0.8, linestyle="--")
            ax.axhline(0, color="0.6", linewidth=0.7)
            ax.set(title=f"{example} (+: given labels; dashed: the weak link)",
                   ylabel="decision value f")  # fmt: skip
        axes[1].set(xlabel="node", xticks=range(1, 21))
        _legend(figure, axes[0])


def conditioning(data: Path, out: Path) -> None:
    """Draw the bound and the true condition number against eta."""
    rows = read_csv(data / "conditioning.csv")
    with _figure(out, "conditioning", figsize=(6, 3.4)) as (_, ax):
        for kind, side in (("positive semi-definite", "positive"), ("indefinite", "negative")):
            part = matching(rows, weights=kind)
            eta = numbers(part, "eta")
            ax.semilogy(eta, numbers(part, "bound"), "--", color=CLASS[side],
                        label=f"{kind}: bound")  # fmt: skip
            ax.semilogy(eta, numbers(part, "true"), "o", color=CLASS[side], markersize=4,
                        label=f"{kind}: true")  # fmt: skip
        ax.set(xlabel="eta = gamma / lambda_1", ylabel="condition number")
        ax.legend()


def moons(data: Path, out: Path) -> None:
    """Draw the extension over the plane for four bandwidths, out of range left white."""
    rows, points = read_csv(data / "moons.csv"), read_csv(data / "moons-points.csv")
    sigmas = list(dict.fromkeys(r["sigma"] for r in rows))
    with _figure(out, "moons", 2, 2, figsize=(7.2, 5.6), sharex=True, sharey=True) as (
        figure, axes,
    ):  # fmt: skip
        from matplotlib.colors import ListedColormap  # noqa: PLC0415

        colours = ListedColormap([CLASS["negative"], CLASS["positive"]])
        for ax, sigma in zip(axes.ravel(), sigmas, strict=True):
            part = matching(rows, sigma=sigma)
            x, y = np.unique(numbers(part, "x")), np.unique(numbers(part, "y"))
            side = np.sign(numbers(part, "f")).reshape(len(y), len(x))
            ax.pcolormesh(x, y, np.ma.masked_invalid(side), cmap=colours, vmin=-1, vmax=1,
                          alpha=0.35, rasterized=True)  # fmt: skip
            for name in ("negative", "positive"):
                for labelled, style in (("0", {"s": 9}), ("1", {"s": 60, "marker": "*"})):
                    here = matching(points, truth=name, labelled=labelled)
                    ax.scatter(numbers(here, "x"), numbers(here, "y"), color=CLASS[name],
                               edgecolors="black", linewidths=0.5,
                               label=f"{name}, {'labelled' if labelled == '1' else 'unlabelled'}",
                               **style)  # fmt: skip
            ax.grid(visible=False)
            outside = np.isnan(side).mean()
            ax.set_title(f"sigma = {sigma}: {100 * outside:.0f} % out of range (white)")
        _legend(figure, axes[0, 0])


def blocks(data: Path, out: Path) -> None:
    """Draw the weight matrices of the two block models."""
    rows = read_csv(data / "blocks.csv")
    with _figure(out, "blocks", 1, 2, figsize=(6.4, 3.2)) as (_, axes):
        for ax, name in zip(axes, ("low", "high"), strict=True):
            W = np.zeros((200, 200))
            part = matching(rows, connectivity=name)
            W[[int(r["row"]) for r in part], [int(r["column"]) for r in part]] = 1
            ax.imshow(W, cmap="cividis", interpolation="nearest")
            ax.grid(visible=False)
            ax.set(title=f"{name} inter-cluster connectivity", xlabel="node")
        axes[0].set_ylabel("node")


def noise(data: Path, out: Path) -> None:
    """Draw accuracy against label noise: rows are numbers of labels, columns the two graphs."""
    rows = read_csv(data / "noise.csv")
    labels = sorted({int(r["n_labelled"]) for r in rows})
    shape = (len(labels), 2)
    with _figure(out, "noise", *shape, figsize=(7.2, 1.9 * len(labels)), sharex=True,
                 sharey=True) as (figure, axes):  # fmt: skip
        for i, n in enumerate(labels):
            for j, connectivity in enumerate(("low", "high")):
                _bands(axes[i, j], matching(rows, connectivity=connectivity, n_labelled=n))
                axes[i, j].set_title(f"{connectivity} connectivity, {n} labels")
        _label_panels(figure, axes, "wrong labels, %")


def _bands(ax: Any, rows: Rows) -> None:
    for model in MODELS:
        part = matching(rows, model=model)
        x = [int(r["noise_percent"]) for r in part]
        ax.plot(x, numbers(part, "accuracy_mean"), LINE[model], marker=MARKER[model],
                markersize=4, color=COLOUR[model], label=model)  # fmt: skip
        ax.fill_between(x, numbers(part, "accuracy_min"), numbers(part, "accuracy_max"),
                        color=COLOUR[model], alpha=0.10, linewidth=0)  # fmt: skip


def tuning(data: Path, out: Path) -> None:
    """Draw accuracy against the position in each model's grid, smallest and largest label size."""
    rows = read_csv(data / "tuning.csv")
    datasets = list(dict.fromkeys(r["dataset"] for r in rows))
    with _figure(out, "tuning", len(datasets), 2, figsize=(7.2, 1.8 * len(datasets)), sharex=True,
                 sharey="row", squeeze=False) as (figure, axes):  # fmt: skip
        for i, dataset in enumerate(datasets):
            here = matching(rows, dataset=dataset)
            sizes = sorted({int(r["percent_labelled"]) for r in here})
            for ax, percent in zip(axes[i], (sizes[0], sizes[-1]), strict=True):
                for model in TUNED:
                    means = numbers(here, "accuracy_mean", model=model, percent_labelled=percent)
                    ax.plot(range(1, len(means) + 1), means, LINE[model], color=COLOUR[model],
                            label=model)  # fmt: skip
                ax.set_title(f"{dataset}, {percent} % labelled")
        x = "position in the grid\n(gamma from 1e-5 to 1e5; p; eta from 0 to 1)"
        _label_panels(figure, axes, x)


def outofsample(data: Path, out: Path) -> None:
    """Draw the accuracy of the extended model against the size of its subgraph."""
    rows = read_csv(data / "outofsample.csv")
    size = [int(r["size"]) for r in rows]
    with _figure(out, "outofsample", figsize=(7, 3.6)) as (_, ax):
        kinds = (("accuracy", COLOUR["PF-RobustGC"], "-", "subgraph, extended out of sample"),
                 ("complete", "#555555", "-.", "complete graph"))  # fmt: skip
        for kind, colour, line, label in kinds:
            mean, low, high = (numbers(rows, f"{kind}_{what}") for what in ("mean", "min", "max"))
            ax.plot(size, mean, line, color=colour, label=f"PF-RobustGC, {label}", linewidth=2)
            ax.fill_between(size, low, high, color=colour, alpha=0.15, linewidth=0)
        first = next((int(r["size"]) for r in rows if r["significant"] == "0"), 0)
        late = max((int(r["size"]) for r in rows if r["significant"] == "1"), default=0)
        ax.axvline(first, color="0.2", linestyle=":",
                   label=f"first size without a significant difference: {first}")  # fmt: skip
        if late > first:
            ax.axvline(late, color="0.2", linestyle="--", linewidth=0.8,
                       label=f"last size with one: {late}")  # fmt: skip
        ax.set(xlabel="nodes in the subgraph", ylabel="accuracy, %")
        ax.legend(loc="lower right", fontsize=8)
        ax.set_ylim(bottom=min(numbers(rows, "accuracy_min")) - 12)


# figure: the result file it needs
FIGURES: dict[str, Callable[[Path, Path], None]] = {
    function.__name__: function
    for function in (losses, chain, conditioning, moons, blocks, noise, tuning, outofsample)
}


def draw(data: Path, out: Path) -> list[str]:
    """Draw every figure whose results are there; return their names."""
    drawn = [name for name in FIGURES if (data / f"{name}.csv").is_file()]
    for name in drawn:
        FIGURES[name](data, out)
    return drawn
