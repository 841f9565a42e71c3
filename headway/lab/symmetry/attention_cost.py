from functools import reduce

import torch

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, np, param, printed, slope
from headway.lab.tools.layers64 import multiply_adds
from headway.layers.attention.attend import recorded
from headway.layers.attention.cache import Cache
from headway.layers.attention.linear_attention import LinearAttention
from headway.layers.attention.multihead import Multihead
from headway.layers.masks import Causal
from headway.layers.recurrences.elman import Elman

HEADS = 4


class AttentionCost(Experiment):
    """Attention costs n²d, a recurrence nd²: between positions, attention is cheaper while n < d.

        projections 4nd²    scores n²d    values n²d    (multiply-adds of self-attention; n² weights per head are held)
        recurrence  2nd²,   in n steps that follow each other

    A generated token costs 4d² + 2nd with cached keys and values, so n tokens cost O(n²d) in total, not O(n²d) each.

    Notes: A, D, E. Source: Vaswani et al. 2017, table 1, https://arxiv.org/abs/1706.03762
    Assumes: weights are written out for every pair of positions; keys and values are cached while generating.
    Deviates: multiply-adds of the layers are counted by torch, not timed: seconds belong to a machine.
    Also: quadratic cost of attention; complexity per layer.
    """

    cost = "M"
    lengths = param((64, 128, 256, 512, 1024, 2048), "positions n", least=8, most=8192, count=4, small=(32, 64, 128, 256))
    heads = param((16, 32, 64, 128), "widths of each of four heads, d/4", least=2, most=1024, count=2)

    def count(self, n: int, d: int) -> tuple[int, int, int, int]:
        """A self-attention, all steps of an Elman network, the weights that are held, and one cached step after n - 1 others."""
        with torch.device("meta"):  # shapes without numbers
            layer, cell = Multihead(d, HEADS, Causal()), Elman(d, d)
            with recorded(layer) as maps:
                whole = multiply_adds(layer, (1, n, d))
            step = multiply_adds(lambda x: cell.step(x, cell.start(1)), (1, d))
        return whole, n * step, next(iter(maps.values()))[0].numel(), self.generate(n, d)

    def generate(self, n: int, d: int, tokens: int = 1) -> int:
        """So many cached steps, of which the last one is the n-th."""
        with torch.device("meta"):
            layer, x, before = Multihead(d, HEADS, Causal()), torch.empty(1, d), n - tokens
            cache = Cache(*(torch.empty(before, 1, HEADS, d // HEADS),) * 2, stop=before, past=before)
            with recorded(layer):
                return multiply_adds(lambda: reduce(lambda state, _: layer.step(x, state)[1], range(tokens), cache))

    def measure(self, rng: Generator) -> Checks:
        self.widths = [HEADS * e for e in self.heads]
        n, d = (a.astype(np.int64) for a in np.meshgrid(self.lengths, self.widths, indexing="ij"))
        found = np.array([[self.count(int(a), int(b)) for b in self.widths] for a in self.lengths])
        whole, self.recurrent, weights, self.step = np.moveaxis(found, -1, 0)
        self.core = whole - 4 * n * d**2
        yield headline(equal("self-attention: 4nd² + 2n²d", whole, 4 * n * d**2 + 2 * n**2 * d))
        yield equal("Elman network: 2nd²", self.recurrent, 2 * n * d**2)
        yield equal("scores and values cost less than the recurrence exactly where n < d", self.core < self.recurrent, n < d)
        yield equal(f"weights that are held: {HEADS} n²", weights, HEADS * n**2)
        yield equal("a generated token, cached: 4d² + 2nd", self.step, 4 * d**2 + 2 * n * d)
        self.token = self.step[:, 0] - 4 * self.widths[0] ** 2
        yield slope("cost of a token between positions, in n", self.lengths, self.token, 1, 1e-9)
        m, w = min(64, *self.lengths), self.widths[0]
        yield equal(f"{m} tokens generated: 4nd² + n(n + 1)d", self.generate(m, w, m), 4 * m * w**2 + m * (m + 1) * w)

    def control(self, rng: Generator) -> Checks:
        again = slope("cost of a token between positions, in n", self.lengths, self.core[:, 0], 1, 0.15)
        yield because("nothing is cached: the prefix is read again for each token", again)
        with torch.device("meta"):
            d, layer = self.widths[0], LinearAttention(self.widths[0], HEADS)
            few = [multiply_adds(layer, (1, n, d)) - 4 * n * d**2 for n in self.lengths]
        yield because("no weights of pairs are written out", slope("linear attention between positions, in n", self.lengths, few, 2, 0.15))
        yield printed(slope("cost of a generated token grows like n²", self.lengths, self.token, 2, 0.15), "C24")

    def plots(self) -> list[Panel]:
        left = Panel("Attention is cheaper below the line, for n < d", "log₂ d", "log₂ n")
        x, y = np.log2(self.widths), np.log2(self.lengths)
        edges = (x[0] - 0.5, x[-1] + 0.5, y[0] - 0.5, y[-1] + 0.5)
        left.image(np.log2(self.core / self.recurrent), edges, "RdBu_r", "log₂ (attention / recurrence)", (-5, 5))
        ends = [max(edges[0], edges[2]), min(edges[1], edges[3])]
        left.target(ends, ends)
        right = Panel("With a cache a token costs O(n)", "positions n", "multiply-adds", log="xy")
        right.series(self.lengths, self.token, "a token, cached").control(self.lengths, self.core[:, 0], "a token, nothing cached")
        return [left, right.series(self.lengths, self.recurrent[:, 0] / np.array(self.lengths), "a step of a recurrence")]
