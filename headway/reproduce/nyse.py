import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from headway.core.config import Value
from headway.data.series import windows
from headway.evaluate.least_squares import LeastSquares
from headway.evaluate.regression import r2
from headway.reproduce.table import Bench, Row, Table

CHANNELS = ("log_volume", "DJ_return", "log_volatility")
LAGS = 5
MEMBERS = 5  # of each ensemble: the figure of one network depends on its random beginning


class NYSE(Table):
    """NYSE forecasts: R2 of tomorrow's trading volume by autoregression and by networks, on the days after 1980.

    James, Witten, Hastie, Tibshirani, Taylor, "An Introduction to Statistical Learning with Python", section 10.9.6, whose
    program prints 0.4129 for AR(5), 0.4596 with the weekday, about 0.415 for a recurrent network of 12 units and 0.466 for a
    network with the weekday; lecture D: "AR(5) is about equal to an RNN".

    The networks are ensembles of five members with the default settings. Both were chosen on days before 1980 alone, by three
    later blocks of them, as `headway tune --folds 3` takes them, never by the test part. Each member validates by another tenth
    of the days, so that together they learn from all of them, as the networks of the book do.
    """

    aliases = ("NYSE forecasting table", "AR(5) against RNN")
    minutes = 1.0
    needs = ("nyse",)

    def rows(self, bench: Bench) -> list[Row]:
        path = bench.dataset("nyse") / "NYSE.csv"

        def trained(seed: int, name: str, model: str, more: dict[str, Value]) -> float:
            data: dict[str, Value] = {
                "table": str(path),
                "target": "log_volume",
                "lags": LAGS,
                "split": "train",
                **more,
            }
            run = bench.trained(name, seed, "forecasting", data, model, None, {"steps": 1000}, ensemble=MEMBERS)
            return bench.score(run, "R2")

        weekday: dict[str, Value] = {"categories": "day_of_week"}
        return [
            Row("last value", 0.18, lambda seed: straw_man(path), tolerance=0.005, random=False),
            Row("AR(5)", 0.4129, lambda seed: autoregression(path, ()), tolerance=0.001, digits=4, random=False),
            Row(
                "AR(5) and the weekday",
                0.4596,
                lambda seed: autoregression(path, ("day_of_week",)),
                tolerance=0.001,
                digits=4,
                random=False,
            ),
            Row("recurrent network", 0.415, lambda seed: trained(seed, "lstm", "lstm", {}), "at least", 0.005),
            Row("network and the weekday", 0.466, lambda seed: trained(seed, "mlp", "mlp", weekday), "at least", 0.005),
        ]


def read(path: Path) -> tuple[np.ndarray, np.ndarray, list[dict[str, str]]]:
    """The standardised channels, whether a day is for training, and all cells."""
    with path.open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    values = np.array([[float(row[name]) for name in CHANNELS] for row in cells])
    return values, np.array([row["train"] == "TRUE" for row in cells]), cells


def autoregression(path: Path, categories: Sequence[str]) -> float:
    """R2 of least squares on the last five days of all channels (and one-hot categories of the day itself)."""
    values, learn, cells = read(path)
    part = windows(values, LAGS)
    columns = [part.series.reshape(len(part), -1)]
    for name in categories:
        words = sorted({row[name] for row in cells})
        columns.append(np.array([[cells[i][name] == word for word in words] for i in part.rows], dtype=float))
    x, training = np.column_stack(columns), learn[part.rows]
    found = LeastSquares.fit(x[training], part.targets[training])
    return r2(found.predict(x[~training])[:, 0], part.targets[~training][:, 0]).value


def straw_man(path: Path) -> float:
    """R2 of yesterday's volume as the forecast."""
    values, learn, _ = read(path)
    part = windows(values, LAGS)
    test = ~learn[part.rows]
    return r2(part.series[test][:, -1, 0], part.targets[test][:, 0]).value
