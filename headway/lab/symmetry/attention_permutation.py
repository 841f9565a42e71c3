import dataclasses
from itertools import permutations

import torch
from scipy.spatial import ConvexHull
from torch import Tensor, nn

from headway.lab.checks import Check
from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, headline, np, param, printed
from headway.lab.tools.layers import Net, applied, drawn
from headway.lab.tools.programs import hull_point
from headway.layers.attention.cross import Cross
from headway.layers.attention.multihead import Multihead
from headway.layers.block import Block
from headway.layers.connections.post_norm import PostNorm
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.feedforward import Feedforward
from headway.layers.masks import Causal
from headway.layers.positions.rotary import Rotary
from headway.layers.positions.sinusoidal import Sinusoidal


class AttentionPermutation(Experiment):
    """Self-attention permutes its outputs as its inputs are permuted; each output is a weighted mean of values.

        Attn(P X) = P Attn(X),      out_t = Σ_s a_ts v_s,   a_ts >= 0,   Σ_s a_ts = 1

    A score depends on the two tokens alone, and a sum over keys does not know their order. Feed-forward networks, norms and
    residuals treat each token by itself, so whole blocks are equivariant; their mean is invariant. Positions and masks tell the order.

    Notes: A, B, C, D. Source: Lee et al. 2019, Set Transformer, property 1, https://arxiv.org/abs/1810.00825
    Assumes: no positions and no mask; keys and values are permuted together.
    Also: permutation equivariance of attention; attention is order-equivariant; convex hull of values.
    """

    tokens = param(5, "all of whose orders are tried", least=3, most=6, small=4)
    width = param(4, "of each of two heads", least=2, most=32)

    def moved(self, net: Net) -> tuple[np.ndarray, np.ndarray]:
        """F(P X) and P F(X) for every P."""
        return applied(net, self.x[0, self.orders]), applied(net, self.x)[0, self.orders]

    def compare(self, name: str, net: Net, tolerance: float = 1e-10) -> Check:
        self.pairs[name] = self.moved(net)
        return close(f"{name}: F(P X) = P F(X)", *self.pairs[name], tolerance)

    def look(self, x: Tensor, y: Tensor, shift: int = 0) -> Tensor:
        """Cross-attention of x to y, whose keys may stand elsewhere than their values."""
        seen = self.cross.remember(y, None)
        return self.cross(x, dataclasses.replace(seen, k=seen.k.roll(shift, 2)))

    def measure(self, rng: Generator) -> Checks:
        n, d = self.tokens, 2 * self.width
        self.orders, self.x = np.array(list(permutations(range(n)))), rng.normal(size=(1, n, d))
        self.plain, self.pairs = drawn(Multihead(d, 2), rng), dict[str, tuple[np.ndarray, np.ndarray]]()
        blocks = [Block(d, Multihead(d, 2), Feedforward(d, 2 * d), made, 0.0) for made in (PreNorm, PostNorm)]
        self.blocks = drawn(nn.Sequential(*blocks), rng)
        yield headline(self.compare("attention", self.plain))
        yield from (self.compare(f"{name}-norm block", block) for name, block in zip(("pre", "post"), self.blocks, strict=True))
        yield close("two blocks and a mean: invariant", *(y.mean(1) for y in self.moved(self.blocks)))
        self.cross, self.memory = drawn(Cross(d, 2), rng), rng.normal(size=(1, n, d))
        seen = applied(self.look, np.repeat(self.x, len(self.orders), 0), self.memory[0, self.orders])
        yield close("cross-attention: keys and values permuted", seen, np.broadcast_to(seen[:1], seen.shape))
        flat = drawn(Multihead(2, 1), rng)
        flat.output.load_state_dict({"weight": torch.eye(2), "bias": torch.zeros(2)})
        points = 2 * rng.normal(size=(1, 8, 2))
        self.values, self.out = applied(flat.project, points)[0, :, 4:], applied(flat, points)[0]
        gaps = [np.linalg.norm(hull_point(self.values - out)[0]) for out in self.out]
        yield close("distance of outputs from the hull of the values", gaps, 0)

    def control(self, rng: Generator) -> Checks:
        d, places = 2 * self.width, Sinusoidal(2 * self.width).double()(self.tokens)
        yield because("positions are added", self.compare("sinusoidal", lambda x: self.plain(x + places), 1e-3))
        yield because("queries and keys turn with their place", self.compare("rotary", drawn(Multihead(d, 2, position=Rotary), rng), 1e-3))
        yield because("the mask follows the order", self.compare("causal", drawn(Multihead(d, 2, mask=Causal()), rng), 1e-3))
        wrong, right = (applied(lambda x, y, k=k: self.look(x, y, k), self.x, self.memory) for k in (1, 0))
        yield because("values stay where they are", close("cross-attention: keys permuted", wrong, right, 1e-3))
        whole = {"attention": ("A13", self.plain), "one block": ("C21", self.blocks[0]), "two blocks": ("D6", self.blocks)}
        for name, (erratum, layer) in whole.items():
            y = applied(layer, self.x[0, self.orders])
            yield printed(close(f"{name}: F(P X) = F(X)", y, np.broadcast_to(y[:1], y.shape), 1e-3), erratum)
        yield printed(close("out_t = Σ_s a_ts v_t", self.values, self.out, 1e-3), "C20")
        mixing = torch.from_numpy(rng.normal(size=(self.tokens, self.tokens)))
        yield printed(close("W_O H: permuted as the inputs", *self.moved(lambda x: mixing @ self.plain(x)), 1e-3), "B10")

    def plots(self) -> list[Panel]:
        left = Panel("Only what knows the order breaks it", "largest |F(P X) - P F(X)|", "layer", log="x")
        left.points([max(np.abs(a - b).max(), 1e-17) for a, b in self.pairs.values()], range(len(self.pairs)), size=50)
        left.ticks(y=dict(enumerate(self.pairs)))
        hull = self.values[ConvexHull(self.values).vertices]
        right = Panel("Outputs lie in the hull of the values", "first entry", "second entry").bound(*np.vstack([hull, hull[:1]]).T)
        (x, y), (u, v) = self.values.T, self.out.T
        return [left, right.points(x, y, "values", size=40).points(u, v, "outputs", size=40)]
