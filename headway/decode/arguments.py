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


def check_search(beam: Any, penalty: Any) -> None:
    """Raise a `UsageError` unless greedy or beam search can use these values."""
    _require(_is_count(beam), "beam", beam, "a whole number of 1 or more", "1 is greedy decoding, 5 is customary.")
    _require(_is_amount(penalty), "penalty", penalty, "a finite number of 0 or more", "1 is customary.")


def check_sampling(temperature: Any, top_k: Any, top_p: Any) -> None:
    """Raise a `UsageError` unless sampling can use these values."""
    expected = "a finite number of 0 or more"
    _require(_is_amount(temperature), "temperature", temperature, expected, "0.8 is customary; 0 takes the most probable token.")
    _require(top_k is None or _is_count(top_k), "top_k", top_k, "a whole number of 1 or more, or nothing", "50 is customary.")
    in_range = _is_amount(top_p) and 0 < top_p <= 1
    _require(in_range, "top_p", top_p, "a number above 0 and at most 1", "0.95 is customary; 1 keeps all tokens.")


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_amount(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value) and float(value) >= 0


def _require(valid: bool, name: str, value: Any, expected: str, hint: str) -> None:
    if not valid:
        raise UsageError(f"`{name}` is {value!r}, expected {expected}", hint)
