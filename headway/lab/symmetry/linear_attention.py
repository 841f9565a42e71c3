import torch

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, math, mean_is, np, param, slope
from headway.lab.tools.layers64 import attention_weights, built, multiply_adds, normal, stepwise
from headway.layers.attention.linformer import Linformer
from headway.layers.attention.multihead import Multihead
from headway.layers.attention.performer import Performer
from headway.layers.masks import Causal

E = 8  # width of the one head


class LinearAttention(Experiment):
    """Random features turn attention into products that cost O(n): the softmax kernel is their mean.

        φ(x) = m^(-1/2) e^(-|x|²/2) (e^(w_i·x))_i,  w_i ~ N(0, I):    E φ(q)·φ(k) = e^(q·k),    relative variance (e^(|q+k|²) - 1)/m

    By associativity (φ(Q)φ(K)ᵀ)V = φ(Q)(φ(K)ᵀV), which never holds an n×n matrix. Orthogonal w_i keep the mean and lower the
    variance. The error falls like m^(-1/2), and so does that of P RᵀR V for a random R of m rows, the idea of Linformer.

    Notes: A. Source: Choromanski et al. 2020, https://arxiv.org/abs/2009.14794
    Assumes: w ~ N(0, I); the factor e^(-|x|²/2); queries and keys that are not long.
    Also: Performer; positive random features; Linformer's projection.
    """

    cost = "M"
    features = param((64, 256, 1024, 4096), "random features m", least=64, most=8192, count=4)
    n = param(24, "positions", least=8, most=64)
    draws = param(80, "draws of the features for each m", least=40, most=100)
    trials = param(8000, "blocks of orthogonal features for the mean", least=4000, most=20_000)

    def measure(self, rng: Generator) -> Checks:
        x, exact = 0.5 * normal(rng, self.n, E), built(lambda: Multihead(E, 1), rng)
        y, errors = exact(x[None]), []
        for m in self.features:
            layers = [built(lambda m=m: Performer(E, 1, features=m), rng) for _ in range(self.draws)]  # type: ignore[misc]
            for layer in layers:
                layer.load_state_dict(exact.state_dict(), strict=False)  # its projections
            errors.append(float(torch.stack([layer(x[None]) - y for layer in layers]).square().mean().sqrt()))
        P, v = attention_weights(exact, x)[0], exact.project(x).chunk(3, -1)[2].numpy()
        R = (rng.normal(size=(self.draws, m, self.n)) / math.sqrt(m) for m in self.features)
        random = [float(np.std(P @ (r.swapaxes(1, 2) @ (r @ v)) - P @ v)) for r in R]
        self.errors, layer = {"Performer": errors, "RᵀR": random}, layers[-1]
        yield slope("Performer: error against softmax attention, in m", self.features, errors, -0.5, 0.1)
        yield slope("P RᵀR V: error against PV, in rows of R", self.features, random, -0.5, 0.1)
        q, k, values = layer.project(x).chunk(3, -1)
        pairs = layer.logarithm(q).exp() @ layer.logarithm(k).exp().T  # m φ(q)·φ(k)
        written = layer.output(pairs / pairs.sum(1, keepdim=True) @ values)
        yield close("φ(Q)(φ(K)ᵀV) is (φ(Q)φ(K)ᵀ)V", layer(x[None])[0].numpy(), written.numpy())
        self.lengths, causal = (64, 128, 256, 512, 1024), built(lambda: Performer(E, 1, Causal()), rng)
        yield close("causal form: a state of m(d + 1) numbers", stepwise(causal, x), causal(x[None])[0].numpy())
        with torch.device("meta"):
            kinds = {"Performer": Performer(64, 1), "Linformer": Linformer(64, 1, longest=1024), "softmax": Multihead(64, 1)}
            self.costs = {name: [multiply_adds(made, (1, n, 64)) for n in self.lengths] for name, made in kinds.items()}
        for name in ("Performer", "Linformer"):
            yield slope(f"{name}: multiply-adds in n", self.lengths, self.costs[name], 1, 1e-6)

    def kernel(self, rng: Generator, length: float, scale: float = 1.0) -> tuple[np.ndarray, float]:
        """φ(q)·φ(k) / e^(q·k) of single features, in rows of E orthogonal ones, and |q + k|²; q and k have about the same direction."""
        layer = built(lambda: Performer(E, 1, features=E * self.trials), rng)
        layer.w *= scale
        x = normal(rng, 1, E) + 0.3 * normal(rng, 2, E)
        x *= length / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        each = layer.logarithm(E**0.25 * x).exp().prod(0) / (x[0] @ x[1]).exp()  # m φ(q)·φ(k); the layer divides by e^(1/4)
        return each.reshape(-1, E).numpy(), float(x.sum(0).square().sum())

    def sample(self, rng: Generator) -> Checks:
        short, near = self.kernel(rng, 0.2)
        yield mean_is("relative variance of one feature", ((short - 1) ** 2).mean(1), math.expm1(near))
        each = self.kernel(rng, 0.5)[0]
        yield headline(mean_is("E φ(q)·φ(k) / e^(q·k)", each.mean(1), 1))
        yield at_most("variance of orthogonal features over independent ones", np.var(each.mean(1)) * E / np.mean((each - 1) ** 2), 0.95)

    def control(self, rng: Generator) -> Checks:
        wide, plain = self.kernel(rng, 0.5, scale=1.5)[0], self.kernel(rng, 0.5)[0] * math.exp(0.25)
        for why, made in (("w has variance 2.25", wide), ("e^(-|x|²/2) is left out", plain)):
            yield because(why, mean_is("E φ(q)·φ(k) / e^(q·k)", made.mean(1), 1))
        yield because("the softmax does not factor", slope("multiply-adds in n", self.lengths, self.costs["softmax"], 1, 0.05))

    def plots(self) -> list[Panel]:
        left, m = Panel("The error falls like m^(-1/2)", "features or rows m", "root mean square error", log="xy"), np.array(self.features)
        left.series(m, self.errors).bound(m, self.errors["Performer"][0] * np.sqrt(m[0] / m), "m^(-1/2)")
        return [left, Panel("Cost is linear in the length", "positions n", "multiply-adds", log="xy").series(self.lengths, self.costs)]
