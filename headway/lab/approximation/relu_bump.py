"""The proof by picture: ramps, bumps, and a sum of bumps."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_most, close, equal, printed
from headway.lab.old import Experiment
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Config:
    delta: float = 0.05  # width δ of the ramps of the single bump
    a: float = 0.3  # where the single bump starts to rise
    b: float = 0.7  # where it starts to fall
    bumps: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512)  # K of the sums of bumps, with δ = 1/(10K)

    def __post_init__(self) -> None:
        require((0 < self.delta < self.b - self.a, "0 < δ < b - a"), (self.a > 0 and self.b < 1, "0 < a < b < 1"))
        require((all(2 <= k <= 1024 for k in self.bumps), "every K is between 2 and 1024"), (len(self.bumps) >= 2, "two K"))


class Target(NamedTuple):
    """f on [0, 1], the places where it turns (between them it is monotone), and a bound on its modulus of continuity."""

    name: str
    f: Function
    turns: tuple[float, ...]
    modulus: Callable[[float], float]


def cantor(x: np.ndarray) -> np.ndarray:
    """Cantor's function from 40 ternary digits: a digit 1 ends the number, a digit 2 counts as the binary digit 1."""
    x, value, weight = np.clip(x, 0, 1), np.zeros(np.shape(x)), np.full(np.shape(x), 0.5)
    for _ in range(40):
        digit = np.minimum(np.floor(3 * x), 2)
        value, x = value + weight * (digit > 0), 3 * x - digit
        weight = np.where(digit == 1, 0.0, weight / 2)
    return value


TARGETS = (
    Target("sin 7x", lambda x: np.sin(7 * x), (np.pi / 14, 3 * np.pi / 14), lambda h: 2 * np.sin(min(3.5 * h, np.pi / 2))),
    Target("|x - 0.3|", lambda x: np.abs(x - 0.3), (0.3,), lambda h: h),
    Target("√x", np.sqrt, (), lambda h: h**0.5),
    Target("Cantor's function", cantor, (), lambda h: h ** (np.log(2) / np.log(3))),
)


def ramps(starts: Any, heights: Any, delta: float) -> ReluNet:
    """Σ_i heights_i h_{starts_i} with h_a = g_a - g_{a+δ} and g_a(x) = relu((x - a)/δ): two ReLUs for each ramp."""
    a, height = np.concatenate([starts, np.add(starts, delta)]), np.append(heights, np.negative(heights))
    return ReluNet(((np.full((a.size, 1), 1 / delta), -a / delta), (height[None], [0.0])))


def bumps(f: Function, s: np.ndarray, delta: float) -> ReluNet:
    """Σ_k f(t_k) I_{s_k, s_{k+1}} with I_{a,b} = h_a - h_b, as written: four ReLUs for each bump."""
    values = f(np.arange(s.size - 1) / (s.size - 1))
    return ramps(np.concatenate([s[:-1], s[1:]]), np.append(values, -values), delta)


def shared(f: Function, s: np.ndarray, delta: float) -> ReluNet:
    """The same function, one ramp where one bump ends and the next begins: Σ_k (f(t_k) - f(t_{k-1})) h_{s_k}."""
    return ramps(s, np.diff(f(np.arange(s.size - 1) / (s.size - 1)), prepend=0.0, append=0.0), delta)


def sup_error(net: ReluNet, target: Target, s: np.ndarray, delta: float) -> float:
    """An upper bound of sup |net - f| on [0, 1], attained where the net is constant; ramps are cut into 8.

    Between neighbouring points both functions are monotone, so their values at the two ends bound everything between."""
    x = np.unique(np.concatenate([[0.0, 1.0], target.turns, (s[1:-1, None] + delta * np.arange(9) / 8).ravel()]))
    F, f = net.at(x), target.f(x)
    return float(max(np.max(np.abs(u - v)) for u in (F[:-1], F[1:]) for v in (f[:-1], f[1:])))


class ReluBump(Experiment):
    """Two ReLUs make a ramp, two ramps a bump, and a sum of bumps approximates every continuous function on [0, 1].

        g_a(x) = relu((x - a)/δ),     h_a = g_a - g_{a+δ},     I_{a,b} = h_a - h_b = 1 on [a+δ, b],  0 outside [a, b+δ]

    With knots t_k = k/K and starts s_0 = -δ, s_k = t_k - δ/2 (0 < k < K), s_K = 1,

        F = Σ_{k<K} f(t_k) I_{s_k, s_{k+1}},      sup |F - f| <= ω_f(1/K + δ),

    where ω_f is the modulus of continuity; 4K ReLUs, or 2K + 2 after merging the ramps that neighbours share. The first and the last ramp
    must lie outside [0, 1]: at t_0 - δ/2 and t_K - δ/2, as the specification has it, F(0) is f(0)/2 (a control).
    """

    lecture = "E"
    kinds = ("EXACT", "BOUND")
    cost = "S"
    source = "Barak, CS229br Foundations of Deep Learning, https://boazbk.github.io/mltheoryseminar/cs229br"
    assumptions = ("f is continuous on [0, 1]", "0 < δ < 1/K")
    errata = ("E1",)
    aliases = ("proof by picture", "bump function from ReLUs", "indicator from four ReLUs")
    panels = (2, 2)
    small = {"bumps": (8, 16, 32)}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        self.bump = ramps([c.a, c.b], [1, -1], c.delta)
        self.wrong = ReluNet((([[1 / c.delta]] * 2, [-c.a, -c.a - c.delta]), ([[1.0, -1.0]], [0.0])))  # relu(x/δ - a) - relu(x/δ - a - δ)
        dyadic = ramps([0.25, 0.75], [1, -1], 2.0**-5)
        yield equal("a = ¼, b = ¾, δ = 1/32: I on [a+δ, b], bit for bit", dyadic.at(np.linspace(0.25 + 2**-5, 0.75, 500)), np.ones(500))
        outside = np.concatenate([np.linspace(-1, 0.25, 100), np.linspace(0.75 + 2**-5, 2, 100)])
        yield equal("the same: I outside [a, b+δ], bit for bit", dyadic.at(outside), np.zeros(200))
        shape = pwl1d(self.bump).simplified()
        kinks = [[c.a, c.a + c.delta, c.b, c.b + c.delta], [0, 1, 1, 0]]
        yield equal("ReLUs of a bump", self.bump.nodes, 4)
        yield close("kinks of I are a, a+δ, b, b+δ with values 0, 1, 1, 0", [shape.knots, shape.values], kinks, 1e-12)
        self.errors: dict[str, list[float]] = {t.name: [] for t in TARGETS}
        self.bounds = {t.name: [t.modulus(1.1 / K) for K in c.bumps] for t in TARGETS}
        nodes, difference, self.nets = [], [], []
        for K in c.bumps:
            delta, x = 1 / (10 * K), rng.random(50)
            s = np.concatenate([[-delta], np.arange(1, K) / K - delta / 2, [1.0]])
            for t in TARGETS:
                net, long = shared(t.f, s, delta), bumps(t.f, s, delta)
                self.errors[t.name].append(sup_error(net, t, s, delta))
                self.nets.append(net)
                difference.append(np.max(np.abs(net.at(x) - long.at(x))))
            nodes.append([long.nodes, net.nodes])
        K = np.array(c.bumps)
        yield equal("ReLUs are 4K, or 2K + 2 when ramps are shared", np.array(nodes), np.stack([4 * K, 2 * K + 2], axis=1))
        for name, errors in self.errors.items():
            yield at_most(f"{name}: sup error against ω(1/K + δ), K = {K[0]} … {K[-1]}", errors, self.bounds[name])
        rounding = 4 * 2.0**-52 * 4 * c.bumps[-1] * 10 * c.bumps[-1]  # 4K units, each wrong by a few roundings of 1/δ = 10K
        yield close("sharing ramps does not change the function", difference, np.zeros(len(difference)), rounding)
        yield close("as printed, h has the height δ", self.wrong.at(5.0), c.delta, 1e-12)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield printed(close(f"height of h as printed, δ = {c.delta:g}", self.wrong.at(5.0), 1.0), "E1")
        yield printed(close("first kink of h as printed", pwl1d(self.wrong).simplified().knots[0], c.a), "E1")
        K, f = c.bumps[-1], TARGETS[1].f
        inner = bumps(f, np.arange(K + 1) / K - 0.05 / K, 0.1 / K)
        yield at_most(f"outer ramps at t_0 - δ/2 and t_K - δ/2, K = {K}: error at 0", abs(inner.at(0.0) - 0.3), 1.1 / K)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        x, t = np.linspace(0, 1, 1001), TARGETS[0]
        for a, colour in ((c.a, style.BLUE), (c.a + c.delta, style.ORANGE)):
            axes[0].plot(x, np.maximum((x - a) / c.delta, 0), **style.CURVE | {"color": colour}, label=f"relu((x - {a:g})/δ)")
        axes[1].plot(x, ramps([c.a], [1], c.delta).at(x), **style.CURVE, label="difference of the two")
        axes[1].plot(x, self.wrong.at(x), **style.CONTROL | {"marker": None}, label="as printed: height δ, kink at aδ")
        axes[2].plot(x, self.bump.at(x), **style.CURVE, label="difference of two ramps")
        axes[3].plot(x, t.f(x), **style.TARGET, label=f"f = {t.name}")
        axes[3].plot(x, self.nets[len(TARGETS)].at(x), **style.CURVE, label=f"sum of {c.bumps[1]} bumps")
        for panel, title in zip(axes, (f"g: a ReLU, δ = {c.delta:g}", "h: a ramp", "I: a bump", "A sum of bumps"), strict=True):
            panel.set(title=title, xlabel="x", ylabel="value")
            panel.set_ylim(top=1.45 if panel in axes[1:3] else None)  # room for the legend
            panel.legend()
