"""Edges from text files, .npy files or arrays, in checked chunks of bounded size."""

import gzip
import math
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.folder import map_array
from robustgc.graph.quoting import quoted, short

TEXT = (".csv", ".tsv", ".txt", ".edges")
LIMIT = 2**32 - 1  # nodes: row and column share a 64-bit word
BLOCK = 2**18  # bytes of text at a time
ROWS = 2**16  # edges of an array at a time, few enough to stay in cache

Chunk = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]


def read(edges: str | Path | Iterable[Any], limit: int, weighted: bool | None) -> Iterator[Chunk]:
    """Yield sources, targets and weights of files or arrays; all have weights or none has."""
    first = ""
    for where, (sources, targets, weights) in _chunks(edges, limit, weighted):
        if weighted is None:
            weighted, first = weights is not None, where
        if weighted and weights is None:
            raise ValueError(
                f"{where}: no weights, but {first or 'weighted=True'} asks for them. Add a third "
                "column, or pass weighted=False to ignore all weights."
            )
        if weights is not None and not weighted and first:
            raise ValueError(
                f"{where}: weights, but {first} has none. Pass weighted=False to ignore them."
            )
        yield sources, targets, weights if weighted else None


def _chunks(edges: Any, limit: int, weighted: bool | None) -> Iterator[tuple[str, Chunk]]:
    paths = [edges] if isinstance(edges, str | Path) else edges
    if isinstance(paths, list | tuple) and all(isinstance(path, str | Path) for path in paths):
        files = [Path(path) for path in paths]
        for path in files:  # before hours of work, not after
            _check_name(path)
        for path in files:
            chunks = _text(path, limit, weighted)
            if path.suffix == ".npy":
                chunks = _pieces(_npy(path), limit, f"{path}, row", None)
            yield from ((str(path), chunk) for chunk in chunks)
        return
    if not isinstance(edges, Iterable):
        raise TypeError(
            f"edges are of type {type(edges).__name__}; give paths of edge files, or chunks of "
            "arrays (sources, targets[, weights])."
        )
    for number, chunk in enumerate(edges):
        where = f"chunk {number}"
        pieces = _pieces(_arrays(chunk, where), limit, f"{where}, edge", weighted)
        yield from ((where, piece) for piece in pieces)


def _check_name(path: Path) -> None:
    if path.suffix != ".npy" and Path(path.name.removesuffix(".gz")).suffix not in TEXT:
        raise ValueError(
            f"{path}: unknown kind of file; allowed are .npy and {', '.join(TEXT)}, these also "
            "with .gz. Rename or convert it."
        )
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; check the name.")


def _arrays(chunk: Any, where: str) -> list[NDArray[Any]]:
    if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
        raise ValueError(
            f"{where}: not a tuple (sources, targets) or (sources, targets, weights). Put one "
            "pair of arrays into a list: [(sources, targets)]."
        )
    arrays = [np.asarray(part) for part in chunk]
    if any(array.shape != arrays[0].shape or array.ndim != 1 for array in arrays):
        raise ValueError(
            f"{where}: arrays of shapes {[array.shape for array in arrays]}; give one-dimensional "
            "arrays of equal length."
        )
    _check_integers(arrays[:2], where)
    return arrays


def _check_integers(arrays: Iterable[NDArray[Any]], where: str) -> None:
    for array in arrays:
        if array.dtype.kind not in "iu":
            raise ValueError(
                f"{where}: nodes of type {array.dtype}; number the nodes 0, 1, 2, ... and give "
                "integers."
            )


def _pieces(
    arrays: list[NDArray[Any]], limit: int, where: str, weighted: bool | None
) -> Iterator[Chunk]:
    """Yield checked parts of the columns of edges."""
    for start in range(0, len(arrays[0]), ROWS):
        part = [np.ascontiguousarray(array[start : start + ROWS]) for array in arrays]
        yield _checked(part, limit, where, start, weighted)


def _checked(
    arrays: list[NDArray[Any]], limit: int, where: str, start: int, weighted: bool | None
) -> Chunk:
    """Refuse nodes out of range and weights that are not positive and finite."""
    for nodes in arrays[:2]:
        if nodes.min() < 0 or nodes.max() >= limit:
            k = int(np.flatnonzero((nodes < 0) | (nodes >= limit))[0])
            raise ValueError(f"{where} {start + k}: {_bad_node(str(nodes[k]), limit)}")
    sources, targets = (array.astype(np.int64, copy=False) for array in arrays[:2])
    if len(arrays) == 2 or weighted is False:
        return sources, targets, None
    weights = arrays[2].astype(np.float64, copy=False)
    good = (weights > 0) & (weights < np.inf)
    if not good.all():
        k = int(np.flatnonzero(~good)[0])
        raise ValueError(f"{where} {start + k}: {_bad_weight(float(weights[k]))}")
    return sources, targets, weights


def _bad_node(node: str, limit: int) -> str:
    """Say why a node is none."""
    if re.fullmatch(r"-\d+", node):
        return f"node {short(node)} is negative; number the nodes from 0."
    if not re.fullmatch(r"[0-9]+", node):
        return f"node {quoted(node)} is not a whole number; number the nodes 0, 1, 2, ..."
    if limit == LIMIT:
        return f"node {short(node)} is not below {LIMIT}; number the nodes without gaps."
    return f"node {short(node)} is not below n_nodes = {limit}; raise n_nodes or leave it out."


def _bad_weight(weight: float) -> str:
    if weight == 0:
        return "weight 0; leave out edges without weight."
    name = (
        "not a number" if math.isnan(weight) else "infinite" if math.isinf(weight) else "negative"
    )
    return f"weight {weight} is {name}; weights must be positive and finite. Correct or remove it."


def _npy(path: Path) -> list[NDArray[Any]]:
    """Return both columns of an array in a file, mapped into memory."""
    try:
        pairs = map_array(path)
    except ValueError as failure:
        raise ValueError(f"{path} cannot be read ({failure}). Write it with numpy.save.") from None
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"{path}: an array of shape {pairs.shape}; give one of shape (edges, 2).")
    _check_integers([pairs], str(path))
    return [pairs[:, 0], pairs[:, 1]]


def _text(path: Path, limit: int, weighted: bool | None) -> Iterator[Chunk]:
    columns, before = 0, 0
    for block in _blocks(path):
        text, skipped = block, 0
        if not columns:
            columns, skipped = _columns(block)
            text = block[skipped:]
            if weighted is not None and columns:
                columns = 3 if weighted else 2
        if columns:
            here = before + block.count(b"\n", 0, skipped)
            yield _parsed(text, _Line(path, here, columns, weighted is False, limit))
        before += block.count(b"\n")


def _blocks(path: Path) -> Iterator[bytes]:
    """Read whole lines, about BLOCK bytes at a time; every block ends with a line end."""
    rest, started = b"", False
    opened = gzip.open(path) if path.suffix == ".gz" else path.open("rb")
    with cast(BinaryIO, opened) as file:
        while True:
            try:
                new = file.read(BLOCK)
            except (EOFError, OSError) as failure:
                raise ValueError(
                    f"{path} cannot be read ({short(failure)}). Get it again."
                ) from failure
            if not new:
                break
            new = new if started else new.removeprefix(BOM_UTF8)
            started = True
            cut = new.rfind(b"\n") + 1
            if cut:
                yield rest + new[:cut]
                rest = new[cut:]
            else:
                rest += new
            if len(rest) > BLOCK:
                raise ValueError(f"{path}: a line of {len(rest)} bytes; is it a text file?")
    if rest:
        yield rest + b"\n"


def _columns(block: bytes) -> tuple[int, int]:
    """Count the columns of the first line with an edge, and the bytes of a header before it."""
    read, header = 0, 0
    for line in block.splitlines(keepends=True):
        read += len(line)
        words = _words(line)
        if words and not header and math.isnan(_number(words[0])):
            header = read
        elif words:
            return len(words), header
    return 0, header


def _number(word: bytes | str) -> float:
    """Return the number, NaN if it is none."""
    try:
        return float(word)
    except ValueError:
        return math.nan


def _words(line: bytes) -> list[str]:
    """Split a line at commas, tabs and spaces; a comment has no words."""
    text = line.decode("utf-8", "replace").strip(" \t\r\n")
    return [] if not text or text[0] in "#%" else re.split(r"[ \t]*,[ \t]*|[ \t]+", text)


def _columns_of(words: list[str]) -> str:
    return f"{len(words)} column{'s' * (len(words) != 1)}"


@dataclass(frozen=True)
class _Line:
    """How a line of an edge file is read, and what is said of one that cannot be.

    Only lines that are not plain come here. The others are read by `_loops.parse`: 1e6 of them in
    0.08 s (0.17 s with weights), where `edge_tables`, which reads any names, takes 0.27 s (0.32).
    """

    path: Path
    before: int  # lines before the block
    columns: int
    rest: bool  # further columns are ignored
    limit: int

    def edge(self, words: list[str]) -> tuple[int, int, float]:
        """Return the edge, or raise an error without the place."""
        if self.columns not in (2, 3):
            raise ValueError(
                f"{_columns_of(words)}; give source, target and perhaps a weight on every line."
            )
        if len(words) < self.columns or (len(words) > self.columns and not self.rest):
            raise ValueError(
                f"{_columns_of(words)} where {self.columns} are expected; give every line the same "
                "columns (weighted=False reads the first two)."
            )
        for word in words[:2]:
            if not re.fullmatch(r"[0-9]+", word) or int(word) >= self.limit:
                raise ValueError(_bad_node(word, self.limit))
        if self.columns == 2:
            return int(words[0]), int(words[1]), 1.0
        weight = _number(words[2])
        if math.isnan(weight) and words[2].lower() != "nan":
            raise ValueError(f"weight {quoted(words[2])} is not a number; correct it.")
        if not 0 < weight < math.inf:
            raise ValueError(_bad_weight(weight))
        return int(words[0]), int(words[1]), weight


def _parsed(text: bytes, line: _Line) -> Chunk:
    """Read the lines of a block."""
    lines = text.count(b"\n")
    sources, targets = np.empty(lines, np.int64), np.empty(lines, np.int64)
    weights = np.empty(lines) if line.columns == 3 else None
    hard = np.empty((lines, 4), np.int64)
    letters = np.frombuffer(text, dtype=np.uint8)
    k, n_hard = threads.loops("io.on_disk._loops").parse(
        letters, line.rest, line.limit, sources, targets, weights, hard
    )
    for at, start, first, last in hard[:n_hard].tolist():
        weight = _number(text[first:last])
        if weights is not None and 0 < weight < math.inf:  # only in another notation
            weights[at] = weight
            continue
        words = _words(text[start : text.index(b"\n", start)])
        try:
            sources[at], targets[at], weight = line.edge(words)
        except ValueError as failure:
            number = line.before + text.count(b"\n", 0, start) + 1
            raise ValueError(f"{line.path}, line {number}: {failure}") from None
        if weights is not None:
            weights[at] = weight
    return sources[:k], targets[:k], None if weights is None else weights[:k]
