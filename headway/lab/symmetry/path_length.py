from itertools import accumulate

import torch
from torch import Tensor

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, np, param
from headway.lab.tools.graphs import shortest
from headway.lab.tools.layers import Net
from headway.lab.tools.layers64 import built, influence, normal
from headway.layers.attention.multihead import Multihead
from headway.layers.convolutions.boundaries import Causal as Left
from headway.layers.convolutions.convolution import Convolution
from headway.layers.masks import Causal, Window
from headway.layers.recurrences.elman import Elman

WIDTH = 3


class PathLength(Experiment):
    """How many operations lie between two positions: one in attention, n - 1 in a recurrence.

        attention 1        recurrence n - 1        convolution of kernel k: ⌈(n-1)/(k-1)⌉        dilated k^ℓ: ⌈log_k n⌉

    An operation is an edge where its Jacobian is not 0; the path is the shortest way from the first position to the last.

    Notes: D. Source: Vaswani et al. 2017, table 1, https://arxiv.org/abs/1706.03762
    Assumes: attention sees all of the past; dilations are k^ℓ in layer ℓ.
    Also: maximum path length; receptive field.
    """

    lengths = param((5, 9, 16, 33), "positions n", least=5, most=64, small=(5, 9, 16))
    kernel = param(3, "positions k that a convolution sees", least=2, most=5)
    window = param(4, "positions that the attention of the control sees", least=2, most=4)

    def dilated(self, dilation: int, rng: Generator) -> Net:
        """The registered convolution with zeros between its taps."""
        layer = built(lambda: Convolution(WIDTH, WIDTH, (self.kernel - 1) * dilation + 1, Left()), rng)
        layer.weight[:, :, torch.arange(layer.kernel) % dilation > 0] = 0
        return layer

    def edges(self, f: Net, n: int, rng: Generator) -> np.ndarray:
        """Whether out_t depends on x_s, "t s"."""
        return influence(f, normal(rng, n, WIDTH)) > 0

    def levels(self, n: int) -> int:
        """⌈log_k n⌉ without rounding."""
        return next(p for p in range(1, 9) if self.kernel**p >= n)

    def stacked(self, base: int, layers: int, n: int, rng: Generator) -> list[np.ndarray]:
        """What depends on what after 1, 2, ... layers with the dilations 1, base, base², ..."""
        return list(accumulate((self.edges(self.dilated(base**k, rng), n, rng) for k in range(layers)), lambda a, b: b @ a))

    def measure(self, rng: Generator) -> Checks:
        cell, attention = built(lambda: Elman(WIDTH, WIDTH), rng), built(lambda: Multihead(WIDTH, 1, Causal()), rng)

        def recur(z: Tensor) -> Tensor:
            """Every state from the one before it, all at once: z_t = cell(x, z_{t-1})."""
            return cell.step(torch.ones_like(z[0]), (z[0].roll(1, 0).index_fill(0, torch.tensor(0), 0.0),))[0][None]

        self.found: dict[str, list[int]] = {"recurrence": [], "convolution": [], "dilated": [], "attention": []}
        for n in self.lengths:
            for name, f in (("attention", attention), ("recurrence", recur), ("convolution", self.dilated(1, rng))):
                self.found[name].append(shortest(self.edges(f, n, rng)))
            reached = [edges[-1, 0] for edges in self.stacked(self.kernel, self.levels(n), n, rng)]
            self.found["dilated"].append(1 + reached.index(True) if any(reached) else 0)
        size = np.array(self.lengths)
        yield headline(equal("attention: 1 for each n", self.found["attention"], np.ones_like(size)))
        yield equal("recurrence: n - 1", self.found["recurrence"], size - 1)
        yield equal("convolution: ⌈(n-1)/(k-1)⌉", self.found["convolution"], -((1 - size) // (self.kernel - 1)))
        yield equal("dilated: ⌈log_k n⌉", self.found["dilated"], np.array([self.levels(n) for n in self.lengths]))
        whole = self.edges(cell, int(size.max()), rng)
        yield equal("the recurrence unrolled: every output sees its whole past", whole, np.tri(size.max(), dtype=bool))

    def control(self, rng: Generator) -> Checks:
        n = max(16, *self.lengths)  # in fewer positions a few layers reach everything anyway
        edges = self.edges(built(lambda: Multihead(WIDTH, 1, Causal() & Window(self.window)), rng), n, rng)
        yield because(f"attention sees {self.window} positions only", equal(f"path, n = {n}", shortest(edges), 1))
        seen = self.stacked(1, self.levels(n), n, rng)[-1]
        yield because("the dilation does not grow", equal(f"the last sees the first, n = {n}", bool(seen[-1, 0]), True))
        seen = self.stacked(self.kernel + 1, self.levels(n), n, rng)[-1]
        whole = equal("every output sees its whole past", seen, np.tri(n, dtype=bool))
        yield because("dilations (k+1)^ℓ grow faster than k^ℓ, which leaves holes", whole)

    def plots(self) -> list[Panel]:
        panel = Panel("Attention joins the ends of a sequence directly", "positions n", "operations between the ends", log="xy")
        return [panel.series(self.lengths, self.found)]
