import torch
import torch.nn.functional as F

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, np, param
from headway.lab.tools.layers import drawn
from headway.layers.convolutions.boundaries import Causal, Circular, Full, Same, Valid
from headway.layers.convolutions.convolution import Convolution

BOUNDARIES = {Valid(): lambda n, m: n - m + 1, Same(): lambda n, m: n, Circular(): lambda n, m: n,
              Causal(): lambda n, m: n, Full(): lambda n, m: n + m - 1}  # fmt: skip


class ConvShapes(Experiment):
    """How many places a filter has: n - m + 1 inside a signal, n on a circle or between zeros, ⌊·/s⌋ + 1 in general.

        valid: n - m + 1,      circular and same: n,      full: n + m - 1,
        stride s, padding p on each side, dilation r:      ⌊(n + 2p - r(m - 1) - 1) / s⌋ + 1

    A filter with gaps covers r(m - 1) + 1 positions; it stands at 0, s, 2s, ... as long as its last tap is inside.

    Notes: D. Source: Dumoulin and Visin 2016, A guide to convolution arithmetic for deep learning, https://arxiv.org/abs/1603.07285
    Assumes: the filter fits into the padded signal at least once; for equal lengths, m - 1 zeros in all.
    Also: convolution arithmetic; output size of a convolution; valid, same and circular convolution.
    """

    most = param(8, "the largest n, m, s, p and r", least=3, most=10, small=5)
    layers = param(300, "layers that are run", least=10, most=2000, small=100)

    def measure(self, rng: Generator) -> Checks:
        one, zero = np.arange(1, self.most + 1), np.arange(self.most + 1)
        n, m, s, p, r = (grid.ravel() for grid in np.meshgrid(one, one, one, zero, one))
        length, reach = n + 2 * p, r * (m - 1)
        self.count = np.sum([k * s + reach < length for k in range(3 * self.most)], 0)  # places 0, s, 2s, ...
        self.formula, self.fits = (length - reach - 1) // s + 1, reach < length
        yield headline(equal("places, counted one by one", self.count[self.fits], self.formula[self.fits]))
        some = rng.choice(np.flatnonzero(self.fits), self.layers)
        shapes = [self.run(*map(int, (n[i], m[i], s[i], p[i], r[i]))) for i in some]
        yield equal("outputs of conv1d in torch", np.array(shapes), self.formula[some])
        cases = [(a, b) for a in one.tolist() for b in one.tolist() if b <= a]
        outputs = np.array([[boundary.outputs(a, b) for a, b in cases] for boundary in BOUNDARIES])
        rules = [[rule(a, b) for a, b in cases] for rule in BOUNDARIES.values()]
        yield equal("five boundaries: their rules", outputs, np.array(rules))
        found, told = [], []
        for boundary in BOUNDARIES:
            for a, b in cases:
                stride = int(rng.integers(1, 4))
                found.append(drawn(Convolution(1, 1, b, boundary, stride), rng)(torch.zeros(1, a, 1).double()).shape[1])
                told.append(boundary.outputs(a, b, stride))
        yield equal("the layer, five boundaries, strides 1 to 3", np.array(found), np.array(told))

    @staticmethod
    def run(n: int, m: int, s: int, p: int, r: int) -> int:
        return F.conv1d(torch.zeros(1, 1, n), torch.zeros(1, 1, m), stride=s, padding=p, dilation=r).shape[2]

    def control(self, rng: Generator) -> Checks:
        outside = ~self.fits
        yield because("the filter does not fit", equal("places of longer filters", self.formula[outside], self.count[outside]))
        even = np.array([self.run(8, m, 1, m // 2, 1) for m in (2, 4, 6)])
        yield because("m is even, so p = m/2 zeros are one too many", equal("8 values stay 8", even, np.full(3, 8)))

    def plots(self) -> list[Panel]:
        m = np.arange(1, 9)
        left = Panel("More zeros at the ends, more places", "taps m", "outputs of 8 positions")
        left.series(m, {type(b).__name__.lower(): [b.outputs(8, int(k)) for k in m] for b in (Valid(), Same(), Full())})
        right = Panel("A stride divides, rounded down", "positions n", "outputs, m = 3, p = 0")
        n = np.arange(3, 25)
        return [left, right.series(n, {f"stride {s}": [Valid().outputs(int(k), 3, s) for k in n] for s in (1, 2, 3, 4)})]
