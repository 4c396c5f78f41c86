"""Numbers and text between ranks, in one message or in several."""

import pytest
from ranks import run

EXCHANGE = """
import sys
import numpy as np
import pyarrow as pa
from robustgc.mpi import exchange
from robustgc.mpi.rows import number_names
from robustgc.mpi.exchange import all_to_all_text
from robustgc.mpi.world import world

comm = world()
exchange.LARGE = int(sys.argv[1])
size, rank = comm.size, comm.rank
rng = np.random.default_rng(3253)  # the same on every rank
counts = rng.integers(0, 40, (size, size))
counts[0, -1] = 0
sent = [[rng.integers(0, 2**60, count) for count in row] for row in counts]
for kind in (np.int64, np.int32, np.float64, np.uint8):
    mine = np.concatenate(sent[rank]).astype(kind)
    got, coming = exchange.all_to_all(comm, counts[rank], mine)
    want = np.concatenate([row[rank] for row in sent]).astype(kind)
    assert coming.tolist() == counts[:, rank].tolist()
    assert got.dtype == kind
    np.testing.assert_array_equal(got, want)
words = [[["né" * int(x % 5) for x in part] for part in row] for row in sent]
flat = pa.array([w for part in words[rank] for w in part], type=pa.large_string())
flat = pa.concat_arrays([pa.array(["not sent"], type=pa.large_string()), flat])[1:]
texts, coming = all_to_all_text(comm, counts[rank], flat)
assert texts.to_pylist() == [w for row in words for w in row[rank]]
none = np.zeros(size, dtype=np.int64)
assert len(exchange.all_to_all(comm, none, np.empty(0))[0]) == 0
nothing = pa.array([], type=pa.large_string())
assert len(all_to_all_text(comm, none, nothing)[0]) == 0

# Names: every rank asks for some, with a count.
every = [rng.integers(-50, 50, 60 + 9 * k) for k in range(size)]
for as_text in (False, True):
    asked = pa.array(every[rank].astype(str)).cast(pa.large_string()) if as_text else every[rank]
    found = number_names(comm, asked, np.arange(len(asked)))
    names = [name for part in comm.allgather(found.names.tolist()) for name in part]
    assert found.names.tolist() == sorted(found.names.tolist())
    assert len(set(names)) == len(names) == found.first[-1]
    known = asked.to_pylist() if as_text else asked.tolist()
    assert [names[k] for k in found.number] == known
    assert (found.first[found.owner] <= found.number).all()
    assert (found.number < found.first[found.owner + 1]).all()
    total = comm.allgather(int(found.counts.sum()))
    assert sum(total) == sum(len(part) * (len(part) - 1) // 2 for part in every)
    if size > 1 and as_text is False:
        assert min(comm.allgather(len(found.names))) > 100 / size / 2  # none has all of them
"""


@pytest.mark.parametrize(("n", "limit"), [(1, 11), (2, 2**27), (3, 11)])
def test_everything_arrives_in_order(n, limit):
    run(n, EXCHANGE, limit)
