from headway.core.errors import ConfigError
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet, random_net
from headway.lab.tools.mosaic import mosaic
from headway.lab.tools.regions import Polygon, cells, most_regions, signs_at, zaslavsky


class RegionExact(Experiment):
    """The activation regions of a ReLU net can be listed exactly; there are at most ∏ Σ_{j<=d_ℓ} C(n_ℓ, j).

    On a region of the layers below, layer ℓ is affine, so each of its n_ℓ units cuts the region by one hyperplane:

        regions <= ∏_ℓ Σ_{j=0}^{d_ℓ} C(n_ℓ, j),      d_ℓ = min(n_0, n_1, …, n_{ℓ-1}).

    The image of a region under the layers below has at most d_ℓ dimensions, and n_ℓ hyperplanes cut such a space into no more pieces. A
    piece is kept if a ball fits into it (a linear program); with two inputs, if clipping leaves a polygon.

    Notes: A, B, C. Source: Montúfar 2017, Notes on the number of linear regions, https://openreview.net/forum?id=BkELjBXc-
    Assumes: ReLU units, which bend once; all inputs, or a convex set of them.
    Also: number of linear regions; activation regions.
    """

    cost = "M"
    width = param(4, "units in each hidden layer", least=2, most=6, small=3)
    depth = param(3, "the largest number L of hidden layers; with three inputs 2", least=1, most=4, small=2)
    points = param(100_000, "random inputs whose signs must be in the list", least=1000, most=1_000_000, small=10_000)

    def measure(self, rng: Generator) -> Checks:
        depths = {1: self.depth, 2: self.depth, 3: min(self.depth, 2)}  # three inputs: a linear program for each cut
        shapes = {n: [(self.width,) * L for L in range(1, top + 1)] for n, top in depths.items()}
        nets = {n: [random_net([n, *shape, 1], rng) for shape in some] for n, some in shapes.items()}
        found = {n: [cells(net) for net in some] for n, some in nets.items()}
        self.counts = {n: np.array([len(c) for c in some]) for n, some in found.items()}
        self.bounds = {n: np.array([most_regions(n, shape) for shape in some]) for n, some in shapes.items()}
        measured = {f"{n} inputs, {i} layers": k for n, c in self.counts.items() for i, k in enumerate(c, 1)}
        yield headline(at_most("activation regions, ∏ Σ C(n_ℓ, j)", measured, np.concatenate(list(self.bounds.values()))))
        first = np.array([c[0] for c in self.counts.values()])
        yield equal("one layer: Σ_{j<=n} C(m, j), n = 1, 2, 3", first, [zaslavsky(n, self.width) for n in depths])
        knots = [len(pwl1d(net).knots) for net in nets[1]]  # x = 0 is one of them, though nothing bends there
        yield equal("one input: counted from the breakpoints", self.counts[1], knots)
        net, clipped = nets[2][min(1, self.depth - 1)], found[2][min(1, self.depth - 1)]
        solved, listed = ({c.signs.tobytes() for c in some} for some in (cells(net, programs=True), clipped))
        yield equal("two inputs: regions of one of polygons and programs only", len(solved ^ listed), 0)
        net, exact = nets[2][-1], {c.signs.tobytes() for c in found[2][-1]}
        met = {s.tobytes() for s in signs_at(net, rng.normal(0, 3, (self.points, 2)))}
        yield equal(f"sign patterns of {self.points} random inputs that are not listed", len(met - exact), 0)
        self.shown = cells(net, Polygon.square(-3, 3))
        jumps = [np.abs(c.polygon.points @ c.M.T + c.v - net(c.polygon.points)).max() for c in self.shown]
        yield close("maps of all neighbours meet at their corners", jumps, np.zeros(len(jumps)), 1e-8)

    def examine(self, network: ReluNet, rng: Generator) -> Checks:
        if network.inputs > 3 or network.nodes > 60:
            hint = "bring one of at most 3 inputs and 60 units."
            raise ConfigError("the regions of this network are too many to list", hint)
        count, bound = len(cells(network)), most_regions(network.inputs, network.widths)
        yield headline(at_most(f"regions of your net of widths {network.widths}", count, bound))

    def control(self, rng: Generator) -> Checks:
        w, b, m = rng.normal(size=(self.width, 2)), rng.normal(size=self.width), self.width
        net = ReluNet(((np.vstack([w, w]), np.append(b - 1, b + 1)), (np.ones((1, 2 * m)), [0.0])))
        yield because("each unit bends twice", at_most(f"regions of {m} hard-tanh units, Σ C({m}, j)", len(cells(net)), zaslavsky(2, m)))

    def resolution(self, rng: Generator) -> Checks:
        yield at_most("two inputs, one layer: m + 1, as with one input", int(self.counts[2][0]), self.width + 1)

    def plots(self) -> list[Panel]:
        values = [float((c.M @ c.part.centre + c.v)[0]) for c in self.shown]
        left = mosaic(f"The net is affine on each of {len(self.shown)} cells", self.shown, values)
        right = Panel("Regions and their bound", "hidden layers L", "activation regions", log="y")
        for n, counts in self.counts.items():
            x = np.arange(1, len(counts) + 1)
            right.series(x, counts, f"{n} inputs" if n > 1 else "1 input").bound(x, self.bounds[n], f"bound, n = {n}")
        return [left, right.ticks(x={float(L): str(L) for L in range(1, self.depth + 1)})]
