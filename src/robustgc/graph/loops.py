"""Compiled loops over rows of a sparse matrix or a block of vectors; a call covers rows a to b - 1.

They release the interpreter lock, so `robustgc.graph.threads` runs them side by side on ranges of
rows. Every row is summed in storage order: the number of threads changes no digit of a product.
Indices are read as unsigned numbers, which spares the test for negative ones in the inner loop.
"""

from typing import Any

import numba
import numpy as np


def compiled(loop: Any) -> Any:
    """Compile on first call and keep the machine code on disk, where there is a place for it."""
    try:
        return numba.njit(nogil=True, error_model="numpy", cache=True)(loop)
    except RuntimeError:  # no folder can be written: compile in every process
        return numba.njit(nogil=True, error_model="numpy")(loop)


@compiled
def product(indptr: Any, indices: Any, data: Any, u: Any, out: Any, a: int, b: int) -> None:
    """Store ``sum_j w_ij u_j``; ``data = None`` means that every stored weight is 1.

    A row is read for four columns at a time, with the sums in registers; for more columns its
    entries are still in cache.
    """
    columns = u.shape[1]
    zero, one = 0.0, u.dtype.type(1)  # sums in double: a hub may have millions of terms
    for i in range(a, b):
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        c = 0
        while c + 4 <= columns:
            s0, s1, s2, s3 = zero, zero, zero, zero
            for p in range(first, last):
                j = np.uint64(indices[p])
                w = one if data is None else data[p]
                s0 += w * u[j, c]
                s1 += w * u[j, c + 1]
                s2 += w * u[j, c + 2]
                s3 += w * u[j, c + 3]
            out[i, c], out[i, c + 1], out[i, c + 2], out[i, c + 3] = s0, s1, s2, s3
            c += 4
        while c + 2 <= columns:
            s0, s1 = zero, zero
            for p in range(first, last):
                j = np.uint64(indices[p])
                w = one if data is None else data[p]
                s0 += w * u[j, c]
                s1 += w * u[j, c + 1]
            out[i, c], out[i, c + 1] = s0, s1
            c += 2
        if c < columns:
            s0 = zero
            for p in range(first, last):
                w = one if data is None else data[p]
                s0 += w * u[np.uint64(indices[p]), c]
            out[i, c] = s0


@compiled
def laplacian(
    indptr: Any, indices: Any, data: Any, scale: Any, u: Any, out: Any, dots: Any, a: int, b: int
) -> None:
    """Store ``scale_i l_i`` with ``l_i = sum_j w_ij (u_i - u_j)``; add ``l_i u_i`` to the dots.

    From differences: self-loops drop out, and nothing cancels where neighbours are nearly equal.
    """
    columns = u.shape[1]
    zero, one = 0.0, u.dtype.type(1)  # sums in double: a hub may have millions of terms
    for i in range(a, b):
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        c = 0
        while c + 4 <= columns:
            s0, s1, s2, s3 = zero, zero, zero, zero
            u0, u1, u2, u3 = u[i, c], u[i, c + 1], u[i, c + 2], u[i, c + 3]
            for p in range(first, last):
                j = np.uint64(indices[p])
                w = one if data is None else data[p]
                s0 += w * (u0 - u[j, c])
                s1 += w * (u1 - u[j, c + 1])
                s2 += w * (u2 - u[j, c + 2])
                s3 += w * (u3 - u[j, c + 3])
            out[i, c], out[i, c + 1] = s0 * scale[i], s1 * scale[i]
            out[i, c + 2], out[i, c + 3] = s2 * scale[i], s3 * scale[i]
            dots[c] += s0 * u0
            dots[c + 1] += s1 * u1
            dots[c + 2] += s2 * u2
            dots[c + 3] += s3 * u3
            c += 4
        while c + 2 <= columns:
            s0, s1, u0, u1 = zero, zero, u[i, c], u[i, c + 1]
            for p in range(first, last):
                j = np.uint64(indices[p])
                w = one if data is None else data[p]
                s0 += w * (u0 - u[j, c])
                s1 += w * (u1 - u[j, c + 1])
            out[i, c], out[i, c + 1] = s0 * scale[i], s1 * scale[i]
            dots[c] += s0 * u0
            dots[c + 1] += s1 * u1
            c += 2
        if c < columns:
            s0, u0 = zero, u[i, c]
            for p in range(first, last):
                w = one if data is None else data[p]
                s0 += w * (u0 - u[np.uint64(indices[p]), c])
            out[i, c] = s0 * scale[i]
            dots[c] += s0 * u0


@compiled
def inspect(
    indptr: Any, indices: Any, data: Any, columns: int, degrees: Any, stats: Any, a: int, b: int
) -> None:
    """Read every stored entry once: degrees, and in `stats` what the checks need to know.

    stats[0]: entries out of order, repeated or out of range; [1]: not finite or negative; [2]:
    zero; [3]: on the diagonal; [4]: the smallest and [5]: the largest weight.
    """
    n = np.uint64(columns)
    for i in range(a, b):
        total, before = 0.0, -1
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = indices[p]
            w = 1.0 if data is None else np.float64(data[p])
            stats[0] += j <= before or np.uint64(j) >= n
            stats[1] += not (0.0 <= w < np.inf)
            stats[2] += w == 0.0
            stats[3] += j == i
            stats[4] = min(stats[4], w)
            stats[5] = max(stats[5], w)
            total += w
            before = j
        degrees[i] = total


@compiled
def diagonal(indptr: Any, indices: Any, data: Any, out: Any, a: int, b: int) -> None:
    """Store the entries ``w_ii``."""
    for i in range(a, b):
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            if indices[p] == i:
                out[i] = 1.0 if data is None else data[p]


@compiled
def mixed(x: Any) -> Any:
    """Scatter the bits of a 64-bit number (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled
def random_values(seed: int, before: int, v0: Any, out: Any, a: int, b: int) -> None:
    """Store a random number from -1 to 1 for every node in the last column, 0 where v0 is 0.

    Not signs: those can be orthogonal to v1 in a graph of a few nodes. `before`: how many rows come
    before the first of these.
    """
    last = out.shape[1] - 1
    for i in range(a, b):
        bits = mixed(mixed(np.uint64(seed)) + np.uint64(before + i) * np.uint64(0x9E3779B97F4A7C15))
        value = np.float64(bits >> np.uint64(11)) * 2.0**-52 - 1.0
        out[i, last] = value if v0[i] > 0 else 0.0


@compiled
def asymmetry(indptr: Any, indices: Any, bits: Any, first: int, out: Any, a: int, b: int) -> None:
    """Add a hash of every entry above the diagonal, subtract that of its mirror below.

    Modulo 2^64 the sum is 0 if the matrix is symmetric to the last bit, and otherwise only with
    probability 2^-64: one pass over the entries and no second matrix. `first`: the number of the
    first row, where others come before it.
    """
    total = np.uint64(0)
    for i in range(a, b):
        row = np.uint64(first + i)
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint64(indices[p])
            low, high = min(row, j), max(row, j)
            h = mixed(mixed(low * np.uint64(0x9E3779B97F4A7C15) + high) + np.uint64(1))
            if bits is not None:
                h = mixed(h ^ bits[p])
            if j > row:
                total += h
            elif j < row:
                total -= h
    out[0] = total


@compiled
def _root(parent: Any, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@compiled
def _join(parent: Any, i: int, j: int) -> None:
    i, j = _root(parent, i), _root(parent, j)
    if i < j:
        parent[j] = i
    else:
        parent[i] = j


@compiled
def components(indptr: Any, indices: Any, data: Any, root: Any, least: float, number: Any) -> int:
    """Give components numbers in the order of their first node; return how many there are.

    An entry joins its nodes if ``w_ij > least root_i root_j``. Two entries per node join almost
    everything; after that only nodes outside the largest piece need to look at their others.
    Columns beyond the rows, which are nodes of other processes, join nothing here.
    """
    n = len(number)
    for i in range(n):
        number[i] = i
    for i in range(n):
        for p in range(indptr[i], min(indptr[i] + 2, indptr[i + 1])):
            j = indices[p]
            w = 1.0 if data is None else data[p]
            if j < n and w > least * root[i] * root[j]:
                _join(number, i, j)
    sample = np.empty(min(n, 1000), dtype=np.int64)
    for k in range(len(sample)):
        sample[k] = _root(number, k * n // len(sample))
    sample.sort()
    largest, count, most = -1, 0, 0
    for k in range(len(sample)):
        count = count + 1 if k and sample[k] == sample[k - 1] else 1
        if count > most:
            most, largest = count, sample[k]
    for i in range(n):
        if _root(number, i) == _root(number, largest):
            continue
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            w = 1.0 if data is None else data[p]
            if j < n and w > least * root[i] * root[j]:
                _join(number, i, j)
    for i in range(n):
        number[i] = _root(number, i)
    n_components = 0
    for i in range(n):  # a root is the first node of its piece: its number is known before others
        if number[i] == i:
            number[i] = n_components
            n_components += 1
        else:
            number[i] = number[number[i]]
    return n_components


@compiled
def leaves(indptr: Any, indices: Any, order: Any) -> int:
    """Store the nodes of branches, each before the one that it hangs on; return how many."""
    n, stored, done = len(indptr) - 1, 0, 0
    left = np.zeros(n, np.int64)  # neighbours that are not stored yet
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            left[i] += indices[p] != i
        if left[i] == 1:
            order[stored] = i
            stored += 1
    while done < stored:
        i = order[done]
        done += 1
        left[i] = 0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if left[j] > 0 and j != i:
                left[j] -= 1
                if left[j] == 1:
                    order[stored] = j
                    stored += 1
    return stored


# Over blocks of vectors, for `Laplacian`.


@compiled
def recur(
    w: Any, q: Any, before: Any, v0: Any, alpha: Any, beta: Any, sums: Any, a: int, b: int
) -> None:
    """Take ``alpha q + beta before`` from w; add up ``|w|^2`` and ``v0' w`` for every column."""
    columns = w.shape[1]
    for i in range(a, b):
        for c in range(columns):
            x = w[i, c] - alpha[c] * q[i, c] - beta[c] * before[i, c]
            w[i, c] = x
            sums[0, c] += np.float64(x) * x
            sums[1, c] += np.float64(x) * v0[i]


@compiled
def normalise(
    w: Any, v0: Any, off: Any, size: Any, scale: Any, q: Any, u: Any, a: int, b: int
) -> None:
    """Store ``q = (w - off v0) size`` and ``u = scale q``."""
    columns = w.shape[1]
    for i in range(a, b):
        for c in range(columns):
            x = (w[i, c] - off[c] * v0[i]) * size[c]
            q[i, c] = x
            u[i, c] = x * scale[i]


@compiled
def advance(
    w: Any,
    x: Any,
    before: Any,
    v0: Any,
    scale: Any,
    factors: Any,
    u: Any,
    copy: Any,
    sums: Any,
    a: int,
    b: int,
) -> None:
    """Store the next vectors ``f0 w + f1 x + f2 before + f3 v0`` in before, scaled in u.

    The first of them go into copy, too; ``|.|^2`` and ``v0' .`` are added up by column. The whole
    recurrence is this one pass over the vectors.
    """
    columns, copied = w.shape[1], copy.shape[0]
    for first in range(a, b, 256):  # a few rows at a time: in cache for all columns
        last = min(first + 256, b)
        for c in range(columns):
            f0, f1, f2, f3 = factors[0, c], factors[1, c], factors[2, c], factors[3, c]
            square, along = 0.0, 0.0
            for i in range(first, last):
                y = f0 * w[i, c] + f1 * x[i, c] + (f2 * before[i, c] + f3 * v0[i])
                before[i, c] = y
                u[i, c] = y * scale[i]
                square += np.float64(y) * y
                along += np.float64(y) * v0[i]
            if c < copied:
                for i in range(first, last):
                    copy[c, i] = before[i, c]
            sums[0, c] += square
            sums[1, c] += along


@compiled
def chebyshev(
    indptr: Any,
    indices: Any,
    data: Any,
    scale: Any,
    x: Any,
    before: Any,
    factors: Any,
    shares: Any,
    sums: Any,
    a: int,
    b: int,
) -> None:
    """Store ``f0 L_N x + f1 x + f2 before`` in before; add shares of all three to the sums.

    One pass over the matrix and the vectors. Shares are those of the new vector, of x and of what
    before was, by sum: sums that are added to every third time only. The loops over columns are
    those that become vector instructions, so sums are in the precision of x.
    """
    columns, f1, f2 = x.shape[1], factors[1], factors[2]
    one = x.dtype.type(1)
    row = np.empty(columns, x.dtype)
    for i in range(a, b):
        own = scale[i]
        for c in range(columns):
            row[c] = 0
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint64(indices[p])
            w = one if data is None else x.dtype.type(data[p])
            other = scale[j]
            for c in range(columns):
                row[c] += w * (own * x[i, c] - other * x[j, c])
        own *= factors[0]
        for c in range(columns):
            row[c] = own * row[c] + f1 * x[i, c] + f2 * before[i, c]
        for s in range(shares.shape[1]):
            s0, s1, s2 = shares[0, s], shares[1, s], shares[2, s]
            for c in range(columns):
                sums[s, i, c] += s0 * row[c] + s1 * x[i, c] + s2 * before[i, c]
        for c in range(columns):
            before[i, c] = row[c]
