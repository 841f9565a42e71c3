import torch
from scipy.signal import correlate as reference
from torch.nn.functional import mse_loss

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param, printed
from headway.lab.tools.layers import convolved, correlated
from headway.lab.tools.training import descended
from headway.layers.convolutions.boundaries import Valid
from headway.layers.convolutions.convolution import Convolution, convolve, correlate
from headway.training.optimizers.gradient_descent import GradientDescent


class Flipped(Convolution):
    """The layer with one filter that is turned around before it slides: convolution in the sense of mathematics."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return convolve(self.weight[0, 0], x[..., 0], Valid())[..., None] + self.bias


class ConvVsXcorr(Experiment):
    """Cross-correlation is convolution with the filter turned around, so for a learned filter it does not matter which one is used.

        (h ⋆ f)[u] = Σ_t h[t] f[u + t] = (h̄ ∗ f)[u],      h̄[t] = h[-t]

    Libraries call h ⋆ f a convolution. Gradient descent from h̄ in one and from h in the other goes the same way, mirrored, step by step.

    Notes: C, D. Source: Goodfellow, Bengio, Courville, Deep Learning, section 9.1, https://www.deeplearningbook.org/contents/convnets.html
    Assumes: the filter is turned around (correlation alone is not commutative); training starts from mirrored filters.
    Also: cross-correlation and convolution; flipped filter.
    """

    n = param(24, "positions of the signals", least=16, most=256)
    m = param(5, "taps of the filters", least=2, most=8)
    steps = param(60, "of gradient descent", least=60, most=500)

    def fit(self, kind: type[Convolution], start: np.ndarray) -> tuple[list[float], np.ndarray]:
        """Mean squared errors before each step of gradient descent, and the filter at the end."""
        layer = kind(1, 1, self.m, Valid()).double()
        layer.load_state_dict({"weight": torch.from_numpy(start.copy())[None, None], "bias": torch.zeros(1)})
        rule = GradientDescent(layer.parameters(), lr=0.2)
        return descended(rule, lambda: mse_loss(layer(self.x), self.y), self.steps), layer.weight.detach().numpy()[0, 0]

    def measure(self, rng: Generator) -> Checks:
        n, m = self.n, self.m
        self.f, self.h = rng.normal(size=(3, n)), rng.normal(size=m)
        even, slid = np.convolve(self.h, self.h[::-1]), correlated(self.h, self.f)
        yield headline(close("h ⋆ f = h̄ ∗ f", slid, np.stack([np.convolve(self.h[::-1], f) for f in self.f])))
        yield close("h ⋆ f as scipy has it", slid, np.stack([reference(f, self.h, method="direct") for f in self.f]))
        yield close("a symmetric filter: h ⋆ f = h ∗ f", correlated(even, self.f), convolved(even, self.f))
        self.teacher, start = np.linspace(-1, 1, m) ** 3 + 0.5, rng.normal(size=m)
        self.x = torch.from_numpy(rng.normal(size=(64, n, 1)))
        self.y = correlate(torch.from_numpy(self.teacher), self.x[..., 0], Valid())[..., None]
        self.losses, self.learned = self.fit(Convolution, start)
        self.other, self.mirrored = self.fit(Flipped, start[::-1])
        self.apart, _ = self.fit(Flipped, start)
        yield close("losses of both layers, step by step", self.other, self.losses)
        yield close("their filters are mirror images", self.mirrored[::-1], self.learned)
        yield at_most("the layer has learned the filter", np.abs(self.learned - self.teacher).max(), 1e-6)

    def control(self, rng: Generator) -> Checks:
        h, f = self.h, self.f[0]
        yield because("both start from the same filter", close("losses of both layers", self.apart, self.losses, 1e-3))
        yield printed(close("h ⋆ f = h̄ ⋆ f", correlated(h, f), correlated(h[::-1], f), 1e-3), "C15")
        yield printed(close("h ⋆ f = f ⋆ h", correlated(h, f), correlated(f, h), 1e-3), "D5")

    def plots(self) -> list[Panel]:
        t, step = np.arange(self.m), np.arange(self.steps)
        left = Panel("Both layers learn alike from mirrored filters", "step", "mean squared error", log="y")
        left.target(step, self.losses, "correlation").curve(step, self.other, "convolution").control(step, self.apart, "same start")
        right = Panel("What they learn is mirrored", "tap", "weight").target(t, self.teacher, "teacher")
        return [left, right.series(t, {"correlation": self.learned, "convolution": self.mirrored})]
