from scipy.special import entr, gammaln

from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, because, close, headline, math, mean_is, monotone, np, param,
    printed, vacuous,
)
from headway.lab.tools.layers import applied
from headway.lab.tools.layers64 import normal, tensor
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.scores.dot import Dot
from headway.layers.scores.scaled import Scaled


class SqrtDk(Experiment):
    """Scores are divided by √d_k, or the softmax saturates and its gradient vanishes as heads get wider.

    For independent q, k ~ N(0, I) in d dimensions,

        Var q·k = d,      E cos²(q, k) = 1/d,      E|cos(q, k)| = Γ(d/2) / (√π Γ((d+1)/2)) ≈ √(2/(πd)),

    and N(0, 1) projections give |Qx|² ≈ d|x|² (relative standard deviation √(2/d)) and Qx·Kx of the size √d|x|². The gradient of the
    softmax passes through diag p - ppᵀ, which is 0 where p is one-hot.

    Notes: C, D, E. Source: Vaswani et al. 2017, section 3.2.1, https://arxiv.org/abs/1706.03762
    Assumes: scores are divided by √d_k; entries of queries and keys are independent with mean 0 and variance 1.
    Also: scaled dot product; why divide by the square root of d.
    """

    widest = param(512, "the largest d_k of a head, beside 16 and 64", least=512, most=1024)
    keys = param(64, "keys that a query chooses from", least=16, most=64)
    queries = param(200, "queries, each with its own keys", least=100, most=2000)

    def measure(self, rng: Generator) -> Checks:
        d, self.widths = self.widest, (16, 64, self.widest)
        x = 3 * normal(rng, 100, d) + 1
        expected = np.sqrt(d / (1 + LayerNorm.eps / x.numpy().var(-1)))
        self.norms = np.linalg.norm(applied(LayerNorm(d).double(), x.numpy()), axis=-1)
        yield close("|LayerNorm(x)| = √d, up to its ε", self.norms, expected)
        self.entropy, self.slopes = ({"q·k": list[float](), "q·k/√d": list[float]()} for _ in range(2))
        for d in self.widths:
            q, k = normal(rng, self.queries, 1, 1, d), normal(rng, self.queries, 1, self.keys, d)
            for name, score in zip(self.entropy, (Dot(d), Scaled(d)), strict=True):
                p = score(q, k).softmax(-1)[:, 0, 0].numpy()
                self.entropy[name].append(float(entr(p).sum(1).mean()) / math.log(self.keys))
                squares = (p**2).sum(1)  # |diag p - ppᵀ|² = Σp² - 2Σp³ + (Σp²)²
                self.slopes[name].append(float(np.median(np.sqrt(np.maximum(squares - 2 * (p**3).sum(1) + squares**2, 0)))))
        yield at_least("entropy / ln n with 1/√d, at each d", self.entropy["q·k/√d"], 0.8)
        yield monotone("entropy without 1/√d", self.entropy["q·k"], "falls")
        yield at_least("largest d: |diag p - ppᵀ| with 1/√d over without, medians", self.slopes["q·k/√d"][-1] / self.slopes["q·k"][-1], 10)

    def sample(self, rng: Generator) -> Checks:
        d, x = self.widths[0], rng.normal(size=32)
        q, k = (rng.normal(size=(4000, d, 32)) @ x for _ in range(2))
        scores = Scaled(d)(*(tensor(z)[:, None, None] for z in (q, k))).numpy().ravel()
        yield headline(mean_is("(Qx·Kx/√d)² / |x|⁴", scores**2 / (x @ x) ** 2, 1))
        length = (q**2).sum(1) / (x @ x) / d
        yield mean_is("|Qx|² / (d|x|²)", length, 1)
        yield mean_is("its squared deviation, in units of 2/d", (length - 1) ** 2 * d / 2, 1)
        cosine = (q * k).sum(1) / np.linalg.norm(q, axis=1) / np.linalg.norm(k, axis=1)
        yield mean_is("d cos²(q, k)", d * cosine**2, 1)
        yield mean_is("|cos(q, k)|", np.abs(cosine), math.exp(gammaln(d / 2) - gammaln((d + 1) / 2)) / math.sqrt(math.pi))

    def control(self, rng: Generator) -> Checks:
        check = at_least("entropy / ln n at the largest d", self.entropy["q·k"][-1], 0.8)
        yield vacuous(because("scores are not divided by √d_k", check), "A14")
        k = rng.normal(size=(5000, self.widths[0]))
        check = mean_is("(q·k/√d)², q = k + noise", ((k + rng.normal(size=k.shape)) * k).sum(1) ** 2 / k.shape[1], 1)
        yield because("queries and keys are not independent", check)
        yield printed(close("|LayerNorm(x)| = 1", self.norms, np.ones_like(self.norms), 1e-2), "E6")

    def plots(self) -> list[Panel]:
        left = Panel("Without 1/√d attention becomes one-hot", "width of a head d", "entropy / ln n", log="x")
        right = Panel("Without it the gradient fades", "width of a head d", "median |diag p - ppᵀ|", log="xy")
        for panel, found in ((left, self.entropy), (right, self.slopes)):
            panel.series(self.widths, found["q·k/√d"], "q·k/√d").control(self.widths, found["q·k"], "q·k")
        return [left.limits(y=(0, 1)), right]
