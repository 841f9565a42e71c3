from collections import defaultdict
from typing import cast

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, equal, headline, np, param
from headway.lab.relu_net import ReluNet, random_net
from headway.lab.tools.mosaic import mosaic
from headway.lab.tools.regions import Cell, Polygon, cells, signs_at


def points(cell: Cell) -> np.ndarray:
    return cast(Polygon, cell.part).points  # of two inputs


def area(cell: Cell) -> float:
    x, y = points(cell).T
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2


def bends(net: ReluNet, found: list[Cell], side: float) -> tuple[int, np.ndarray]:
    """Where zero lines of the last hidden layer bend: how often, and the least |z| of the layers below there."""
    layers = [ReluNet(net.layers[: i + 1]) for i in range(net.depth - 1)]
    ways, ends = defaultdict(list), {}  # directions of the edges of one unit's zero line at each of their ends
    for cell in found:
        p = points(cell)
        for a, b in zip(p, np.roll(p, -1, axis=0), strict=True):
            if np.linalg.norm(b - a) > 1e-6 and np.abs(a + b).max() < 2 * side - 1e-9:  # not an edge of the square
                zero = np.abs(layers[-1](np.array([a, (a + b) / 2, b]))).max(axis=0) < 1e-9
                for unit in np.flatnonzero(zero):
                    for end in (a, b):
                        key = unit, *np.round(end, 7)
                        ways[key].append((b - a) / np.linalg.norm(b - a))
                        ends[key] = end
    turned = [
        ends[key] for key, way in ways.items() if max(abs(way[0][0] * w[1] - way[0][1] * w[0]) for w in way) > 1e-6
    ]
    below = [np.abs(np.concatenate([layer(end) for layer in layers[:-1]] or [np.ones(1)])).min() for end in turned]
    return len(turned), np.array(below)


class RegionSlice(Experiment):
    """Each layer cuts the cells of the layers below by straight lines, which bend only where a shallower unit bends.

    On a cell of the first ℓ-1 layers the unit z_i of layer ℓ is affine,

        z_i(x) = G_i x + g_i,      so   {z_i = 0} is a straight line there, and the partitions of the layers are nested.

    Lines of the first layer never bend; those of layer ℓ bend where they cross a line of a layer below.

    Notes: B. Source: Raghu et al. 2017, https://arxiv.org/abs/1606.05336; Montúfar et al. 2014,
    https://arxiv.org/abs/1402.1869
    Assumes: piecewise-linear units.
    Deviates: the paper's picture samples a grid; here cells are exact polygons, and a grid must find no other.
    Also: partition of the input plane; picture of linear regions.
    """

    cost = "M"
    width = param(8, "units in each of three hidden layers", least=5, most=16, small=5)
    side = param(2.0, "the square is [-side, side]²", least=1.0, most=10.0)
    grid = param(300, "points along each side of the grid", least=50, most=1000, small=100)

    def measure(self, rng: Generator) -> Checks:
        whole = random_net([2, self.width, self.width, self.width, 1], rng, 0.5)
        nets = [ReluNet((*whole.layers[:L], (np.ones((1, self.width)), [0.0]))) for L in (1, 2, 3)]
        self.found = [cells(net, Polygon.square(-self.side, self.side)) for net in nets]
        for L, (inner, outer) in enumerate(zip(self.found[1:], self.found, strict=False), 2):
            filled: dict[bytes, float] = defaultdict(float)
            for cell in inner:
                filled[cell.signs[: (L - 1) * self.width].tobytes()] += area(cell)
            parts = [filled[cell.signs.tobytes()] for cell in outer]
            yield close(
                f"cells of layer {L} fill those of layer {L - 1}: areas", parts, [area(cell) for cell in outer], 1e-9
            )
        counts, nearest = zip(*(bends(net, c, self.side) for net, c in zip(nets, self.found, strict=True)), strict=True)
        yield equal("bends of lines of layer 1", counts[0], 0)
        below = np.append(0.0, np.concatenate(nearest[1:]))
        yield headline(close(f"{sum(counts)} bends of deeper lines: |z| of a shallower unit there", below, 0 * below))
        yield close("z is affine on each cell: middle and corners agree", self.affine_error(whole, 0.0), 0.0)
        x = np.stack(np.meshgrid(*[np.linspace(-self.side, self.side, self.grid)] * 2), axis=-1).reshape(-1, 2)
        known = {cell.signs.tobytes() for cell in self.found[2]}
        unknown = len({s.tobytes() for s in np.unique(signs_at(nets[2], x), axis=0)} - known)
        yield equal(f"patterns of {self.grid}² grid points that are no cell", unknown, 0)
        self.net = whole

    def affine_error(self, net: ReluNet, smooth: float) -> float:
        """Largest |z(mean of corners) - mean of z|, layer 2 on cells of layer 1; units max(z, 0) + smooth tanh z."""
        (w, b), (v, c) = net.layers[:2]

        def second(x: np.ndarray) -> np.ndarray:
            z = x @ w.T + b
            return (np.maximum(z, 0.0) + smooth * np.tanh(z)) @ v.T + c

        corners = [points(cell) for cell in self.found[0]]
        return max(float(np.abs(second(p.mean(axis=0)) - second(p).mean(axis=0)).max()) for p in corners)

    def control(self, rng: Generator) -> Checks:
        row = close("z is affine on each cell, units max(z, 0) + tanh z", self.affine_error(self.net, 1.0), 0.0)
        yield because("the units are curved", row)

    def plots(self) -> list[Panel]:
        titles = [f"{L} layer{'s' if L > 1 else ''}: {len(c)} cells" for L, c in enumerate(self.found, 1)]
        return [mosaic(title, c) for title, c in zip(titles, self.found, strict=True)]
