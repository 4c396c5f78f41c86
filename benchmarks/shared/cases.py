"""Graphs, labels and points that the benchmarks share. Nothing is downloaded."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FASHION = Path("/usr/share/datasets/fashion-mnist")  # Debian package dataset-fashion-mnist


def block_edges(
    n: int, edges: int, seed: int, inside: float = 0.9, step: int = 2**22
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the edges of a two-block model in chunks: a share `inside` the blocks, no loops."""
    rng = np.random.default_rng(seed)
    half = n // 2
    for start in range(0, edges, step):
        size = min(step, edges - start)
        rows = rng.integers(0, half, size)
        cols = rng.integers(0, half - 1, size)
        cols += cols >= rows  # another node of the same block
        block = rng.integers(0, 2, size) * half
        across = rng.random(size) >= inside
        other = rng.integers(0, half, size) + half
        yield rows + np.where(across, 0, block), np.where(across, other, cols + block)


def truth(n: int) -> NDArray[np.int64]:
    return (np.arange(n) >= n // 2).astype(np.int64)


def noisy_labels(n: int, count: int, wrong: int, seed: int) -> NDArray[np.int64]:
    """Return labels, as many of each block; -1 is unlabelled, `wrong` of them are flipped."""
    rng = np.random.default_rng(seed)
    half = n // 2
    sides = [rng.choice(half, count // 2, replace=False) + k * half for k in (0, 1)]
    nodes = np.concatenate(sides)
    y = np.full(n, -1, dtype=np.int64)
    y[nodes] = truth(n)[nodes]
    flipped = rng.choice(nodes, wrong, replace=False)
    y[flipped] = 1 - y[flipped]
    return y


def fashion() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read all 70,000 images of Fashion-MNIST, scaled to 0..1, and their classes."""
    images, classes = [], []
    for part in ("train", "t10k"):
        for kind, offset, found in (("images", 16, images), ("labels", 8, classes)):
            path = next(FASHION.glob(f"{part}-{kind}*"))
            raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            found.append(np.frombuffer(raw, np.uint8, offset=offset))
    points = np.concatenate(images).reshape(-1, 784) / 255.0
    return points, np.concatenate(classes).astype(np.int64)


def fashion_labels(classes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Ten labels a class, a fifth of them wrong."""
    rng = np.random.default_rng(seed)
    y = np.full(len(classes), -1, dtype=np.int64)
    for k in range(10):
        y[rng.choice(np.flatnonzero(classes == k), 10, replace=False)] = k
    wrong = rng.choice(np.flatnonzero(y >= 0), 20, replace=False)
    y[wrong] = (y[wrong] + rng.integers(1, 10, 20)) % 10
    return y
