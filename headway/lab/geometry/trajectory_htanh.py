from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, math, np, param, printed,
    table,
)
from headway.lab.tools.trajectories import (
    HARD_TANH, circle, gaussian, growth, images, layers, mean_field, polyline_length, random_stretch,
)

PUBLISHED = {1.0: 1.0, 2.0: 1.345, 4.0: 1.845, 8.0: 2.568, 16.0: 3.603}  # √χ at σ_b = 0, by σ_w
SETTLED = 3  # layers after which lengths are compared


class TrajectoryHtanh(Experiment):
    """A random hard-tanh layer stretches curves by √χ, which grows like √σ_w: bounded units, and lengths still explode.

    For W_ij ~ N(0, σ_w^2/k), b ~ N(0, σ_b^2) and φ(h) = clip(h, -1, 1), at large width k,

        |u'| / |u|  ->  √χ,      χ = σ_w^2 P(|h| < 1),      h ~ N(0, σ_w^2 q + σ_b^2),      q = E φ(h)² ,

    where only units inside (-1, 1) pass a tangent on. For large σ_w and σ_b = 0, √χ -> (2/π)^{1/4} √σ_w = 0.893 √σ_w. The bound of Raghu et
    al., O(σ_w (σ_w^2 + σ_b^2)^{-1/4} √(k/(k + √(σ_w^2 + σ_b^2))))^L, depends on σ_w and k like that, but the constant in O is less than 1.

    Notes: B. Source: Raghu et al. 2017, On the expressive power of deep neural networks, https://arxiv.org/abs/1606.05336
    Assumes: independent Gaussian weights and biases; large width; the curve is followed exactly.
    Also: hard-tanh networks; Raghu figure 2.
    """

    cost = "M"
    widths = param((16, 64, 256), "of the layers, k", least=8, most=400, count=2, small=(16, 128))
    sigmas = param((1.0, 2.0, 4.0, 8.0, 16.0), "the σ_w", least=1.0, most=16.0, count=4)
    depth = param(8, "layers", least=6, most=20)
    draws = param(100, "networks of the largest width", least=100, most=300, small=150)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(max(self.widths) >= 8 * max(self.sigmas), "the largest width must be 8 times the largest σ_w")]

    def measure(self, rng: Generator) -> Checks:
        self.s, largest = np.array(sorted(self.sigmas)), max(self.widths)
        self.root = mean_field(self.s, 0.0, 5000)
        yield from table(PUBLISHED, dict(zip(self.s.tolist(), self.root, strict=True)), 1e-3, "√χ at σ_w = {:g}")
        far = mean_field(np.array([1e4]), 0.0, 200)
        yield close("√χ / √σ_w at σ_w = 10,000", float(far[0]) / 100, (2 / math.pi) ** 0.25, tolerance=1e-3)
        self.lengths, self.measured, self.base, square = {}, {}, {}, {}
        for k in sorted(self.widths):
            for b in (0.0, 1.0):
                draws, s = min(800, self.draws * (largest // k) ** 2), self.s.tolist()  # narrow layers vary more, and cost less
                self.lengths[k, b] = random_stretch(rng, k, self.depth, draws, s, b, gaussian, HARD_TANH)
                ratios = growth(self.lengths[k, b][SETTLED:])
                self.measured[k, b], square[k, b] = np.nanmean(ratios, axis=1), np.nanmean(ratios**2, axis=1)
                v = np.sqrt(self.s**2 + b**2)
                self.base[k, b] = self.s / np.sqrt(v) * np.sqrt(k / (k + v))
        late = range(SETTLED + 1, self.depth + 1)
        chi = {b: np.mean([mean_field(self.s, b, step) ** 2 for step in late], axis=0) for b in (0.0, 1.0)}
        error = {f"σ_b = {b:g}": abs(np.sqrt(square[largest, b] / chi[b]) - 1) for b in chi}
        yield headline(at_most(f"root mean square growth at k = {largest}: relative distance from √χ", error, 0.05))
        constant = {f"σ_b = {b:g}": self.measured[largest, b] / self.base[largest, b] for b in (0.0, 1.0)}
        yield at_least("measured growth / that of the bound", constant, 0.85)
        yield at_most("measured growth / that of the bound, from above", constant, 1)
        narrow = self.measured[min(self.widths), 0.0][1:3]
        yield at_least(f"growth at k = {largest}, against k = {min(self.widths)}", self.measured[largest, 0.0][1:3], narrow)

    def control(self, rng: Generator) -> Checks:
        curve, largest = circle(64, 500), max(self.widths)
        seen = images(layers(rng, 64, 8, 3), curve, self.s[-1], 0.0, HARD_TANH)
        self.coarse = np.array([polyline_length(HARD_TANH.f(h)).mean() for h in seen])
        check = at_least("500 points: growth from layer 7 to 8", self.coarse[7] / self.coarse[6], 0.95 * self.root[-1])
        yield because("the points are too few for a curve that long", check)
        growing, bound = self.measured[largest, 0.0][-1], self.base[largest, 0.0][-1]
        yield printed(at_least("growth, with the constant 1 in O(…)", growing, bound), "B4")

    def plots(self) -> list[Panel]:
        layer, largest, top = np.arange(self.depth + 1), max(self.widths), f"$σ_w$ = {self.s[-1]:g}"
        one = Panel("Wide layers stretch more", "layer", f"mean length, $σ_w$ = {self.s[2]:g}", log="y")
        one.series(layer, {f"k = {k}": self.lengths[k, 0.0][:, 2].mean(axis=1) for k in sorted(self.widths)})
        two = Panel("Large weights stretch more", "layer", f"mean length, k = {largest}", log="y")
        two.series(layer, {f"$σ_w$ = {s:g}": self.lengths[largest, 0.0][:, i].mean(axis=1) for i, s in enumerate(self.s)})
        three = Panel("Growth is √χ, below the printed base", "$σ_w$", "growth of a layer", log="xy")
        three.bound(self.s, self.root, "√χ").series(self.s, self.measured[largest, 0.0], f"k = {largest}")
        three.control(self.s, self.base[largest, 0.0], "as printed")
        four, steps = Panel("Too few points: the length saturates", "layer", f"length, {top}, k = 64", log="y"), np.arange(1, 9)
        four.bound(steps, self.coarse[0] * self.root[-1] ** (steps - 1.0), "√χ each layer")
        return [one, two, three, four.control(steps, self.coarse, "500 points")]
