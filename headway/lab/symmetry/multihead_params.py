import torch
from scipy.special import softmax

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param
from headway.lab.tools.layers64 import attention_weights, built, normal, tensor
from headway.layers.attention.multihead import Multihead


class MultiheadParams(Experiment):
    """Multi-head attention costs no more parameters than one head, and h heads look at h places at once.

        3 · h · d · (d/h) = 3d²   weights for queries, keys and values, and d² for W_O, whatever h is

    One product with a d×3d matrix is the same as 3h products with d×(d/h) matrices. The price is rank: that of a head's scores QKᵀ is at
    most d/h. A target [x_{t-1}; x_{t-2}] takes two heads: one has a single matrix, and misses half of the variance of independent tokens.

    Notes: A, D. Source: Vaswani et al. 2017, section 3.2.2, https://arxiv.org/abs/1706.03762
    Assumes: heads share the width, d_k = d/h; there are at least two heads for two places.
    Also: number of parameters of multi-head attention; low-rank bottleneck of a head.
    """

    d = param(64, "width", least=16, most=256, small=32)
    heads = param((1, 2, 4, 8), "numbers of heads h that divide d", least=1, most=16, count=2)
    n = param(10, "positions of the example with two places", least=4, most=24)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(all(self.d % h == 0 for h in self.heads), "each of `heads` must divide `d`")]

    def measure(self, rng: Generator) -> Checks:
        d, t = self.d, 2 * self.d
        weights, fused, self.ranks, x = [], [], [], normal(rng, t, d)
        for h in self.heads:
            layer = built(lambda h=h: Multihead(d, h), rng)  # type: ignore[misc] # h of now
            weights.append([layer.project.weight.numel(), layer.output.weight.numel()])
            W, b = (p.numpy().reshape(3, h, d // h, -1) for p in (layer.project.weight, layer.project.bias))
            q, k, v = (np.stack([x.numpy() @ W[i, j].T + b[i, j, :, 0] for j in range(h)]) for i in range(3))
            scores = q @ k.swapaxes(1, 2)
            apart = np.concatenate(list(softmax(scores / np.sqrt(d / h), axis=-1) @ v), axis=1)
            fused.append(layer.output(tensor(apart)).numpy() - layer(x[None])[0].numpy())
            self.ranks.append(max(np.linalg.matrix_rank(head) for head in scores))
        yield headline(equal("weights of (Q, K, V) and W_O for each h", np.array(weights), np.tile([3 * d**2, d**2], (len(weights), 1))))
        with torch.device("meta"):
            base = Multihead(512, 8)
        yield equal("d = 512, h = 8: width of a head", base.output.weight.shape[0] // base.heads, 64)
        yield close("3h separate products less the fused one", fused, 0, 1e-12)
        yield equal(f"rank of a head's {t}×{t} scores", np.array(self.ranks), d // np.array(self.heads))
        content, self.P = rng.normal(size=(self.n, self.n)), np.stack([np.roll(np.eye(self.n), -k, 1) for k in (1, 2)])
        self.two, y = self.looking(self.P, content)
        yield close("two heads: out_t = [x_{t-1}; x_{t-2}]", y, np.concatenate([*(self.P @ content)], axis=1), 1e-12)
        mixed = (s * self.P[:1] + (1 - s) * self.P[1:] for s in np.linspace(0, 1, 21))
        self.missed = [self.miss(self.looking(weights, content)[0][0]) for weights in mixed]
        yield close("one head: variance that it misses, for each mixture", self.missed, 0.5, 1e-12)

    def looking(self, wanted: np.ndarray, contents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and outputs of heads that are given the weights "h t s" they should have, for inputs [position; content]."""
        h, n, _ = wanted.shape
        layer, e = built(lambda: Multihead(2 * n, h), np.random.default_rng(0)), 2 * n // h
        W = np.zeros((3, h, e, 2 * n))
        W[0, :, :n, :n] = np.sqrt(e) * np.log(np.maximum(wanted, 1e-300)).swapaxes(1, 2)  # the query asks, entry s for key s
        W[1, :, :n, :n] = W[2, :, :n, n:] = np.eye(n)
        layer.project.weight.copy_(tensor(W.reshape(-1, 2 * n)))
        layer.output.weight.copy_(torch.eye(2 * n))
        for part in (layer.project, layer.output):
            part.bias.zero_()
        x = tensor(np.concatenate([np.eye(n), contents], axis=1))
        return attention_weights(layer, x), layer(x[None])[0].numpy()

    def miss(self, weights: np.ndarray) -> float:
        """The share of [x_{t-1}; x_{t-2}] that no matrix M gets from Σ_s a_ts M x_s, for independent x_s of variance 1."""
        seen, target = weights.reshape(-1, 1), self.P.reshape(2, -1).T
        return float(((target - seen @ np.linalg.lstsq(seen, target, rcond=None)[0]) ** 2).sum() / (target**2).sum())

    def control(self, rng: Generator) -> Checks:
        yield because("there is one head for two places", at_most("least variance missed", min(self.missed), 0.49))
        d, h = self.d, max(self.heads)
        wide = built(lambda: Multihead(h * d, h), rng)  # reads x beside zeros: each head has the width of x
        x = tensor(np.pad(rng.normal(size=(2 * d, d)), ((0, 0), (0, (h - 1) * d))))
        q, k = wide.project(x).view(2 * d, 3, h, d)[:, :2, 0].unbind(1)
        why = "each head has the width d of x in place of d/h"
        yield because(why, equal("weights of Q, K and V", wide.project.weight[:, :d].numel(), 3 * d**2))
        yield because(why, equal(f"rank of its scores, d/{h}", int(np.linalg.matrix_rank((q @ k.T).numpy())), d // h))

    def plots(self) -> list[Panel]:
        left = Panel("Two heads, two places", "key s, head one, then head two", "query t").image(np.concatenate(list(self.two), axis=1))
        left.ticks(x={k: str(k % self.n) for k in range(0, 2 * self.n, 2)})
        right = Panel("More heads, less rank in each", "heads h", "rank of the scores", log="xy").series(self.heads, self.ranks, "measured")
        return [left, right.bound(self.heads, self.d / np.array(self.heads), "d/h")]
