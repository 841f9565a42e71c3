import torch
from torch import nn

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, equal, headline, np, param
from headway.lab.tools.layers import applied, drawn, size
from headway.layers.convolutions.boundaries import Circular, Same
from headway.layers.convolutions.convolution_2d import Convolution2d
from headway.layers.convolutions.local import Local, dense, unshared


class ConvParams(Experiment):
    """A convolution has k²cd + d parameters, however large the picture is: its one filter is used at every place.

        convolution: k² c d + d,      locally connected: HW (k² c d + d),      fully connected: (HWc)(HWd) + HWd

    Copy the filter to every place, then write zeros where it does not reach: nothing changes. Gradients of the copies add up to its own.

    Notes: C, D. Source: LeCun, Bottou, Bengio, Haffner 1998, section II.A, https://doi.org/10.1109/5.726791
    Assumes: zeros at the ends, so that outputs are as many as pixels; one filter for all places.
    Also: weight sharing; parameters of a convolutional layer; locally connected layer.
    """

    sides = param((4, 6, 8, 12), "rows and columns of square pictures", least=3, most=16, small=(3, 5))
    inputs = param(2, "channels c of the picture", least=1, most=4)
    width = param(3, "channels d of the output", least=1, most=4)
    reach = param(1, "pixels r to each side of the middle, k = 2r + 1", least=1, most=2)

    def measure(self, rng: Generator) -> Checks:
        n, c, d, k = np.array(self.sides), self.inputs, self.width, 2 * self.reach + 1
        shared = [drawn(Convolution2d(c, d, k, Same()), rng) for _ in self.sides]
        local = [unshared(layer, (side, side)) for layer, side in zip(shared, self.sides, strict=True)]
        full = [dense(layer) for layer in local]
        self.counts = {name: np.array([size(layer) for layer in layers])
                       for name, layers in (("convolution", shared), ("local", local), ("full", full))}  # fmt: skip
        yield headline(equal("convolution: k²cd + d", self.counts["convolution"], np.full(len(n), k**2 * c * d + d)))
        yield equal("locally connected: HW times as many", self.counts["local"], n**2 * (k**2 * c * d + d))
        yield equal("fully connected: (HWc)(HWd) + HWd", self.counts["full"], (n**2 * c) * (n**2 * d) + n**2 * d)
        pictures = [rng.normal(size=(5, c, side, side)) for side in self.sides]
        one, two, three = (
            np.concatenate([applied(f, x).ravel() for f, x in zip(layers, pictures, strict=True)])
            for layers in (shared, local, [nn.Sequential(nn.Flatten(), f) for f in full])
        )
        yield close("copied to every place: same outputs", two, one)
        yield close("as one matrix: same outputs", three, one)
        self.matrix = full[0].weight.detach().numpy()
        inside = c * d * (k * n - self.reach * (self.reach + 1)) ** 2
        yield equal("weights of the matrix that are not 0", np.array([int((f.weight != 0).sum()) for f in full]), inside)
        x, target = torch.from_numpy(pictures[0]), torch.from_numpy(rng.normal(size=(5, d, self.sides[0], self.sides[0])))
        gradients = [torch.autograd.grad(((f(x) - target) ** 2).sum(), f.weight)[0] for f in (shared[0], local[0])]
        yield close("gradient of the filter: the sum of its copies'", gradients[1].sum(0).numpy(), gradients[0].flatten(1).numpy())
        local[0].weight.data[1] += 1
        changed = np.any(np.abs(applied(local[0], pictures[0]) - applied(shared[0], pictures[0])) > 1e-9, axis=(0, 1)).ravel()
        yield equal("one copy is changed: which places notice", changed, np.arange(self.sides[0] ** 2) == 1)

    def control(self, rng: Generator) -> Checks:
        side, k = self.sides[0], 2 * self.reach + 1
        layer = drawn(Local(1, 1, (side, side), k, Circular()), rng)
        x = rng.normal(size=(1, 1, side, side))
        moved, there = applied(layer, np.roll(x, 1, 3)), np.roll(applied(layer, x), 1, 3)
        yield because("filters differ from place to place", close("a locally connected layer commutes with shifts", moved, there, 1e-3))
        grown = np.array([size(drawn(Local(1, 1, (s, s), k, Same()), rng)) for s in (side, side + 1)])
        yield because("nothing is shared", equal("one more row and column: as many parameters", grown[1:], grown[:1]))

    def plots(self) -> list[Panel]:
        left = Panel("Only the shared filter does not grow", "side of the picture", "parameters", log="xy").series(self.sides, self.counts)
        top = float(np.abs(self.matrix).max())
        right = Panel(f"The same layer as a matrix, side {self.sides[0]}", "input value", "output value")
        return [left, right.image(self.matrix, colours="RdBu", limits=(-top, top))]
