from collections.abc import Callable, Iterable

import torch
from scipy.sparse.csgraph import shortest_path
from torch import Tensor

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, np, param
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

    An operation is an edge where its Jacobian is not 0; the path is the shortest way from the first position to the last in
    that graph. Signals and gradients have to survive every operation on it.

    Notes: D. Source: Vaswani et al. 2017, table 1, https://arxiv.org/abs/1706.03762
    Assumes: attention sees all of the past; dilations are k^ℓ in layer ℓ.
    Also: maximum path length; receptive field.
    """

    lengths = param((5, 9, 16, 33), "positions n", least=3, most=64, small=(5, 9, 16))
    kernel = param(3, "positions k that a convolution sees", least=2, most=5)
    window = param(4, "positions that the attention of the control sees", least=2, most=8)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(max(self.lengths) > self.window, "one of `lengths` must be longer than `window`")]

    def dilated(self, dilation: int, rng: Generator) -> Callable[[Tensor], Tensor]:
        """The registered convolution with zeros between its taps."""
        layer = built(lambda: Convolution(WIDTH, WIDTH, (self.kernel - 1) * dilation + 1, Left()), rng)
        layer.weight[:, :, torch.arange(layer.kernel) % dilation > 0] = 0
        return layer

    def edges(self, f: Callable[[Tensor], Tensor], n: int, rng: Generator) -> np.ndarray:
        """Whether out_t depends on x_s, "t s"."""
        return influence(f, normal(rng, n, WIDTH)) > 0

    def path(self, edges: np.ndarray) -> int:
        """The shortest way from the first position to the last; 0 for none."""
        length = shortest_path(np.ascontiguousarray(edges.T, dtype=float), unweighted=True)[0, -1]
        return int(length) if np.isfinite(length) else 0

    def levels(self, n: int) -> int:
        """⌈log_k n⌉ without rounding."""
        return next(p for p in range(1, 9) if self.kernel**p >= n)

    def through(self, layers: Iterable[np.ndarray]) -> int:
        """How many layers until the last position depends on the first; 0 for never."""
        reached = np.eye(1, dtype=int)
        for count, edges in enumerate(layers, 1):
            reached = edges.astype(int) @ reached if count > 1 else edges.astype(int)
            if reached[-1, 0]:
                return count
        return 0

    def measure(self, rng: Generator) -> Checks:
        self.found: dict[str, list[int]] = {"attention": [], "recurrence": [], "convolution": [], "dilated": []}
        for n in self.lengths:
            x, cell = normal(rng, n, WIDTH), built(lambda: Elman(WIDTH, WIDTH), rng)

            def recur(z: Tensor, cell: Elman = cell, x: Tensor = x) -> Tensor:
                """Every state from the one before it, all at once: z_t = cell(x_t, z_{t-1})."""
                before = torch.cat((torch.zeros_like(z[0, :1]), z[0, :-1]))
                return cell.step(x, (before,))[0][None]

            attention = self.edges(built(lambda: Multihead(WIDTH, 1, Causal()), rng), n, rng)
            plain = self.edges(built(lambda: Convolution(WIDTH, WIDTH, self.kernel, Left()), rng), n, rng)
            self.found["attention"].append(self.path(attention))
            self.found["convolution"].append(self.path(plain))
            self.found["recurrence"].append(self.path(self.edges(recur, n, rng)))
            stack = (self.edges(self.dilated(self.kernel**k, rng), n, rng) for k in range(self.levels(n)))
            self.found["dilated"].append(self.through(stack))
        size, k = np.array(self.lengths), self.kernel
        found = {name: np.array(lengths) for name, lengths in self.found.items()}
        yield headline(equal("attention: 1 for each n", found["attention"], np.ones_like(size)))
        yield equal("recurrence: n - 1", found["recurrence"], size - 1)
        yield equal("convolution: ⌈(n-1)/(k-1)⌉", found["convolution"], -((1 - size) // (k - 1)))
        yield equal("dilated: ⌈log_k n⌉", found["dilated"], np.array([self.levels(n) for n in self.lengths]))
        whole = self.edges(built(lambda: Elman(WIDTH, WIDTH), rng), max(self.lengths), rng)
        yield equal("the recurrence unrolled: every output sees its whole past", whole, np.tri(max(self.lengths), dtype=bool))

    def control(self, rng: Generator) -> Checks:
        n = max(self.lengths)
        edges = self.edges(built(lambda: Multihead(WIDTH, 1, Causal() & Window(self.window)), rng), n, rng)
        self.near = self.path(edges)
        yield because(f"attention sees {self.window} positions only", equal(f"path, n = {n}", self.near, 1))
        same = self.through(self.edges(self.dilated(1, rng), n, rng) for _ in range(n))
        yield because("the dilation does not grow", equal(f"layers of convolution, n = {n}", same, self.levels(n)))
        seen = np.eye(n, dtype=int)
        for level in range(self.levels(n)):
            seen = self.edges(self.dilated((self.kernel + 1) ** level, rng), n, rng).astype(int) @ seen
        check = equal("every output sees its whole past", seen > 0, np.tri(n, dtype=bool))
        yield because("dilations (k+1)^ℓ grow faster than k^ℓ, which leaves holes", check)

    def plots(self) -> list[Panel]:
        panel = Panel("Attention joins the ends of a sequence directly", "positions n", "operations between the ends", log="xy")
        panel.series(self.lengths, {k: v for k, v in self.found.items() if k != "attention"})
        return [panel.series(self.lengths, self.found["attention"], "attention")]
