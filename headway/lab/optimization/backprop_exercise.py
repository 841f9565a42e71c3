from functools import partial

import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param, printed, slope
from headway.lab.tools.backpropagation import OUTPUTS, SLOPES, OfScores, backprop, risk_of
from headway.lab.tools.differences import complex_step, differences
from headway.lab.tools.layers import drawn
from headway.lab.tools.training import seeded
from headway.models.mlp import MLP, Config


class BackpropExercise(Experiment):
    """Backpropagation is the chain rule, from the loss down: one vector for each layer, carried by transposed Jacobian matrices.

    For layers h_ℓ = φ(z_ℓ), z_ℓ = W_ℓ h_{ℓ-1} + b_ℓ, scores f = z_L and a risk R,

        s_L = δ = ∂R/∂f,     s_{ℓ-1} = (∂z_ℓ/∂z_{ℓ-1})ᵀ s_ℓ = φ'(z_{ℓ-1}) W_ℓᵀ s_ℓ,     ∂R/∂W_ℓ = s_ℓ h_{ℓ-1}ᵀ,     ∂R/∂b_ℓ = s_ℓ.

    Squares have δ = f - y, and δ = (g - y) g (1 - g) after a sigmoid g. Cross-entropy removes the factor that vanishes: δ = g - y, and
    δ = p - y for a softmax p. Gradients of samples add up. A step of 1e-30 along the imaginary axis checks all of it to rounding.

    Notes: C, D. Source: Rumelhart, Hinton and Williams 1986, https://doi.org/10.1038/323533a0; Squire and Trapp 1998, https://doi.org/10.1137/S003614459631241X
    Assumes: every activation is differentiable where it is evaluated.
    Also: backpropagation by hand; gradient check; complex-step derivative.
    """

    inputs = param(3, "input variables", least=1, most=10)
    width = param(3, "units of each hidden layer, and scores", least=2, most=8)
    depth = param(3, "hidden layers of the deep net, beside a net with one", least=2, most=5)
    samples = param(5, "examples", least=2, most=50)

    def net(self, depth: int, activation: str, rng: Generator) -> MLP:
        with seeded(rng):
            return drawn(MLP(Config(self.width, depth, (), activation, 0.0), self.inputs, self.width), rng)  # type: ignore[arg-type]

    def autograd(self, net: MLP, x: Tensor, risk: OfScores) -> np.ndarray:
        grads = torch.autograd.grad(risk(net.logits(net(x)), self.y), list(net.parameters()))
        return parameters_to_vector(grads).numpy()

    def measure(self, rng: Generator) -> Checks:
        self.x = x = torch.from_numpy(rng.normal(size=(self.samples, self.inputs)))
        self.y = y = torch.eye(self.width, dtype=torch.float64)[rng.integers(self.width, size=self.samples)]
        nets = [self.net(depth, name, rng) for depth in (1, self.depth) for name in SLOPES]
        rows, wide, self.h = list[tuple[np.ndarray, ...]](), list[list[float]](), 10.0 ** np.arange(-13, -0.9, 0.5)
        for net, out in ((net, out) for net in nets for out in OUTPUTS.values()):
            R, theta = risk_of(net, x, y, out.risk), parameters_to_vector(net.parameters()).detach().numpy()
            hand = backprop(net, x, y, out.delta)
            alone = [backprop(net, x[i : i + 1], y[i : i + 1], out.delta) for i in range(self.samples)]
            truth, v = complex_step(R, theta), rng.normal(size=theta.size)
            v /= np.linalg.norm(v)
            rows.append((truth, hand, np.sum(alone, axis=0), self.autograd(net, x, out.risk)))
            line = partial(lambda t, R, x, v: R(x + t * v), R=R, x=theta, v=v)
            wide.append([differences(line, np.zeros(1), h)[0] - truth @ v for h in self.h])  # of the derivative along v
        exact, by_hand, added, torchs = (np.concatenate(part) for part in zip(*rows, strict=True))
        yield headline(close("4 nets, 4 losses: by hand, complex step", by_hand, exact, 1e-12))
        yield close("one sample at a time, added up", added, exact, 1e-12)
        yield close("torch's autograd", torchs, exact, 1e-12)
        self.model, self.gradient, self.errors = net, rows[-1][0], np.abs(wide).max(axis=0)
        self.rounding = float(np.abs(by_hand - exact).max())
        yield at_most("differences along a direction, h = 1e-5: error", self.errors[16], 1e-7, kind="EXACT")
        yield slope("error of differences in h, from 0.003 on", self.h[-4:], self.errors[-4:], 2, 0.1)
        yield at_most("complex step: error, a hundredth of the best h", self.rounding, self.errors.min() / 100)

    def control(self, rng: Generator) -> Checks:
        def quotient(s: Tensor, weight: Tensor, above: Tensor, below: Tensor, slope: Tensor) -> Tensor:
            return torch.einsum("sk,skj->sj", s, above[:, :, None] / below[:, None])

        delta, squares = OUTPUTS["softmax, entropy"].delta, OUTPUTS["identity, squares"].risk
        yield printed(close("[h_{ℓ+1}/h_ℓ]ᵀ, not a derivative", backprop(self.model, self.x, self.y, delta, quotient), self.gradient), "C9")
        yield printed(close("without the update of s_ℓ", backprop(self.model, self.x, self.y, delta, lambda s, *_: s), self.gradient), "D3")
        net, x = self.net(1, "relu", rng), 0 * self.x
        torch.nn.init.zeros_(net.layers[0].bias)  # type: ignore[arg-type]
        central = differences(risk_of(net, x, self.y, squares), parameters_to_vector(net.parameters()).detach().numpy())
        yield because("every unit is a ReLU at its kink", close("autograd, differences", self.autograd(net, x, squares), central, 1e-7))

    def plots(self) -> list[Panel]:
        panel, far = Panel("Differences lose a third of the digits, a complex step none", "step h", "error", "xy"), self.h[14:]
        panel.series(self.h, self.errors, "differences").bound(far, self.errors[-1] * (far / far[-1]) ** 2, "h²")
        return [panel.level(max(self.rounding, 1e-17), "complex step, 1e-30")]
