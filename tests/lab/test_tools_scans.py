"""Both scans against itertools, also for words, whose concatenation is associative and does not commute."""

from itertools import accumulate

import pytest

from headway.lab.tools.scans import blelloch, hillis_steele


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 64])
def test_prefixes_rounds_and_work(n: int) -> None:
    words = [chr(97 + k % 26) for k in range(n)]
    expected, levels = list(accumulate(words)), (n - 1).bit_length()
    found, rounds, work = hillis_steele(words, lambda p, q: p + q)
    assert found == expected and rounds == levels and work == sum(n - 2**k for k in range(levels))
    found, rounds, work = blelloch(words, lambda p, q: p + q, "")
    assert found == expected and rounds == 2 * levels and work == 2 * (2**levels - 1)
