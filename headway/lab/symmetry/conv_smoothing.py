from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param
from headway.lab.tools.layers import convolved
from headway.layers.convolutions.boundaries import Circular


def bump(r: int) -> np.ndarray:
    """(1 + cos(πj/r)) / (2r) for |j| < r: smooth, positive, of mass 1."""
    return (1 + np.cos(np.pi * np.arange(1 - r, r) / r)) / (2 * r)


def smooth(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """w ∗ x on the circle, with the middle of w at 0."""
    return np.roll(convolved(w, x, Circular()), -(len(w) // 2))


def modulus(x: np.ndarray, r: int) -> float:
    """ω_x: the largest difference over at most r positions."""
    return float(max(np.max(np.abs(np.roll(x, k) - x)) for k in range(1, r + 1)))


class ConvSmoothing(Experiment):
    """Convolution with a narrow bump of mass 1 smooths a function, and moves it by no more than it varies under the bump.

        sup |w_ε ∗ x - x| <= ω_x(ε),      (w ∗ x)' = w' ∗ x,      TV(w ∗ x) <= TV(x),      ||w ∗ x||_p <= ||w||_1 ||x||_p

    Each value becomes a weighted mean of values at most ε away. The result is as smooth as w, even where x jumps.

    Notes: D. Source: Evans, Partial Differential Equations, appendix C.5; Young 1912, https://doi.org/10.1098/rspa.1912.0086
    Assumes: w is positive, of mass 1 and zero outside of (-ε, ε); for a continuous derivative, w is continuous.
    Deviates: functions on a circle of finitely many points, where integrals are sums and every supremum is a maximum.
    Also: mollification; smoothing by convolution; Young's inequality.
    """

    cells = param(600, "points on the circle", least=300, most=4000)
    radii = param((8, 16, 32, 64), "radii ε of the bump, in points", least=8, most=100, small=(8, 32))

    def measure(self, rng: Generator) -> Checks:
        n, t, walk = self.cells, np.arange(self.cells) / self.cells, np.cumsum(rng.normal(size=self.cells))
        walk -= walk[0] + t * (walk[-1] - walk[0])
        walk /= np.abs(walk).max()
        self.signals = {"wave": np.sin(2 * np.pi * t), "tent": 1 - np.abs(2 * t - 1), "walk": walk, "step": (t < 0.5) * 1.0}
        after = {name: [smooth(bump(r), x) for r in self.radii] for name, x in self.signals.items()}
        self.errors = {name: np.abs(y - self.signals[name]).max(1) for name, y in after.items()}
        self.moduli = {name: np.array([modulus(x, r) for r in self.radii]) for name, x in self.signals.items()}
        yield headline(at_most("sup |w ∗ x - x| against ω(ε)", self.errors, self.moduli))
        variation = lambda x: np.abs(np.roll(x, -1) - x).sum()  # noqa: E731
        ratios = {name: [variation(y) / variation(self.signals[name]) for y in ys] for name, ys in after.items()}
        yield at_most("total variation of w ∗ x over that of x", ratios, 1, rounding=1e-12)
        w, x, once = bump(self.radii[0]), self.signals["walk"], after["walk"][0]
        slope = np.r_[w, 0] - np.r_[0, w]  # differences of w
        yield close("differences of w ∗ x, from those of w", once - np.roll(once, 1), np.roll(smooth(slope, x), 1))
        self.bends = np.array([self.bend(bump(r)) for r in self.radii])
        self.lipschitz = np.pi / (2 * (np.array(self.radii) / n) ** 2) / n  # of w, times the distance of two points
        yield at_most("smoothed step: jumps of its derivative", self.bends, self.lipschitz)
        filters, norm = rng.normal(size=(10, 9)), np.linalg.norm
        young = {f"p = {p}": [norm(smooth(w, x), p) / norm(w, 1) / norm(x, p) for w in filters] for p in (1, 2, np.inf)}
        yield at_most("||w ∗ x||_p over ||w||_1 ||x||_p", young, 1)

    def bend(self, w: np.ndarray) -> float:
        """The largest jump between neighbouring difference quotients of a smoothed step."""
        return float(np.max(np.abs(np.diff(self.cells * np.diff(smooth(w, self.signals["step"]))))))

    def control(self, rng: Generator) -> Checks:
        wave, step, r = self.signals["wave"], self.signals["step"], self.radii[0]
        heavy = np.max(np.abs(smooth(1.1 * bump(4), wave) - wave))
        yield because("the mass of w is 1.1", at_most("sup |w ∗ x - x| of a wave", heavy, modulus(wave, 4)))
        y = smooth(2 * np.pad(bump(r), r) - bump(2 * r), step)
        yield because("w is negative at places", at_most("total variation of a step", np.abs(np.roll(y, -1) - y).sum(), 2.0))
        box = self.bend(np.full(2 * r - 1, 1 / (2 * r - 1)))
        yield because("w is not continuous", at_most("step, smoothed by a box: jumps", box, self.lipschitz[0]))

    def plots(self) -> list[Panel]:
        t, x = np.arange(self.cells) / self.cells, self.signals["walk"]
        left = Panel("Wider bumps smooth more", "t", "value").target(t, x, "x")
        left.curve(t, {f"ε = {r} points": smooth(bump(r), x) for r in (self.radii[0], self.radii[-1])})
        right = Panel("The error stays below the modulus", "radius ε, points", "sup |w ∗ x - x|", log="xy")
        for name in ("wave", "walk"):
            right.series(self.radii, self.errors[name], name).bound(self.radii, self.moduli[name], f"ω, {name}")
        return [left, right]
