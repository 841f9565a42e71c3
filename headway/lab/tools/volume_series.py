"""Made series beside the NYSE data, and a recurrent layer that gives its last state."""

import numpy as np
from jaxtyping import Float
from numpy.random import Generator
from torch import Tensor, nn

from headway.data.series import Windows, windows
from headway.lab.tools.public_data import columns
from headway.layers.recurrences.elman import Elman

CHANNELS = ("log_volume", "DJ_return", "log_volatility")
DAYS, LEARN = 6051, 4281  # of NYSE.csv: all, and those for training
VOLUME = np.array([0.35, 0.11, 0.11, 0.08, 0.09])  # of the last five days; about those of the data


class LastState(nn.Module):
    """The state of an Elman network after the last time."""

    def __init__(self, channels: int, units: int) -> None:
        super().__init__()
        self.recurrence = Elman(channels, units)

    def forward(self, series: Float[Tensor, "b t c"]) -> Float[Tensor, "b d"]:
        return self.recurrence(series)[:, -1]


def nyse(folder: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The channels of NYSE.csv, which days are for training, and the weekday of each as columns of 0 and 1."""
    cells = columns(folder, "nyse", "NYSE.csv")
    weekday = np.array(cells["day_of_week"])[:, None] == np.unique(cells["day_of_week"])
    return np.array([cells[name] for name in CHANNELS], dtype=float).T, np.array(cells["train"]) == "TRUE", weekday


def parts(values: np.ndarray, days: np.ndarray, lags: int) -> tuple[Windows, Windows]:
    """Windows before the days for training, and before the others."""
    every = windows(values, lags)
    known = days[every.rows]
    return every.select(known), every.select(~known)


def volume_series(rng: Generator) -> tuple[np.ndarray, np.ndarray]:
    """A linear autoregression of order 5 with noise, two more channels that hardly matter, and which days are for training."""
    values = rng.normal(size=(DAYS, 3))
    for t in range(5, DAYS):
        values[t, 0] += VOLUME @ values[t - 5 : t][::-1, 0] + 0.1 * values[t - 1, 1]
    return values, np.arange(DAYS) < LEARN


def threshold_series(rng: Generator) -> tuple[np.ndarray, np.ndarray]:
    """v_t = 1 - 1.6 |v_{t-1}| + little noise: the slope changes its sign where v does. Tong & Lim 1980; channels as above."""
    values = rng.normal(size=(DAYS, 3))
    values[:, 0] *= 0.05
    for t in range(1, DAYS):
        values[t, 0] += 1.0 - 1.6 * abs(values[t - 1, 0])
    return values, np.arange(DAYS) < LEARN
