"""The valid ranges of decoding's arguments, checked before anything is computed.

beam           a whole number, 1 or more
penalty        finite, 0 or more        0: no reward for length
temperature    finite, 0 or more        0: always the most probable token
top_k          a whole number, 1 or more, or None for all tokens
top_p          above 0, at most 1       1: all tokens
"""

import math
from numbers import Integral, Real
from typing import Any

from headway.core.errors import UsageError

COUNT, AMOUNT, SHARE = "a whole number of 1 or more", "a finite number of 0 or more", "a number above 0 and at most 1"


def check_search(beam: Any, penalty: Any) -> None:
    """Raise a `UsageError` unless greedy or beam search can use these values."""
    _require(_is_count(beam), f"`beam` is {beam!r}, expected {COUNT}", "1 is greedy decoding, 5 is customary.")
    _require(_is_amount(penalty), f"`penalty` is {penalty!r}, expected {AMOUNT}", "1 is customary.")


def check_sampling(temperature: Any, top_k: Any, top_p: Any) -> None:
    """Raise a `UsageError` unless sampling can use these values."""
    warm = _is_amount(temperature)
    _require(warm, f"`temperature` is {temperature!r}, expected {AMOUNT}", "0.8 is customary; 0 is not random.")
    _require(top_k is None or _is_count(top_k), f"`top_k` is {top_k!r}, expected {COUNT}", "50 is customary.")
    share = _is_amount(top_p) and 0 < top_p <= 1
    _require(share, f"`top_p` is {top_p!r}, expected {SHARE}", "0.95 is customary; 1 keeps all tokens.")


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_amount(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value) and float(value) >= 0


def _require(valid: bool, message: str, hint: str) -> None:
    if not valid:
        raise UsageError(message, hint)
