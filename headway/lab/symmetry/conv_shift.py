from torch import nn

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, headline, np, param, printed
from headway.lab.tools.layers import applied, drawn
from headway.layers.convolutions.boundaries import Boundary, Circular, Full, Same
from headway.layers.convolutions.convolution import Convolution
from headway.layers.convolutions.convolution_2d import Convolution2d


class ConvShift(Experiment):
    """A convolution and a pointwise non-linearity commute with shifts, so a stack of them does.

        T_δ f(t) = f(t + δ),      (T_δ f) ∗ h = T_δ (f ∗ h),      σ(T_δ f) = T_δ σ(f)

    Every place is treated alike, so it does not matter where a thing is. That is exact on a circle, and for signals with zeros for ever
    (and no bias). Zeros at the ends of a finite signal tell where the end is: an error within the reach of the filters. A stride of
    s keeps every s-th place, so only shifts by multiples of s are passed on.

    Notes: C, D. Source: Cohen and Welling 2016, Group equivariant convolutional networks, https://arxiv.org/abs/1602.07576
    Assumes: the signal is periodic, or zero beyond its ends for ever; shifts by multiples of the stride.
    Also: translation equivariance; shift equivariance of convolutions.
    """

    n = param(32, "positions of the signal", least=28, most=128)
    depth = param(3, "layers", least=2, most=3)
    kernel = param(5, "taps m of a filter", least=3, most=7)
    channels = param(4, "of every layer", least=1, most=32)
    shift = param(4, "the largest shift of a signal with ends", least=1, most=4)

    def stack(self, boundary: Boundary, rng: Generator, bias: float = 1.0) -> nn.Sequential:
        sizes = [1, *[self.channels] * (self.depth - 1)]
        layers = [(Convolution(c, self.channels, self.kernel, boundary), nn.LeakyReLU()) for c in sizes]
        return drawn(nn.Sequential(*(module for pair in layers for module in pair)), rng, bias)

    def measure(self, rng: Generator) -> Checks:
        n, few = self.n, np.arange(-self.shift, self.shift + 1)
        self.f, self.circle = rng.normal(size=(n, 1)), self.stack(Circular(), rng)
        self.round = errors(self.circle, self.f, np.arange(n))
        yield headline(close("on a circle, all shifts", self.round, 0, 1e-12))
        picture, layer = rng.normal(size=(1, 2, 9, 8)), drawn(Convolution2d(2, 3, 3, Circular()), rng)
        moved, there = (np.concatenate([np.roll(z, (i, j), (2, 3)) for i in range(9) for j in range(8)])
                        for z in (picture, applied(layer, picture)))  # fmt: skip
        yield close("pictures on a torus, all shifts", applied(layer, moved), there, 1e-12)
        yield close("zeros for ever, no bias", errors(self.stack(Full(), rng, bias=0), np.pad(self.f, ((n, n), (0, 0))), few), 0, 1e-12)
        spot = np.where(np.abs(np.arange(n) - n / 2)[:, None] < n / 8, self.f, 0)
        self.ends = errors(self.stack(Same(), rng), spot, few)
        reach = (self.depth - 1) * (self.kernel // 2) + self.shift  # of the zeros beyond the ends, on either side of the equation
        yield close(f"zeros at the ends: {reach} places away from them", self.ends[:, reach : n - reach], 0, 1e-12)
        pair, stride = self.f[: n // 2 * 2], drawn(Convolution(1, self.channels, self.kernel, Circular(), stride=2), rng)
        self.even, self.odd = (errors(stride, pair, np.arange(start, n // 2 * 2, 2), 2) for start in (0, 1))
        yield close("stride 2: even shifts", self.even, 0, 1e-12)

    def control(self, rng: Generator) -> Checks:
        yield because("zeros stand beyond the ends", close("zeros at the ends: everywhere", self.ends, 0, 1e-3))
        yield because("the stride does not divide the shift", close("stride 2: odd shifts", self.odd, 0, 1e-3))
        yield printed(close("f(t + δ) ∗ h = (f ∗ h)(t - δ)", errors(self.circle, self.f, np.array([3]), -1), 0, 1e-3), "C14")

    def plots(self) -> list[Panel]:
        extent = (0.0, float(self.n), -self.shift - 0.5, self.shift + 0.5)
        left = Panel("Zeros at the ends are felt near the ends", "position", "shift δ").image(self.ends, extent, scale="error")
        right, even = Panel("A stride of 2 passes on even shifts only", "shift δ", "largest error"), np.arange(0, self.n // 2 * 2, 2)
        right.series(np.arange(self.n), self.round.max(1), "stride 1").series(even, self.even.max(1), "stride 2, even δ")
        return [left, right.control(even + 1, self.odd.max(1), "stride 2, odd δ")]


def errors(net: nn.Module, f: np.ndarray, shifts: np.ndarray, stride: int = 1) -> np.ndarray:
    """|F(T_δ f) - T_{δ/stride} F(f)| at every shift δ and position: the largest of the channels. An odd δ takes the better half."""
    moved, still = applied(net, np.stack([np.roll(f, -shift, 0) for shift in shifts])), applied(net, f[None])[0]
    ways = [np.stack([np.roll(still, -way(shift / stride).astype(int), 0) for shift in shifts]) for way in (np.floor, np.ceil)]
    found = [np.max(np.abs(moved - there), axis=2) for there in ways]
    return found[0] if found[0].max() < found[1].max() else found[1]
