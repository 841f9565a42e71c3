"""Backpropagation through the registered multi-layer perceptron, written out; its risk, and derivatives by both modes of torch.

    s_L = δ = ∂R/∂f,      s_{ℓ-1} = φ'(z_{ℓ-1}) W_ℓᵀ s_ℓ,      ∂R/∂W_ℓ = s_ℓ h_{ℓ-1}ᵀ,   ∂R/∂b_ℓ = s_ℓ       for f = W_L h_{L-1} + b_L
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.func import functional_call

from headway.models.mlp import MLP, Config

OfScores = Callable[[Tensor, Tensor], Tensor]  # of scores f and targets y, both "s k"
SLOPES = {"tanh": lambda h: 1 - h * h, "sigmoid": lambda h: h * (1 - h)}  # φ'(z) from h = φ(z)


@dataclass(frozen=True)
class Output:
    """What stands behind the scores: the risk, also of complex scores, and its derivative δ as the books give it."""

    risk: OfScores  # the sum over the samples, for each of the axes before
    delta: OfScores


OUTPUTS = {
    "identity, squares": Output(lambda f, y: ((y - f) ** 2).sum((-2, -1)) / 2, lambda f, y: f - y),
    "sigmoid, squares": Output(
        lambda f, y: ((y - f.sigmoid()) ** 2).sum((-2, -1)) / 2, lambda f, y: (f.sigmoid() - y) * f.sigmoid() * (1 - f.sigmoid())
    ),
    "sigmoid, entropy": Output(lambda f, y: ((1 + f.exp()).log() - y * f).sum((-2, -1)), lambda f, y: f.sigmoid() - y),
    "softmax, entropy": Output(
        lambda f, y: (f.exp().sum(-1).log() - (y * f).sum(-1)).sum(-1), lambda f, y: f.softmax(-1) - y
    ),
}
Back = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]  # of s, W, what the layer gave and read, φ' there


def chain(s: Tensor, weight: Tensor, above: Tensor, below: Tensor, slope: Tensor) -> Tensor:
    """The chain rule: (∂z_ℓ/∂z_{ℓ-1})ᵀ s for each sample."""
    return slope * (s @ weight)


@torch.no_grad()
def backprop(model: MLP, x: Tensor, y: Tensor, delta: OfScores, back: Back = chain) -> np.ndarray:
    """∂R/∂(weights and biases) in the order of the parameters, for samples x "s d"; `back` carries s down by one layer."""
    h = [x]
    for layer in model.layers:
        h.append(model.activation(layer(h[-1])))
    h.append(model.head(h[-1]))
    s, found = delta(h[-1], y), []
    for n, layer in reversed(list(enumerate([*model.layers, model.head]))):
        found += [s.sum(0), (s.T @ h[n]).flatten()]
        s = back(s, layer.weight, h[n + 1], h[n], SLOPES[model.config.activation](h[n]))
    return torch.cat(found[::-1]).numpy()


def risk_of(model: MLP, x: Tensor, y: Tensor, risk: OfScores) -> Callable[[np.ndarray], np.ndarray]:
    """R as a function of all parameters, in their order along the last axis "... n"; they may be complex.

    The same equations once more, without the code of the model, which takes real numbers only.
    """
    shapes, phi = [layer.weight.shape for layer in (*model.layers, model.head)], getattr(torch, model.config.activation)

    def of(theta: np.ndarray) -> np.ndarray:
        rest = torch.from_numpy(theta)
        z = x.to(rest.dtype)
        for n, (units, inputs) in enumerate(shapes):
            weight, bias, rest = rest.tensor_split((units * inputs, units * inputs + units), -1)
            z = (phi(z) if n else z) @ weight.unflatten(-1, (units, inputs)).mT + bias[..., None, :]
        return risk(z, y.to(z.dtype)).numpy()

    return of


class Risk(nn.Module):
    """½ Σ f(x)² of a registered net, one number."""

    def __init__(self, inputs: int, width: int, depth: int, outputs: int = 1) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):  # the weights do not matter
            self.net = MLP(Config(width=width, depth=depth, activation="tanh", dropout=0.0), inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.net.logits(self.net(x)).square().sum() / 2

    def reverse(self, x: Tensor) -> Tensor:
        """All derivatives, from one pass back."""
        return torch.cat([g.flatten() for g in torch.autograd.grad(self(x), list(self.parameters()))])

    def along(self, x: Tensor, direction: Tensor) -> Tensor:
        """One directional derivative, carried along with the values."""
        parts = direction.split([p.numel() for p in self.parameters()])
        with forward_ad.dual_level():
            pairs = zip(self.named_parameters(), parts, strict=True)
            duals = {name: forward_ad.make_dual(p.detach(), part.view_as(p)) for (name, p), part in pairs}
            return forward_ad.unpack_dual(functional_call(self, duals, (x,))).tangent
