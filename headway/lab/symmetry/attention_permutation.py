import dataclasses
from collections.abc import Callable
from itertools import permutations

import torch
from scipy.spatial import ConvexHull
from torch import Tensor, nn

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, headline, np, param, printed
from headway.lab.tools.layers import applied, drawn
from headway.lab.tools.programs import hull_point
from headway.layers.attention.attend import recorded
from headway.layers.attention.cross import Cross
from headway.layers.attention.multihead import Multihead
from headway.layers.block import Block
from headway.layers.connections.post_norm import PostNorm
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.feedforward import Feedforward
from headway.layers.masks import Causal
from headway.layers.positions.rotary import Rotary
from headway.layers.positions.sinusoidal import Sinusoidal


class Placed(nn.Module):
    """A layer that is told where its inputs stand."""

    def __init__(self, layer: nn.Module, width: int) -> None:
        super().__init__()
        self.layer, self.position = layer, Sinusoidal(width)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x + self.position(x.shape[1]))


class AttentionPermutation(Experiment):
    """Self-attention permutes its outputs as its inputs are permuted; each output is a weighted mean of values.

        Attn(P X) = P Attn(X),      out_t = Σ_s a_ts v_s,   a_ts >= 0,   Σ_s a_ts = 1

    A score depends on the two tokens alone, and a sum over keys does not know their order. Feed-forward networks, norms and residuals treat
    each token by itself, so whole blocks are equivariant; their mean is invariant. Positions and causal masks tell the order.

    Notes: A, B, C, D. Source: Lee et al. 2019, Set Transformer, https://arxiv.org/abs/1810.00825; Vaswani et al. 2017, https://arxiv.org/abs/1706.03762
    Assumes: no positions and no mask; keys and values are permuted together.
    Also: permutation equivariance of attention; attention is order-equivariant; convex hull of values.
    """

    tokens = param(5, "all of whose orders are tried", least=3, most=6, small=4)
    width = param(8, "of a token", least=4, most=64)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(self.width % 4 == 0, "`width` must be a multiple of 4")]

    def moved(self, net: Callable[[Tensor], Tensor]) -> tuple[np.ndarray, np.ndarray]:
        """F(P X) and P F(X) for every P."""
        return applied(net, self.x[0, self.orders]), applied(net, self.x)[0, self.orders]

    def measure(self, rng: Generator) -> Checks:
        n, d, inner = self.tokens, self.width, 2 * self.width
        self.orders = np.array(list(permutations(range(n))))
        self.x = rng.normal(size=(1, n, d))
        self.plain = drawn(Multihead(d, 2), rng)
        sums = {"pre-norm": PreNorm, "post-norm": PostNorm}
        blocks = {name: Block(d, Multihead(d, 2), Feedforward(d, inner), made, 0.0) for name, made in sums.items()}
        self.blocks = drawn(nn.Sequential(*blocks.values()), rng)
        self.errors = {name: self.error(net) for name, net in {"attention": self.plain, **blocks}.items()}
        yield headline(close("attention: Attn(P X) - P Attn(X)", *self.moved(self.plain)))
        for name, block in blocks.items():
            yield close(f"block, {name}", *self.moved(block))
        there, back = (y.mean(1) for y in self.moved(self.blocks))
        yield close("two blocks and a mean: invariant", there, back)
        self.cross, self.memory = drawn(Cross(d, 2), rng), rng.normal(size=(1, n, d))
        look = lambda x, y: self.cross(x, self.cross.remember(y, None))
        seen = [applied(look, self.x, self.memory[:, order]) for order in self.orders]
        yield close("cross-attention: keys and values permuted", np.stack(seen), np.stack(seen[:1] * len(seen)))
        with recorded(self.plain) as maps:
            self.plain(torch.from_numpy(self.x))
        weights = maps["attend"][0].numpy()
        rows = np.stack([weights.sum(-1), np.abs(weights).sum(-1)])
        yield close("weights of a query: they are positive with sum 1", rows, np.ones_like(rows))
        flat = drawn(Multihead(2, 1), rng)
        flat.output.load_state_dict({"weight": torch.eye(2), "bias": torch.zeros(2)})
        points = 2 * rng.normal(size=(1, 8, 2))
        self.values, self.out = applied(flat.project, points)[0, :, 4:], applied(flat, points)[0]
        gaps = [np.linalg.norm(hull_point(self.values - out)[0]) for out in self.out]
        yield close("distance of outputs from the hull of the values", gaps, np.zeros(8))

    def error(self, net: Callable[[Tensor], Tensor]) -> float:
        there, back = self.moved(net)
        return float(np.abs(there - back).max())

    def control(self, rng: Generator) -> Checks:
        d, heads = self.width, 2
        nets = {"sinusoidal": ("positions are added", Placed(Multihead(d, heads), d)),
                "rotary": ("queries and keys turn with their place", Multihead(d, heads, position=Rotary)),
                "causal": ("the mask follows the order", Multihead(d, heads, mask=Causal()))}  # fmt: skip
        for name, (why, net) in nets.items():
            self.errors[name] = self.error(drawn(net, rng))
            yield because(why, close(f"{name}: F(P X) = P F(X)", self.errors[name], 0, 1e-3))
        with torch.no_grad():
            right = self.cross.remember(torch.from_numpy(self.memory), None)
            wrong = dataclasses.replace(right, k=right.k.flip(2))
            pair = [self.cross(torch.from_numpy(self.x), seen).numpy() for seen in (wrong, right)]
        yield because("values stay where they are", close("cross-attention: keys permuted", *pair, 1e-3))
        for erratum, name, net in (("A13", "attention", self.plain), ("C21", "one block", self.blocks[0]), ("D6", "two blocks", self.blocks)):
            y = applied(net, self.x[0, self.orders])
            yield printed(close(f"{name}: F(P X) = F(X)", y, np.stack([applied(net, self.x)[0]] * len(y)), 1e-3), erratum)
        yield printed(close("out_t = Σ_s a_ts v_t", self.values, self.out, 1e-3), "C20")
        mixing = torch.from_numpy(rng.normal(size=(self.tokens, self.tokens)))
        there, back = self.moved(lambda x: mixing @ self.plain(x))
        yield printed(close("W_O H: permuted as the inputs", there, back, 1e-3), "B10")

    def plots(self) -> list[Panel]:
        names = list(self.errors)
        left = Panel("Only what knows the order breaks it", "largest |F(P X) - P F(X)|", "layer", log="x")
        left.points([max(self.errors[k], 1e-17) for k in names], range(len(names)), size=50).ticks(y=dict(enumerate(names)))
        hull = self.values[ConvexHull(self.values).vertices]
        right = Panel("Outputs lie in the hull of the values", "first entry", "second entry").bound(*np.vstack([hull, hull[:1]]).T)
        return [left, right.points(*self.values.T, "values", size=40).points(*self.out.T, "outputs", size=40)]
