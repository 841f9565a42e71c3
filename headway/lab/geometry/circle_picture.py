from scipy.special import gammaln

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, equal, headline, math, mean_is, np, param
from headway.lab.tools.trajectories import circle, images, layers, polyline_length, relu_factor


class CirclePicture(Experiment):
    """A random ReLU network with σ_w > √2 turns a circle into a long and tangled curve.

    The pre-activations of the first layer are an ellipse. After L layers of width n the mean length is

        E length(h^L) / length(x) = (σ_w c_n)^{L-1} σ_w e_n ≈ (σ_w/√2)^{L-1} σ_w,      e_n = √(2/n) Γ((n + 1)/2)/Γ(n/2),

    c_n as in trajectory-relu; the last layer has no gate yet.

    Notes: B. Source: Raghu et al. 2017, On the expressive power of deep neural networks, https://arxiv.org/abs/1606.05336
    Assumes: independent Gaussian weights with variance σ_w^2/n; symmetric biases; σ_w^2 > 2; enough points on the circle.
    Also: circle through a random network; trajectory picture.
    """

    cost = "M"
    n = param(100, "width of the layers and dimension of the input", least=40, most=200, small=50)
    sigma_w = param(2.0, "of the weights, times √n", least=1.6, most=3.0)
    depth = param(12, "layers L", least=8, most=12, small=8)
    points = param(500, "on the circle", least=500, most=2000)
    draws = param(60, "networks for each seed", least=40, most=200)

    def through(self, rng: Generator, sigma_w: float, draws: int) -> list[np.ndarray]:
        """The curve of each layer in so many networks."""
        return list(images(layers(rng, self.n, self.depth, draws), circle(self.n, self.points), sigma_w, 0.1))

    def measure(self, rng: Generator) -> Checks:
        shown = self.through(rng, self.sigma_w, 1)
        self.layers = 1, self.depth // 2, self.depth
        self.curves = [shown[layer - 1][0].astype(np.float64) for layer in self.layers]
        self.parts = [np.linalg.svd(c - c.mean(axis=1, keepdims=True), full_matrices=False)[1:] for c in self.curves]
        first, _, last = (int(np.sum(s > 0.05 * s[0])) for s, _ in self.parts)
        yield equal("directions of the curve of layer 1: an ellipse", first, 2)
        yield at_least(f"directions of the curve of layer {self.depth}, at 5 % of the largest", last, 5)
        coarse = polyline_length(self.curves[2][:, ::2]) / polyline_length(self.curves[2])
        yield at_least(f"length with half of the points / with all, layer {self.depth}", coarse, 0.95)
        self.totals: list[np.ndarray] = []

    def sample(self, rng: Generator) -> Checks:
        lengths = np.stack([polyline_length(h) for h in self.through(rng, self.sigma_w, self.draws)])
        self.totals.append(lengths / polyline_length(circle(self.n, self.points)))
        e = math.sqrt(2 / self.n) * math.exp(gammaln((self.n + 1) / 2) - gammaln(self.n / 2))
        self.expected = (self.sigma_w * relu_factor(self.n)) ** np.arange(self.depth) * self.sigma_w * e
        for layer in self.layers[1:]:
            check = mean_is(f"layer {layer}: length", self.totals[-1][layer - 1], float(self.expected[layer - 1]))
            yield headline(check) if layer == self.depth else check

    def control(self, rng: Generator) -> Checks:
        lengths = polyline_length(self.through(rng, 1.3, self.draws)[-1]) / polyline_length(circle(self.n, self.points))
        grown = lengths.mean() / (1.3 * math.sqrt(2))
        yield because("σ_w = 1.3 is less than √2", at_least(f"σ_w = 1.3: growth from layer 1 to {self.depth}", grown, 1))

    def resolution(self, rng: Generator) -> Checks:
        yield mean_is(f"layer {self.depth}, if all gates were open: length", self.totals[0][-1], self.sigma_w**self.depth)

    def plots(self) -> list[Panel]:
        panels = []
        for layer, curve, (s, rows) in zip(self.layers, self.curves, self.parts, strict=True):
            longer = polyline_length(curve) / polyline_length(circle(self.n, self.points))
            panel = Panel(f"Layer {layer}: {longer:.3g} times as long", "first principal direction", "second")
            panels.append(panel.curve(s[0] * rows[0], s[1] * rows[1]))
        x = np.arange(1, self.depth + 1)
        mean = np.concatenate(self.totals, axis=1).mean(axis=1)
        last = Panel("The mean length follows the law", "layer", "length / that of the circle", log="y")
        return [*panels, last.bound(x, self.expected, "law").series(x, mean, "mean")]
