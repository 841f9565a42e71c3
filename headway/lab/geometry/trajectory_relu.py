from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, math, mean_is, np, param, printed,
    published,
)
from headway.lab.tools import trajectories as curves

LOW, HIGH = 1 / math.sqrt(2 * math.pi), 1 / math.sqrt(2)


class TrajectoryRelu(Experiment):
    """A random ReLU layer of width n stretches a curve by the factor σ_w c_n on average, whatever the curve and the biases.

    For W_ij ~ N(0, σ_w^2/n), symmetric biases, and a tangent u, 1{h_i > 0} and |w_i u| are independent (turn the sign of w_i and b_i):

        E length(z^L) / length(x) = (σ_w c_n)^L,
        c_n = n^{-1/2} Σ_k C(n, k) 2^{-n} √2 Γ((k+1)/2)/Γ(k/2) = (1 - 5/(8n) + ...)/√2,
        (σ_w/√(2π))^L  <=  E length(z^L) / length(x)  <=  (σ_w/√2)^L

    The left bound is that of Price and Tanner, the right one is E|u|² = (σ_w^2/2)^L and Jensen's inequality.

    Notes: B. Source: Price, Tanner 2019, Trajectory growth lower bounds for random sparse deep ReLU networks, https://arxiv.org/abs/1911.10651
    Assumes: independent, symmetric weights with variance σ_w^2/n; symmetric biases; equal widths, also of the input.
    Deviates: layers are independent, so the growth of each layer is a sample; the product of twelve would be too heavy-tailed.
    Also: trajectory length; Raghu et al. 2017 for ReLU.
    """

    cost = "M"
    widths = param((10, 50, 100), "of the layers, n", least=5, most=400, small=(10, 50), full=(10, 50, 100, 400))
    sigmas = param((0.5, 1.0, 1.5, 2.0, 3.0), "the σ_w", least=0.1, most=10.0)
    sigma_b = param(0.5, "standard deviation of the biases", least=0.0, most=10.0)
    depth = param(12, "layers L", least=2, most=20, small=6)
    draws = param(100, "networks for each seed", least=50, most=1000)

    def stretched(self, rng: Generator, n: int, weights: curves.Draw = curves.gaussian) -> np.ndarray:
        return curves.growth(curves.random_stretch(rng, n, self.depth, self.draws, self.sigmas, self.sigma_b, weights))

    def measure(self, rng: Generator) -> Checks:
        n = np.arange(1, 401)
        self.c = np.array([curves.relu_factor(int(i)) for i in n])
        yield at_least("c_n, n = 1 … 400", self.c, LOW, rounding=1e-12)
        yield at_most("c_n from above", self.c, HIGH)
        yield at_most("n² |√2 c_n - 1 + 5/(8n)|", n**2 * abs(math.sqrt(2) * self.c - 1 + 5 / (8 * n)), 0.2)
        yield published("c_100, from a simulation", self.c[99], 0.7025, 5e-4)
        self.means: dict[int, np.ndarray] = {}

    def sample(self, rng: Generator) -> Checks:
        first, second = {}, {}
        for n in self.widths:
            ratios, c = self.stretched(rng, n), curves.relu_factor(n)
            self.means[n] = self.means.get(n, 0.0) + np.nanmean(ratios, axis=1) / 3  # over three seeds
            first[f"n = {n}"] = [curves.z_score(r, s * c) for r, s in zip(ratios, self.sigmas, strict=True)]
            second[f"n = {n}"] = [curves.z_score(r**2, s**2 / 2) for r, s in zip(ratios, self.sigmas, strict=True)]
        yield headline(at_most("mean growth of a layer: away from σ_w c_n, in s.e.", first, 4, kind="STAT"))
        yield at_most("mean square: away from σ_w^2/2, in s.e.", second, 4, kind="STAT")
        n, short = self.widths[0], min(4, self.depth)
        circle = curves.circle(n, 400)
        *_, last = curves.images(curves.layers(rng, n, short, self.draws), circle, 2.0, self.sigma_b)
        lengths = curves.polyline_length(np.maximum(last, 0)) / curves.polyline_length(circle)
        yield mean_is(f"a circle after {short} layers, n = {n}, σ_w = 2: length", lengths, (2 * curves.relu_factor(n)) ** short)

    def control(self, rng: Generator) -> Checks:
        n = self.widths[-1]
        ratios = self.stretched(rng, n, lambda rng, shape: curves.gaussian(rng, shape) + np.float32(0.5))
        away = [curves.z_score(r, s * curves.relu_factor(n)) for r, s in zip(ratios, self.sigmas, strict=True)]
        yield because("a positive mean opens the gates", at_most("weights √n w/σ_w of mean ½: away from σ_w c_n, in s.e.", away, 4))
        factor, raghu = float(self.means[n][-1] / self.sigmas[-1]), math.sqrt(n / (n + 1))
        yield printed(at_least(f"growth / σ_w, n = {n}, against √(n/(n+1))", factor, raghu), "B4")
        u = rng.standard_normal(n)
        w = np.abs(rng.standard_normal((2000, n)) @ u) / math.sqrt(n) / np.linalg.norm(u)
        yield printed(at_least("E|u·w| for |u| = σ_w = 1, against √(2/π)", w.mean(), math.sqrt(2 / math.pi)), "B5")

    def plots(self) -> list[Panel]:
        s, n = np.array(self.sigmas), self.widths[-1]
        left = Panel("Growth lies close to the upper bound", "$σ_w$", "mean growth of a layer")
        left.bound(s, s * HIGH, "$σ_w$/√2").bound(s, s * LOW, "$σ_w$/√(2π)").series(s, self.means[n], f"n = {n}")
        left.control(s, s * math.sqrt(n / (n + 1)), "as printed")
        right = Panel("From the lower to the upper bound", "width n", "$c_n$", log="x").level(HIGH, "1/√2").level(LOW, "1/√(2π)")
        right.curve(np.arange(1, 401), self.c, "$c_n$")
        return [left, right.points(self.widths, [self.means[n][0] / s[0] for n in self.widths], "measured", size=30)]
