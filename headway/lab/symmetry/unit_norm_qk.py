from scipy.special import entr
from torch import Tensor

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, math, np, param, published, vacuous
from headway.lab.tools.layers64 import normal
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.scores.product import Product
from headway.layers.scores.scaled import Scaled
from headway.layers.scores.unit_norm import UnitNorm


class UnitNormQK(Experiment):
    """Queries and keys of length 1 with scores divided by √d give attention that is almost uniform.

        |q| = |k| = 1:     |q·k/√d| <= 1/√d,     a_i/a_j <= e^(2/√d),     |a_i - 1/n| <= (e^(2/√d) - 1)/n

    for all inputs: nothing can be selected. A learned temperature in place of 1/√d (QK-norm), or LayerNorm's length √d, mends it.

    Notes: B. Source: Henry et al. 2020, https://arxiv.org/abs/2010.04245
    Assumes: queries and keys have length 1; scores are divided by √d.
    Also: normalised queries and keys; QK-norm.
    """

    widths = param((4, 16, 64, 256), "width d of a head", least=2, most=1024, small=(4, 64))
    n = param(64, "keys", least=3, most=256)
    queries = param(500, "random queries", least=10, most=2000)

    def scores(self, score: Product, q: Tensor, k: Tensor) -> Tensor:
        return score(score.query(q[None, None]), score.key(k[None, None]))[0, 0]

    def weights(self, score: Product, q: Tensor, k: Tensor) -> np.ndarray:
        return self.scores(score, q, k).softmax(-1).numpy()

    def measure(self, rng: Generator) -> Checks:
        scores, ratios, gaps, sharp = {}, {}, {}, []
        for d in self.widths:
            q, k, score = 5 * normal(rng, self.queries, d), normal(rng, self.n, d), UnitNorm(d)
            k[0], k[1] = q[0], -2 * q[0]  # the worst case: one key along a query, one against it
            a, name = self.weights(score, q, k), f"d = {d}"
            scores[name], ratios[name] = self.scores(score, q, k).abs().max().item(), (a.max(1) / a.min(1)).max()
            gaps[name] = self.n * np.abs(a - 1 / self.n).max()
            sharp.append(a[0, 0] / a[0, 1])
        root = np.array(self.widths) ** -0.5
        yield at_most("|score|", scores, root, rounding=1e-14)
        yield headline(at_most("largest weight over smallest, a_i/a_j", ratios, np.exp(2 * root), rounding=1e-13))
        yield close("it is reached: a key along q, another against it", sharp, np.exp(2 * root), 1e-12)
        yield at_most("n |a - 1/n|", gaps, np.expm1(2 * root))
        q, k = normal(rng, 2000, 64), normal(rng, 64, 64)
        a = self.weights(UnitNorm(64), q, k)
        yield published("d = n = 64, random: entropy / ln n", entr(a).sum(1).mean() / math.log(64), 0.99997, 2e-5)
        yield published("mean of n times the largest weight", 64 * a.max(1).mean(), 1.036, 0.01)
        self.learned = {s: entr(self.weights(UnitNorm(64, -math.log(s) / math.log(64)), q, k)).sum(1).mean() for s in (0.125, 1, 8, 64)}
        yield at_most("temperature 64 in place of 1/√64: entropy / ln n", self.learned[64] / math.log(64), 0.5)
        self.maps = [self.weights(s, q[:24], k[:24]) for s in (UnitNorm(64), UnitNorm(64, -0.5), Scaled(64))]

    def control(self, rng: Generator) -> Checks:
        d, norm = self.widths[-1], LayerNorm(self.widths[-1]).double().requires_grad_(False)
        q, k = normal(rng, self.queries, d), normal(rng, self.n, d)
        scaled, long = self.weights(UnitNorm(d, -0.5), q, k), self.weights(Scaled(d), norm(q), norm(k))
        wide, normed = (at_most("largest weight over smallest", a.max(1) / a.min(1), math.exp(2 / math.sqrt(d))) for a in (scaled, long))
        yield because("a scale of √d takes the place of 1/√d", wide)
        yield vacuous(because("LayerNorm gives queries and keys the length √d", normed), "B9")
        yield because("queries and keys are not normalised", at_most("|score| √d", (q @ k.T).abs().max().item(), 1))

    def plots(self) -> list[Panel]:
        names = ("Unit length, scale 1/√d", "Unit length, scale √d", "Any length, scale 1/√d")
        panels, scales, top = [Panel(name, "key", "query") for name in names], ("", "", "weight"), float(np.max(self.maps))
        return [panel.image(a, scale=s, limits=(0, top)) for panel, a, s in zip(panels, self.maps, scales, strict=True)]
