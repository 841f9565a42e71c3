"""Series: columns of a table in the order of time, and the windows that a forecast is learned from.

    window i      x_i = (s_{i-p} .. s_{i-1}),  z_i = categories of rows i .. i+h-1,  y_i = (y_i .. y_{i+h-1})

p lags are read and h steps are predicted, directly: each step has an output of its own, and no prediction is fed back.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int


@dataclass(frozen=True, eq=False)
class Series:
    """Values in the order of time.

    names        of the channels; the first is the one that is predicted
    values       of each row and channel
    times        as the table writes them
    categories   of each row, one column after the other
    test         which rows are held out for the test
    given        where the first channel had a value; elsewhere it was filled
    """

    names: tuple[str, ...]
    values: Float[np.ndarray, "t c"]
    times: tuple[str, ...]
    categories: dict[str, tuple[str, ...]]
    test: Bool[np.ndarray, "t"]
    given: Bool[np.ndarray, "t"]

    def __len__(self) -> int:
        return len(self.times)

    def windows(self, lags: int, horizon: int) -> "Windows":
        """Every window whose predicted values were all given: what was filled in is no truth to learn or to be judged by."""
        every = windows(self.values, lags, horizon)
        return every.select(np.flatnonzero(self.given[every.rows[:, None] + np.arange(horizon)].all(1)))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over everything that is learned from."""
        digest = hashlib.sha256()
        for text in (*self.names, *self.times, *(word for cells in self.categories.values() for word in cells)):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
        digest.update(np.ascontiguousarray(self.values).tobytes() + np.ascontiguousarray(self.test).tobytes())
        digest.update(b"" if self.given.all() else self.given.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Windows:
    """Examples of a forecast; `rows` are those that are predicted first."""

    series: Float[np.ndarray, "n t c"]
    targets: Float[np.ndarray, "n h"]
    rows: Int[np.ndarray, "n"]

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, which: Sequence[int] | Bool[np.ndarray, "n"]) -> "Windows":
        return Windows(self.series[which], self.targets[which], self.rows[which])


def windows(values: Float[np.ndarray, "t c"], lags: int, horizon: int = 1) -> Windows:
    """Every window of `lags` rows that is followed by `horizon` more, of whose first channel the values are predicted.

    values    of each row and channel
    """
    rows = np.arange(lags, len(values) - horizon + 1)
    past = values[rows[:, None] + np.arange(-lags, 0)]
    return Windows(past, values[rows[:, None] + np.arange(horizon), 0], rows)
