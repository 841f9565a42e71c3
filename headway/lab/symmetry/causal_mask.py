import torch

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, equal, headline, np, param, printed
from headway.lab.tools.layers64 import attention_weights, built, influence, normal, stepwise
from headway.layers.attention.multihead import Multihead
from headway.layers.masks import Causal, Everything, Mask, Matrix
from headway.models import gpt


class CausalMask(Experiment):
    """Under the causal mask an output sees nothing of the future, so all positions can be trained at once.

        e_ts = -∞ for s > t   (query t, key s)        ⇒        ∂out_t/∂x_s = 0 for s > t

    Outputs for a whole sequence are then those of generation step by step. A softmax over all keys would let the future through.

    Notes: A, D, E. Source: Vaswani et al. 2017, section 3.2.3, https://arxiv.org/abs/1706.03762
    Assumes: s > t is masked; the mask acts before the softmax; every other part of the model acts on one position at a time.
    Also: look-ahead mask; teacher forcing equals generation.
    """

    n = param(8, "positions", least=3, most=32)
    heads = param(2, "attention heads of width 4", least=1, most=4)
    depth = param(2, "blocks of the language model", least=1, most=6)

    def layer(self, mask: Mask) -> Multihead:
        """The same weights under another mask."""
        return built(lambda: Multihead(4 * self.heads, self.heads, mask), np.random.default_rng(self.seed))

    def measure(self, rng: Generator) -> Checks:
        self.seed, d = int(rng.integers(2**31)), 4 * self.heads
        self.x, lower = normal(rng, self.n, d), np.tri(self.n, dtype=bool)
        layer = self.layer(Causal())
        self.seen = {"causal": influence(layer, self.x)}
        yield headline(equal("∂out_t/∂x_s is not 0 exactly where s ≤ t", self.seen["causal"] > 0, lower))
        y = layer(self.x[None])[0].numpy()
        yield close("one position at a time, with cached keys and values", stepwise(layer, self.x), y, 1e-12)
        prefixes = np.stack([layer(self.x[None, : t + 1])[0, -1].numpy() for t in range(self.n)])
        yield close("out_t from the prefix x_0 … x_t alone", prefixes, y, 1e-12)
        e = layer.project(self.x).unflatten(-1, (3, self.heads, -1))[:, :2].permute(1, 2, 0, 3).numpy()  # q, k: h t e
        weights = np.exp(e[0] @ e[1].swapaxes(1, 2) / 2) * lower
        weights /= weights.sum(-1, keepdims=True)
        yield close("weights: exp(e_ts) M_ts, normalised", attention_weights(layer, self.x), weights, 1e-12)
        written = self.layer(Matrix(Causal().matrix(self.n, self.n)))(self.x[None])[0].numpy()
        yield close("the mask written out as a matrix M", written, y, 1e-12)
        full, one = (self.layer(m)(self.x[None]).numpy() for m in (Everything(), Matrix(torch.ones(self.n, self.n) > 0)))
        yield close("M = 1 is attention without a mask", one, full, 1e-12)
        sizes = gpt.Config(width=d, depth=self.depth, heads=self.heads, inner=2 * d, context=self.n)
        model = built(lambda: gpt.GPT(sizes, 11), rng)
        for p in model.parameters():  # its output projections begin at zero, which would hide the mixers
            p.copy_(0.3 * normal(rng, *p.shape))
        ids = torch.from_numpy(rng.integers(11, size=self.n))
        yield close(f"a GPT of {self.depth} blocks: teacher forcing is generation", stepwise(model, ids), model(ids[None])[0].numpy())

    def control(self, rng: Generator) -> Checks:
        lower, layer = np.tri(self.n, dtype=bool), self.layer(Everything())
        self.seen["as printed"] = influence(self.layer(Matrix(torch.from_numpy(lower.T.copy()))), self.x)
        yield printed(equal("-∞ for s < t: ∂out_t/∂x_s is not 0 where s ≤ t", self.seen["as printed"] > 0, lower), "A12")

        def late(x: torch.Tensor) -> torch.Tensor:
            q, k, v = layer._split(x)
            return ((q @ k.mT / 2).softmax(-1).tril() @ v).transpose(1, 2).flatten(2)

        self.seen["after softmax"] = influence(late, self.x)
        check = equal("∂out_t/∂x_s is not 0 exactly where s ≤ t", self.seen["after softmax"] > 0, lower)
        yield because("weights of the future are set to 0 after the softmax, which has counted them", check)

    def plots(self) -> list[Panel]:
        titles = ("No output sees its future", "As printed: only the future", "Masked after the softmax")
        shown = [np.where(seen > 0, np.log10(seen + 1e-300), np.nan) for seen in self.seen.values()]
        panels = [Panel(title, "input s", "output t") for title in titles]
        scales = "", "", "log₁₀ max |∂$out_t$/∂$x_s$|"
        return [panel.image(z, scale=s, limits=(-3, 0)) for panel, z, s in zip(panels, shown, scales, strict=True)]
