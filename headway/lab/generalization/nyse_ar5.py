from pathlib import Path

from torch import nn
from torch.nn import functional

from headway.data.series import Windows
from headway.evaluate.least_squares import LeastSquares
from headway.evaluate.regression import r2
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, np, param, table
from headway.lab.tools.training import Settings, predict, trained
from headway.lab.tools.volume_series import LastState, nyse, parts, threshold_series, volume_series

PRINTED = {"straw man": 0.1803, "AR(5)": 0.4129, "AR(5) and weekday": 0.4596}  # R² on the test days, ISL 10.5.2
LAGS = 5


class NYSEAR5(Experiment):
    """Tomorrow's trading volume: a recurrent network predicts it no better than a linear autoregression on the same five days.

        AR(L):   v_t = b + Σ_{l=1}^{L} (B_l v_{t-l} + C_l r_{t-l} + D_l z_{t-l}) + ε_t        R² = 1 - Σ (v_t - v̂_t)² / Σ (v_t - v̄)²

    of volume v, return r and volatility z. Test R² in the book: yesterday's value 0.18, AR(5) 0.41 with 16 parameters, an Elman network of
    12 units 0.42, either of them 0.46 with the weekday. Where noise is most of what is seen, a straight line is all that can be learned.

    Notes: D. Source: James et al., An Introduction to Statistical Learning, section 10.5.2, https://www.statlearning.com
    Assumes: a series whose next value is about linear in the past, under much noise.
    Deviates: without NYSE.csv a made autoregression of five days; `headway reproduce nyse` trains larger networks.
    Also: AR(5) against an Elman network; NYSE table of the lab.
    """

    cost = "M"
    folder = param("data/nyse", "with NYSE.csv; without it a made series")
    units = param(12, "of the recurrent network", least=4, most=64)
    steps = param(1200, "of training, with 128 days each", least=600, most=6000, small=800, full=4000)

    def linear(self, learn: Windows, test: Windows, lags: int, more: np.ndarray | None = None) -> np.ndarray:
        """Least squares on the last `lags` days, and on columns `more` of the day itself: what it predicts of the test days."""
        x, z = (part.series[:, LAGS - lags :].reshape(len(part), -1) for part in (learn, test))
        if more is not None:
            x, z = np.hstack([x, more[learn.rows]]), np.hstack([z, more[test.rows]])
        return LeastSquares.fit(x, learn.targets).predict(z)[:, 0]

    def recurrent(self, learn: Windows, test: Windows, rng: Generator) -> np.ndarray:
        """An Elman network that reads the last five days."""
        x, y, z = (part.astype(np.float32) for part in (learn.series, learn.targets, test.series))
        settings = Settings(self.steps, 128, 5e-3, optimizer="adamw", decay=0.0, l2=1e-4, clip=1e9)
        make = lambda: nn.Sequential(LastState(x.shape[2], self.units), nn.Linear(self.units, 1))  # noqa: E731
        return predict(trained(make, x, y, settings, rng, functional.mse_loss), z)[:, 0]

    def measure(self, rng: Generator) -> Checks:
        values, days, weekday = nyse(self.folder) if Path(self.folder).is_dir() else (*volume_series(rng), None)
        learn, test = parts((values - values[days].mean(0)) / values[days].std(0), days, LAGS)
        forecasts = {"straw man": test.series[:, -1, 0], "AR(1)": self.linear(learn, test, 1), "AR(5)": self.linear(learn, test, LAGS)}
        forecasts |= {} if weekday is None else {"AR(5) and weekday": self.linear(learn, test, LAGS, weekday)}
        forecasts["Elman"] = self.recurrent(learn, test, rng)
        self.found = {name: r2(forecast, test.targets[:, 0]).value for name, forecast in forecasts.items()}
        self.shown = {"volume": test.targets[:120, 0], "AR(5)": forecasts["AR(5)"][:120]}
        straw, one, five, *_, elman = self.found.values()
        yield headline(at_most("R²: Elman network above AR(5)", elman - five, 0.03, kind="TABLE"))
        yield at_least("R²: it is not below AR(5) by more", elman - five, -0.03, kind="TABLE")
        yield at_least("R²: AR(5) above AR(1)", five - one, 0.02, kind="TABLE")
        yield at_least("R²: AR(1) above yesterday's value", one - straw, 0.05, kind="TABLE")
        yield from table(PRINTED, self.found if weekday is not None else {}, 0.002, "R² of {}")

    def control(self, rng: Generator) -> Checks:
        learn, test = parts(*threshold_series(rng), LAGS)
        both = {"AR(5)": self.linear(learn, test, LAGS), "Elman": self.recurrent(learn, test, rng)}
        self.bent = {name: r2(forecast, test.targets[:, 0]).value for name, forecast in both.items()}
        gain = at_most("R²: Elman network above AR(5)", self.bent["Elman"] - self.bent["AR(5)"], 0.03)
        yield because("the series is a threshold autoregression with little noise", gain)

    def plots(self) -> list[Panel]:
        days, names = np.arange(120), ("straw man", "AR(1)", "AR(5)", "Elman")
        left = Panel("AR(5) in 120 test days", "day", "log volume, standardised")
        left.target(days, self.shown["volume"], "volume").curve(days, self.shown["AR(5)"], "AR(5)")
        right = Panel("Elman gains nothing", "method", "R² on test days").bars(names, [self.found[n] for n in names])
        right.ticks(x={0: "straw\nman", 1: "AR(1)", 2: "AR(5)", 3: "Elman"})
        return [left, right, Panel("A bent series", "method", "R² on test days").bars([*self.bent], [*self.bent.values()])]
