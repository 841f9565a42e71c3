from collections.abc import Callable

import torch
from torch import Tensor

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, mean_is, monotone, np, param
from headway.lab.tools.training import seeded
from headway.layers.initialisation import gaussian, glorot_normal, glorot_uniform, he_normal, he_uniform, orthogonal

Function = Callable[[Tensor], Tensor]


class InitVariance(Experiment):
    """Variance 2/n (He) keeps second moments constant through ReLU layers, 1/n halves them; Glorot's balances up and down.

    For z' = W φ(z) with independent weights of mean 0 and gradients g = ∂L/∂z,

        E z'² = n_in Var(w) E φ(z)²,      E φ(z)² = E z² (linear),  ½ E z² (ReLU),      E g² = n_out Var(w) E φ'(z)² E g'² .

    So ReLU needs Var(w) = 2/n; Glorot's 2/(n_in + n_out) makes the product of both factors at most 1. tanh loses a
    little in each layer, z² ~ 1/(2ℓ); the gradient of a sigmoid shrinks by |W|/4 or more.

    Notes: D. Source: He et al. 2015, Delving deep into rectifiers, https://arxiv.org/abs/1502.01852
    Assumes: independent weights of mean 0, symmetric about 0; no biases; the rules of headway/layers/initialisation.py.
    Also: Xavier and He initialisation; variance of activations.
    """

    cost = "M"
    width = param(200, "units in each layer", least=50, most=400, small=100)
    depth = param(30, "layers", least=10, most=60)
    draws = param(5, "networks for each seed", least=5, most=20)

    def run(self, rng: Generator, rule: Function, f: Function) -> tuple[np.ndarray, np.ndarray]:
        """Mean squares of z and of its gradient after 0, 1, ..., depth layers: (depth + 1, draws) each."""
        with seeded(rng):
            z = [torch.randn(self.draws, self.width, dtype=torch.float64, requires_grad=True)]
            empty, self.weights = torch.empty(self.width, self.width, dtype=torch.float64), []
            for _ in range(self.depth):
                self.weights.append(torch.stack([rule(empty.clone()) for _ in range(self.draws)]))
                z.append(torch.einsum("boi,bi->bo", self.weights[-1], f(z[-1])))
            gradients = torch.autograd.grad((z[-1] * torch.randn_like(z[-1])).sum(), z)
        up, down = (torch.stack(list(x)).detach().square().mean(-1).numpy() for x in (z, gradients))
        return up, down

    def rectangle(self, rng: Generator, rule: Function) -> np.ndarray:
        """Mean squares after 60 linear layers of n inputs and 3n units over those before: up, and down a third of them."""
        with seeded(rng):
            x, g = torch.randn(60, self.width), torch.randn(60, 3 * self.width)
            w = torch.stack([rule(torch.empty(3 * self.width, self.width)) for _ in range(60)])
        pairs = (x, torch.einsum("boi,bi->bo", w, x)), (3**0.5 * g, torch.einsum("boi,bo->bi", w, g))
        return np.concatenate([(after.square().mean(1) / before.square().mean(1)).numpy() for before, after in pairs])

    def measure(self, rng: Generator) -> Checks:
        z, g = self.run(rng, orthogonal, lambda z: z)
        ratios = np.stack([z[-1] / z[0], g[0] / g[-1]])
        yield close("orthogonal, linear: z² after all layers / before, and g²", ratios, np.ones(ratios.shape))
        self.tanh, _ = self.run(rng, glorot_normal, torch.tanh)
        yield monotone("Glorot, tanh: z² of layers 0, 1, 4 and the last", self.tanh.mean(axis=1)[[0, 1, 4, -1]], "falls")
        yield at_least(f"Glorot, tanh: mean of z² after {self.depth} layers", self.tanh[-1].mean(), 1 / (4 * self.depth))
        _, self.sigmoid = self.run(rng, glorot_normal, torch.sigmoid)
        ratio, norms = np.sqrt(self.sigmoid[:-1] / self.sigmoid[1:]), torch.stack(self.weights)
        yield at_most("Glorot, sigmoid: |g| / |g'|, against |W|/4", ratio, torch.linalg.matrix_norm(norms, 2).numpy() / 4)

    def sample(self, rng: Generator) -> Checks:
        self.he = self.run(rng, he_normal, torch.relu)
        self.halved = self.run(rng, lambda w: gaussian(w, self.width**-0.5), torch.relu)
        yield headline(mean_is("He, ReLU: z² of a layer / of the one before", self.he[0][1:] / self.he[0][:-1], 1))
        yield mean_is("He, ReLU: the same for gradients, downwards", self.he[1][1:-1] / self.he[1][2:], 1)
        yield mean_is("Var(w) = 1/n, ReLU: z² of a layer / of the one before", self.halved[0][1:] / self.halved[0][:-1], 0.5)
        rules = {he_normal: 2.0, he_uniform: 2.0, glorot_normal: 0.5, glorot_uniform: 0.5}
        for rule, wanted in rules.items():
            yield mean_is(f"{rule.__name__}, linear, n to 3n: z² up, gradient² down / 3, n_in Var(w)", self.rectangle(rng, rule), wanted)

    def control(self, rng: Generator) -> Checks:
        z, _ = self.run(rng, he_normal, lambda z: z)
        yield because("the layers are linear, nothing is lost", mean_is("He, linear: z² of a layer / of the one before", z[1:] / z[:-1], 1))
        small, _ = self.run(rng, gaussian, torch.relu)
        yield because(f"the variance is {0.01**2 * self.width / 2:g} of He's", mean_is("N(0, 0.01²), ReLU", small[1:] / small[:-1], 1))

    def plots(self) -> list[Panel]:
        layer = np.arange(self.depth + 1)
        left = Panel("Only He keeps the scale of a ReLU network", "layer", "mean of z²", log="y").level(1, "1")
        shown = {"He, ReLU": self.he[0], "1/n, ReLU": self.halved[0], "Glorot, tanh": self.tanh}
        left.series(layer, {k: v.mean(axis=1) for k, v in shown.items()}).bound(layer, 0.5**layer, "$2^{-ℓ}$")
        right = Panel("Gradients on the way down", "layer", "mean of g², last layer = 1", log="y")
        gradients = {"He, ReLU": self.he[1], "1/n, ReLU": self.halved[1], "Glorot, sigmoid": self.sigmoid}
        return [left, right.series(layer, {k: v.mean(axis=1) / v[-1].mean() for k, v in gradients.items()})]
