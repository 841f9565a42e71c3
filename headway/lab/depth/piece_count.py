from itertools import product

from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param
from headway.lab.relu_net import ReluNet, add, affine, compose, random_net
from headway.lab.tools.pieces import bounds_are_ordered, pieces_by_slopes, pieces_met, product_bound
from headway.lab.tools.tents import TENT, TENT_ON_UNIT, teeth


class PieceCount(Experiment):
    """A ReLU net with one input has at most ∏ (m_ℓ + 1) linear pieces: layers multiply, units of one layer add.

    For hidden widths m_1 … m_L with m = Σ m_ℓ units,

        pieces <= ∏_ℓ (m_ℓ + 1) <= (m/L + 1)^L <= (2m/L)^L,

    because each unit of a layer bends at most once inside each piece of the layers below. Of functions with a and b pieces the sum has at
    most a + b - 1 pieces and the composition ab. Random nets are far below: pieces grow with the number of units (Hanin and Rolnick).

    Notes: A. Source: Telgarsky 2015, https://arxiv.org/abs/1509.08101; Hanin and Rolnick 2019, https://arxiv.org/abs/1901.09021
    Assumes: one input; each unit bends once (ReLU); no hidden layer is empty. Also: few pieces for shallow nets; number of linear pieces.
    """

    nets = param(500, "random networks", least=60, most=5000, small=100)
    layers = param(4, "the largest number L of their hidden layers", least=3, most=5)
    width = param(6, "the largest width of a hidden layer", least=3, most=8)
    p = param(10, "the largest sawtooth Δ^p", least=4, most=14, small=6)

    def measure(self, rng: Generator) -> Checks:
        self.depths = 1 + np.arange(self.nets) % self.layers
        shapes = [tuple(rng.integers(1, self.width + 1, L).tolist()) for L in self.depths]
        nets = [random_net([1, *shape, 1], rng) for shape in shapes]
        self.pieces, self.bound = np.array([[pieces_by_slopes(net), product_bound(net.widths)] for net in nets]).T
        yield headline(at_most(f"pieces of {self.nets} random nets, ∏ (m_ℓ + 1)", self.pieces, self.bound))
        walked = [pieces_met(net, np.linspace(-20, 20, 801)) for net in nets]
        yield at_most("pieces met from -20 to 20 by the chain rule, of all", walked, self.pieces, kind="EXACT")
        every = [w for L in range(1, self.layers + 1) for w in product(range(1, self.width + 1), repeat=L)]
        yield equal("∏ (m_ℓ + 1) <= (m/L + 1)^L <= (2m/L)^L, all shapes", [bounds_are_ordered(w) for w in every], True)
        share, units = self.pieces / self.bound, np.array([net.nodes for net in nets])
        medians = {f"L = {L}": np.median(share[self.depths == L]) for L in range(3, self.layers + 1)}
        yield at_most("far below the bound for L >= 3: median of pieces / bound", medians, 0.5)
        yield at_most("mean of pieces / (m + 1): as in one layer", np.mean(self.pieces / (units + 1)), 1.0)
        pairs = list(zip(nets[::2], nets[1::2], strict=False))[:100]
        a, b = self.pieces[: 2 * len(pairs) : 2], self.pieces[1 : 2 * len(pairs) : 2]
        yield at_most("pieces of a sum, a + b - 1", [pieces_by_slopes(add(f, g)) for f, g in pairs], a + b - 1)
        yield at_most("pieces of a composition, ab", [pieces_by_slopes(compose(f, g)) for f, g in pairs], a * b)
        self.saw = {}
        for tent in (TENT, TENT_ON_UNIT):
            saws = [teeth(p, tent) for p in range(1, self.p + 1)]
            self.saw[tent.nodes] = np.array([[product_bound(f.widths), pieces_by_slopes(f)] for f in saws]).T
        bounds, pieces = np.hstack(list(self.saw.values()))
        yield at_most(f"pieces of sawtooth nets, ∏ (m_ℓ + 1), p <= {self.p}", pieces, bounds)

    def examine(self, network: ReluNet, rng: Generator) -> Checks:
        bound = product_bound(network.widths)
        yield headline(at_most(f"pieces of your net of widths {network.widths}", pieces_by_slopes(network), bound))

    def control(self, rng: Generator) -> Checks:
        plane = rng.normal(0, 10, (20000, 2)) @ rng.normal(size=(2, 3)) + rng.normal(size=3)
        yield because("there are two inputs", at_most("regions of 3 units, 3 + 1", len(np.unique(plane > 0, axis=0)), 4))
        tents = [compose(TENT, affine([[1.0]], [b])) for b in rng.normal(size=5)]
        pieces = pieces_by_slopes(add(*tents, coefficients=rng.normal(size=5).tolist()))
        yield because("a unit bends three times", at_most("pieces of 5 tents in one layer, 5 + 1", pieces, 6))

    def resolution(self, rng: Generator) -> Checks:
        yield at_most("pieces of Δ³ ∘ Δ³, a + b", pieces_by_slopes(teeth(6)), 2 * pieces_by_slopes(teeth(3)))

    def plots(self) -> list[Panel]:
        deep, bins = range(2, self.layers + 1), np.linspace(0, 1, 26)
        share = [(np.log(self.pieces) / np.log(self.bound))[self.depths == L] for L in deep]
        left = Panel("Random nets use little of it", "log(pieces) / log(∏ (m + 1))", "nets")
        looks = {"color": list(style.SERIES[1 : len(deep) + 1]), "label": [f"L = {L}" for L in deep]}
        left.custom(lambda axes: axes.hist(share, bins, stacked=True, **looks)).limits(x=(0, 1.15)).mark(1.0, "bound")
        right = Panel("Random nets and sawtooth nets", "∏ (m + 1)", "linear pieces", log="xy")
        for L in range(1, self.layers + 1):
            right.points(self.bound[self.depths == L], self.pieces[self.depths == L], f"L = {L}", size=9)
        for width, found in self.saw.items():
            right.control(found[0], found[1], f"Δ^p, widths {width}")
        ends = [2, max(found[0].max() for found in self.saw.values())]
        return [left, right.bound(ends, ends, "bound")]
