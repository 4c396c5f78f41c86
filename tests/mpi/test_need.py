"""What a rank needs in memory, on paper."""

import pytest

from robustgc.mpi.world import need_per_rank


@pytest.mark.parametrize(
    ("nodes", "entries", "weighted", "size", "want"),
    [
        (10**6, 2 * 10**7, False, 1, 2 * 10**7 * 4 * 2.5 + 320 * 10**6),
        (10**6, 2 * 10**7, True, 4, (2 * 10**7 * 12 * 2.5 + 320 * 10**6) / 4),
        (3 * 10**9, 2 * 10**11, False, 64, (2 * 10**11 * 8 * 2.5 + 320 * 3 * 10**9) / 64),
    ],
)
def test_bytes(nodes, entries, weighted, size, want):
    assert need_per_rank(nodes, entries, weighted, size) == pytest.approx(want)
