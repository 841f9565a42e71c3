"""Pictures of a forecast: the last steps with their intervals, and whether its errors could be predicted from one another."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headway.tasks.estimates import Estimates
from headway.tasks.panels import Mark, Plot

SHOWN = 120  # steps of a forecast that are still told apart
DELAYS = 20  # of the autocorrelation


def forecast_panel(
    found: Estimates, radius: Float[np.ndarray, "h"], times: Sequence[str], name: str, coverage: float
) -> Plot:
    """The last steps: the interval as a band, the forecast, and the true values.

    radius   half the length of the interval of each step ahead; the first is drawn
    """
    f, y = found.predicted[-SHOWN:, 0], found.true[-SHOWN:, 0]
    x = np.arange(len(found.true) - len(y) + 1, len(found.true) + 1, dtype=np.float64)
    labels = [f"{t}: {b:.4g}, forecast {a:.4g}" for t, a, b in zip(times[int(x[0]) - 1 :], f, y, strict=False)]
    marks = (
        Mark("band", x, f - radius[0], f"{coverage:.0%} interval", high=f + radius[0]),
        Mark("line", x, f, "forecast"),
        Mark("points", x, y, "true", labels=labels),
    )
    first, last = times[int(x[0]) - 1], times[len(found.true) - 1]
    caption = f"One step ahead, {first} to {last}. About {coverage:.0%} of the points should lie within the band."
    return Plot("Forecast", marks, "step", name, caption)


def autocorrelation(errors: Float[np.ndarray, "n"], delays: int) -> Float[np.ndarray, "k"]:
    """r_k = sum_t e_t e_{t+k} / sum_t e_t^2 for k = 1 .. delays, of centred errors e."""
    e = errors - errors.mean()
    total = float(e @ e) or 1.0
    return np.array([float(e[:-k] @ e[k:]) / total for k in range(1, min(delays, len(e) - 1) + 1)])


def autocorrelation_panel(errors: Float[np.ndarray, "n"]) -> Plot:
    """Bars within the band are what chance gives: 1.96 / sqrt(n) for independent errors (Box & Jenkins 1970)."""
    r = autocorrelation(errors, DELAYS)
    k, edge = np.arange(1, len(r) + 1, dtype=np.float64), 1.96 / np.sqrt(len(errors))
    ends = np.array([0.5, len(r) + 0.5])
    marks = (
        Mark("band", ends, [-edge, -edge], "chance (95 %)", high=[edge, edge]),
        Mark("segments", k, np.zeros(len(r)), "autocorrelation", high=r, x_end=k),
        Mark("points", k, r, "autocorrelation", labels=[f"delay {int(i)}: {v:.3f}" for i, v in zip(k, r, strict=True)]),
    )
    caption = "How alike errors are that lie some steps apart. Bars beyond the band are something that could still be predicted."
    return Plot("Autocorrelation of the errors", marks, "delay", "correlation", caption)
