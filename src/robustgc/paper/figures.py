"""The paper's figures, drawn from result files."""

from pathlib import Path
from typing import Any

import numpy as np

from robustgc.paper.style import CLASS, COLOUR, LINE, MARKER, MODELS, figure, flat, legend, read

Rows = list[dict[str, str]]


def losses(data: Path, out: Path) -> None:
    """Draw squared and concave error for a positive and an unknown label."""
    rows = read(data / "losses.csv")
    with figure(out, "losses", 1, 2, figsize=(7, 2.8), sharey=True) as (drawn, axes):
        for ax, name in zip(axes, ("positive", "unknown"), strict=True):
            part = [r for r in rows if r["label"] == name]
            f = [float(r["f"]) for r in part]
            ax.plot(f, [float(r["SE"]) for r in part], ":", color=COLOUR["ZhouGC"],
                    label="squared error (SE)", linewidth=2)  # fmt: skip
            ax.plot(f, [float(r["CE"]) for r in part], "-", color=COLOUR["RobustGC"],
                    label="concave error (CE)", linewidth=2)  # fmt: skip
            ax.axhline(0, color="0.6", linewidth=0.7)
            ax.set(title=f"{name} label", xlabel="decision value f", ylim=(-9.2, 9.2))
        axes[0].set_ylabel("error")
        legend(drawn, axes[0])


def chain(data: Path, out: Path) -> None:
    """Draw decision values along the chain for both examples."""
    rows = read(data / "chain.csv")
    examples = list(dict.fromkeys(r["example"] for r in rows))
    with figure(out, "chain", 2, 1, figsize=(7, 5), sharex=True) as (drawn, axes):
        for ax, example in zip(axes, examples, strict=True):
            part = [r for r in rows if r["example"] == example]
            for model in ("ZhouGC", "BelkGC", "RobustGC"):
                f = [float(r["f"]) for r in part if r["model"] == model]
                ax.plot(range(1, 21), f, LINE[model], marker=MARKER[model], markersize=4,
                        color=COLOUR[model], label=model)  # fmt: skip
            for r in part[:20]:
                if r["label"] != "0":
                    ax.plot(int(r["node"]) + 1, int(r["label"]), "k+", markersize=11,
                            markeredgewidth=2)  # fmt: skip
            ax.axvline(10.5, color="0.5", linewidth=0.8, linestyle="--")
            ax.axhline(0, color="0.6", linewidth=0.7)
            ax.set(title=f"{example} (+: given labels; dashed: the weak link)",
                   ylabel="decision value f")  # fmt: skip
        axes[1].set(xlabel="node", xticks=range(1, 21))
        legend(drawn, axes[0])


def conditioning(data: Path, out: Path) -> None:
    """Draw the bound and the true condition number against eta."""
    rows = read(data / "conditioning.csv")
    with figure(out, "conditioning", figsize=(6, 3.4)) as (_, ax):
        kinds = (("positive semi-definite", "positive"), ("indefinite", "negative"))
        for kind, side in kinds:
            colour = CLASS[side]
            part = [r for r in rows if r["weights"] == kind]
            eta = [float(r["eta"]) for r in part]
            ax.semilogy(eta, [float(r["bound"]) for r in part], "--", color=colour,
                        label=f"{kind}: bound")  # fmt: skip
            ax.semilogy(eta, [float(r["true"]) for r in part], "o", color=colour,
                        markersize=4, label=f"{kind}: true")  # fmt: skip
        ax.set(xlabel="eta = gamma / lambda_1", ylabel="condition number")
        ax.legend()


def moons(data: Path, out: Path) -> None:
    """Draw the extension over the plane for four bandwidths, out of range left white."""
    rows, points = read(data / "moons.csv"), read(data / "moons-points.csv")
    sigmas = list(dict.fromkeys(r["sigma"] for r in rows))
    with figure(out, "moons", 2, 2, figsize=(7.2, 5.6), sharex=True, sharey=True) as (drawn, axes):
        for ax, sigma in zip(axes.ravel(), sigmas, strict=True):
            part = [r for r in rows if r["sigma"] == sigma]
            x = np.unique([float(r["x"]) for r in part])
            y = np.unique([float(r["y"]) for r in part])
            side = np.sign([float(r["f"]) for r in part]).reshape(len(y), len(x))
            colours = [CLASS["negative"], CLASS["positive"]]
            ax.pcolormesh(x, y, np.ma.masked_invalid(side), cmap=flat(colours), vmin=-1, vmax=1,
                          alpha=0.35, rasterized=True)  # fmt: skip
            outside = np.isnan(side).mean()
            for name in ("negative", "positive"):
                for labelled, style in (("0", {"s": 9}), ("1", {"s": 60, "marker": "*"})):
                    here = [p for p in points if p["truth"] == name and p["labelled"] == labelled]
                    ax.scatter([float(p["x"]) for p in here], [float(p["y"]) for p in here],
                               color=CLASS[name], edgecolors="black", linewidths=0.5,
                               label=f"{name}, {'labelled' if labelled == '1' else 'unlabelled'}",
                               **style)  # fmt: skip
            ax.grid(visible=False)
            ax.set_title(f"sigma = {sigma}: {100 * outside:.0f} % out of range (white)")
        legend(drawn, axes[0, 0])


def blocks(data: Path, out: Path) -> None:
    """Draw the weight matrices of the two block models."""
    rows = read(data / "blocks.csv")
    with figure(out, "blocks", 1, 2, figsize=(6.4, 3.2)) as (_, axes):
        for ax, name in zip(axes, ("low", "high"), strict=True):
            W = np.zeros((200, 200))
            part = [r for r in rows if r["connectivity"] == name]
            W[[int(r["row"]) for r in part], [int(r["column"]) for r in part]] = 1
            ax.imshow(W, cmap="cividis", interpolation="nearest")
            ax.grid(visible=False)
            ax.set(title=f"{name} inter-cluster connectivity", xlabel="node")
        axes[0].set_ylabel("node")


def noise(data: Path, out: Path) -> None:
    """Draw accuracy against label noise: rows are numbers of labels, columns the two graphs."""
    rows = read(data / "noise.csv")
    labels = sorted({int(r["n_labelled"]) for r in rows})
    shape = (len(labels), 2)
    with figure(out, "noise", *shape, figsize=(7.2, 1.9 * len(labels)), sharex=True,
                sharey=True) as (drawn, axes):  # fmt: skip
        for i, n in enumerate(labels):
            for j, connectivity in enumerate(("low", "high")):
                ax = axes[i, j]
                here = [
                    r
                    for r in rows
                    if r["connectivity"] == connectivity and r["n_labelled"] == str(n)
                ]
                _bands(ax, here)
                ax.set_title(f"{connectivity} connectivity, {n} labels")
            axes[i, 0].set_ylabel("accuracy, %")
        for ax in axes[-1]:
            ax.set_xlabel("wrong labels, %")
        legend(drawn, axes[0, 0])


def _bands(ax: Any, rows: Rows) -> None:
    for model in MODELS:
        part = [r for r in rows if r["model"] == model]
        x = [int(r["noise_percent"]) for r in part]
        ax.plot(x, [float(r["accuracy_mean"]) for r in part], LINE[model], marker=MARKER[model],
                markersize=4, color=COLOUR[model], label=model)  # fmt: skip
        ax.fill_between(x, [float(r["accuracy_min"]) for r in part],
                        [float(r["accuracy_max"]) for r in part], color=COLOUR[model],
                        alpha=0.10, linewidth=0)  # fmt: skip


def tuning(data: Path, out: Path) -> None:
    """Draw accuracy against the position in each model's grid, smallest and largest label size."""
    rows = read(data / "tuning.csv")
    datasets = list(dict.fromkeys(r["dataset"] for r in rows))
    with figure(out, "tuning", len(datasets), 2, figsize=(7.2, 1.8 * len(datasets)), sharex=True,
                sharey="row", squeeze=False) as (drawn, axes):  # fmt: skip
        for i, dataset in enumerate(datasets):
            here = [r for r in rows if r["dataset"] == dataset]
            sizes = sorted({int(r["percent_labelled"]) for r in here})
            for ax, percent in zip(axes[i], (sizes[0], sizes[-1]), strict=True):
                for model in ("ZhouGC", "BelkGC", "RobustGC"):
                    f = [
                        float(r["accuracy_mean"])
                        for r in here
                        if r["model"] == model and r["percent_labelled"] == str(percent)
                    ]
                    ax.plot(range(1, len(f) + 1), f, LINE[model], color=COLOUR[model], label=model)
                ax.set_title(f"{dataset}, {percent} % labelled")
            axes[i, 0].set_ylabel("accuracy, %")
        for ax in axes[-1]:
            ax.set_xlabel("position in the grid\n(gamma from 1e-5 to 1e5; p; eta from 0 to 1)")
        legend(drawn, axes[0, 0])


def outofsample(data: Path, out: Path) -> None:
    """Draw the accuracy of the extended model against the size of its subgraph."""
    rows = read(data / "outofsample.csv")
    size = [int(r["size"]) for r in rows]
    with figure(out, "outofsample", figsize=(7, 3.6)) as (_, ax):
        kinds = (("accuracy", COLOUR["PF-RobustGC"], "-", "subgraph, extended out of sample"),
                 ("complete", "#555555", "-.", "complete graph"))  # fmt: skip
        for kind, colour, line, label in kinds:
            mean, low, high = (
                [float(r[f"{kind}_{what}"]) for r in rows] for what in ("mean", "min", "max")
            )
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
        ax.set_ylim(bottom=min(float(r["accuracy_min"]) for r in rows) - 12)


# figure: the result file it needs
FIGURES = {"losses": losses, "chain": chain, "conditioning": conditioning, "moons": moons,
           "blocks": blocks, "noise": noise, "tuning": tuning,
           "outofsample": outofsample}  # fmt: skip


def draw(data: Path, out: Path) -> list[str]:
    """Draw every figure whose results are there; return their names."""
    drawn = [name for name in FIGURES if (data / f"{name}.csv").is_file()]
    for name in drawn:
        FIGURES[name](data, out)
    return drawn
