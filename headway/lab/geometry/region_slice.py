from collections import defaultdict
from itertools import pairwise

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, equal, headline, np, param
from headway.lab.relu_net import ReluNet, random_net
from headway.lab.tools.mosaic import mosaic
from headway.lab.tools.regions import Polygon, bends, cells, signs_at


class RegionSlice(Experiment):
    """Each layer cuts the cells of the layers below by straight lines, which bend only where a shallower unit bends.

    On a cell of the first ℓ-1 layers the unit z_i of layer ℓ is affine,

        z_i(x) = G_i x + g_i,      so   {z_i = 0} is a straight line there, and the partitions of the layers are nested.

    Lines of the first layer never bend; those of layer ℓ bend where they cross a line of a layer below.

    Notes: B. Source: Raghu et al. 2017, https://arxiv.org/abs/1606.05336; Montúfar et al. 2014, https://arxiv.org/abs/1402.1869
    Assumes: piecewise-linear units.
    Deviates: the paper's picture samples a grid; here cells are exact polygons, and a grid must find no other.
    Also: partition of the input plane; picture of linear regions.
    """

    cost = "M"
    width = param(8, "units in each of three hidden layers", least=5, most=16, small=5)
    side = param(2.0, "the square is [-side, side]²", least=1.0, most=10.0)
    grid = param(300, "points along each side of the grid", least=50, most=1000, small=100)

    def measure(self, rng: Generator) -> Checks:
        self.net = random_net([2, *[self.width] * 3, 1], rng, 0.5)
        head = np.ones((1, self.width)), np.zeros(1)
        nets = [ReluNet((*self.net.layers[:L], head)) for L in (1, 2, 3)]
        self.found = [cells(net, Polygon.square(-self.side, self.side)) for net in nets]
        filled: dict[bytes, float] = defaultdict(float)
        for outer, inner in pairwise(self.found):
            for cell in inner:
                filled[cell.signs[: outer[0].signs.size].tobytes()] += cell.polygon.area
        outer = [cell for found in self.found[:2] for cell in found]
        parts, areas = [filled[cell.signs.tobytes()] for cell in outer], [cell.polygon.area for cell in outer]
        yield close("cells of a layer fill those of the layer below: areas", parts, areas, 1e-9)
        points = [bends(net, found) for net, found in zip(nets, self.found, strict=True)]
        yield equal("bends of lines of layer 1", len(points[0]), 0)
        lower = [ReluNet(self.net.layers[:L]) for L in (1, 2)]  # z of layers 1 and 2
        below = [min(np.abs(z(x)).min() for z in lower[:L]) for L in (1, 2) for x in points[L]]
        name = f"{len(below)} bends of deeper lines: |z| of a shallower unit there"
        yield headline(close(name, np.append(0.0, below), 0 * np.append(0.0, below)))
        yield close("z is affine on each cell: middle and corners agree", self.affine_error(0.0), 0.0)
        x = np.stack(np.meshgrid(*[np.linspace(-self.side, self.side, self.grid)] * 2), axis=-1).reshape(-1, 2)
        seen, known = np.unique(signs_at(self.net, x), axis=0), {cell.signs.tobytes() for cell in self.found[2]}
        yield equal(f"patterns of {self.grid}² grid points that are no cell", sum(s.tobytes() not in known for s in seen), 0)

    def affine_error(self, smooth: float) -> float:
        """Largest |z(mean of corners) - mean of z|, layer 2 on cells of layer 1; units max(z, 0) + smooth tanh z."""
        (w, b), (v, c) = self.net.layers[:2]

        def second(x: np.ndarray) -> np.ndarray:
            z = x @ w.T + b
            return (np.maximum(z, 0.0) + smooth * np.tanh(z)) @ v.T + c

        corners = [cell.polygon.points for cell in self.found[0]]
        return max(float(np.abs(second(p.mean(axis=0)) - second(p).mean(axis=0)).max()) for p in corners)

    def control(self, rng: Generator) -> Checks:
        yield because("the units are curved", close("z is affine on each cell, units max(z, 0) + tanh z", self.affine_error(1.0), 0.0))

    def plots(self) -> list[Panel]:
        titles = [f"{L} layer{'s' * (L > 1)}: {len(found)} cells" for L, found in enumerate(self.found, 1)]
        return [mosaic(title, found) for title, found in zip(titles, self.found, strict=True)]
