"""Sort more records than fit in memory: cut them into buckets of files, sort bucket by bucket.

A record has one or two 64-bit words, the key ``row * 2^32 + column`` and perhaps a weight. Buckets
are ranges of keys. One that is too large is cut again, inside a row if need be, so that a node
with very many neighbours does no harm.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads

Words = NDArray[np.uint64]
HALF = np.uint64(32)
LOW = np.uint64(2**32 - 1)
PIECES = 256  # at most so many buckets, and open files, at a time
CACHED = 2**20  # records that sort fastest
BLOCK = 2**18  # records to distribute at a time


class Bucket(NamedTuple):
    """A file of records with keys from `first` to `last`."""

    path: Path
    words: int  # 1, or 2 with weights
    size: int  # number of records, at most
    first: int
    last: int
    mirrored: bool = False  # the file has every edge once, the bucket has it both ways


def _both_ways(records: Words) -> Words:
    """Add to every edge its mirror, to a loop none; copies of a pair keep their order."""
    keys = records[:, 0]
    back = records[keys >> HALF != keys & LOW]
    back[:, 0] = back[:, 0] << HALF | back[:, 0] >> HALF
    return np.concatenate([records, back])


def _sample(bucket: Bucket, size: int) -> Words:
    """Read about `size` keys at equal distances; mapping the file would fill the memory."""
    step = 8 * bucket.words
    with bucket.path.open("rb", buffering=0) as file:
        records = file.seek(0, 2) // step
        keys = []
        for k in range(0, records, max(1, records // size)):
            file.seek(k * step)
            keys.append(file.read(8))
    return np.frombuffer(b"".join(keys), np.uint64).reshape(-1, 1)


class Sorter:
    """Cut buckets until they fit in memory, and sort them."""

    def __init__(self, buffer: int, words: int, add: bool) -> None:
        # Sorting needs a second copy, and as many buckets wait as there are threads.
        self.limit = max(64, buffer // (24 * words * (threads.n_threads() + 1)))
        self.add = add
        self.loops = threads.loops("io.on_disk._loops")

    def leaves(self, bucket: Bucket) -> Iterator[Bucket]:
        """Yield buckets that fit in memory, or have a single key, in the order of the keys."""
        if bucket.size <= self.limit or bucket.first == bucket.last:
            yield bucket
            return
        for piece in self.split(bucket):
            if piece.size:
                yield from self.leaves(piece)
            else:
                piece.path.unlink()

    def blocks(self, bucket: Bucket, size: int) -> Iterator[Words]:
        """Read the file of a bucket, `size` records at a time."""
        with bucket.path.open("rb") as file:
            while len(block := np.fromfile(file, np.uint64, size * bucket.words)):
                yield block.reshape(-1, bucket.words)
        bucket.path.unlink()

    def cuts(self, bucket: Bucket) -> list[int]:
        """Choose keys that cut a bucket into even pieces, by a sample of it."""
        pieces = -(-bucket.size // min(CACHED, max(1, self.limit * 2 // 3)))
        pieces = min(PIECES, max(2, pieces))
        sample = _sample(bucket, 64 * pieces)
        keys = np.sort((_both_ways(sample) if bucket.mirrored else sample)[:, 0])
        keys, times = np.unique(
            keys[len(keys) * np.arange(1, pieces) // pieces], return_counts=True
        )
        # A key that fills a piece gets one of its own.
        chosen = {*keys.tolist(), *(keys[times > 1] + np.uint64(1)).tolist()}
        inside = sorted(key for key in chosen if bucket.first < key <= bucket.last)
        return inside or [(bucket.first + bucket.last) // 2 + 1]

    def split(self, bucket: Bucket) -> list[Bucket]:
        """Distribute the records of a bucket over new ones."""
        cuts = self.cuts(bucket)
        padded = np.full(2 ** len(cuts).bit_length() - 1, 2**64 - 1, dtype=np.uint64)
        padded[: len(cuts)] = cuts

        def grouped(block: Words) -> tuple[Words, NDArray[np.int64]]:
            records = _both_ways(block) if bucket.mirrored else block
            out, ends = np.empty_like(records), np.empty(len(padded) + 1, dtype=np.int64)
            self.loops.distribute(records, padded, out, ends)
            return out, ends

        paths = [
            bucket.path.with_name(f"{bucket.path.stem}-{d}.work") for d in range(len(cuts) + 1)
        ]
        counts = np.zeros(len(paths), dtype=np.int64)
        blocks = self.blocks(bucket, min(BLOCK, self.limit // 2))
        with ExitStack() as stack:
            files = [stack.enter_context(path.open("wb")) for path in paths]
            for records, ends in threads.in_order(grouped, blocks):
                sizes = np.diff(ends[: len(paths)], prepend=0)
                for d in np.flatnonzero(sizes):
                    files[d].write(records[ends[d] - sizes[d] : ends[d]].data)
                counts += sizes
        firsts, lasts = [bucket.first, *cuts], [*(key - 1 for key in cuts), bucket.last]
        return [
            Bucket(path, bucket.words, int(count), first, last)
            for path, count, first, last in zip(paths, counts, firsts, lasts, strict=True)
        ]

    def merged(self, bucket: Bucket) -> tuple[Words, Words]:
        """Return the records of a bucket, sorted, one per key, and what `merge` counted."""
        counts = np.zeros(4, dtype=np.uint64)
        records = np.empty((0, bucket.words), dtype=np.uint64)
        for block in self.blocks(bucket, self.limit):
            # Only a bucket with a single key has several blocks; its sum goes in front.
            new = _both_ways(block) if bucket.mirrored else block
            records = self.sorted(np.concatenate([records, new]) if len(records) else new)
            kept = self.loops.merge(records, records.view(np.float64), self.add, counts)
            records = records[:kept]
        if bucket.first == bucket.last:  # every block has counted the same pair
            counts[0] = min(int(counts[0]), 1)
        return records, counts

    def sorted(self, records: Words) -> Words:
        """Sort by the key, the lowest digits first, over the bits that differ."""
        keys = records[:, 0]
        differ = int(np.bitwise_or.reduce(keys ^ keys[0]))
        other = np.empty_like(records)
        for base in (0, 32):
            bits = (differ >> base & (2**32 - 1)).bit_length()
            passes = -(-bits // 11)
            for k in range(passes):
                low, high = bits * k // passes, bits * (k + 1) // passes
                counts = np.empty(2 ** (high - low), dtype=np.int64)
                self.loops.radix_pass(records, other, base + low, counts)
                records, other = other, records
        return records
