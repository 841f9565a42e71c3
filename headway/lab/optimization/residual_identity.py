from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, np, param
from headway.lab.tools.layers import applied
from headway.lab.tools.layers64 import built, jacobian, tensor
from headway.layers.activations import ACTIVATIONS
from headway.layers.connections.pre_norm import PreNorm
from headway.models.residual_mlp import Config, ResidualMLP

STEEPEST = {"tanh": 1.0, "sigmoid": 0.25, "relu": 1.0, "softplus": 1.0}  # sup |φ'|


def branch(name: str, W: np.ndarray, b: np.ndarray, centred: bool = True) -> Callable[[Tensor], Tensor]:
    """x -> φ(Wx + b) - φ(0)."""
    phi = ACTIVATIONS[name]
    return lambda x: phi(x @ tensor(W).T + tensor(b)) - phi(tensor(np.zeros(()))) * centred


class ResidualIdentity(Experiment):
    """A residual layer with zero weights is the identity, and with small ones nearly so: gradients pass through any depth.

    For F_{W,b}(x) = x + φ(Wx + b) - φ(0), and ε >= ‖diag(φ') W‖ in every layer,

        F[0, 0] = Id,     ∂F/∂x = I + diag(φ') W   has singular values in [1 - ε, 1 + ε],     ℓ layers in [(1 - ε)^ℓ, (1 + ε)^ℓ].

    A plain layer φ(Wx + b) has no 1: its singular values are at most ε, those of ℓ layers at most ε^ℓ, and the gradient vanishes. Behind a
    projection V the layers with zero weights leave Vx, so that a deep net begins as a linear one.

    Notes: C. Source: He et al. 2016, https://arxiv.org/abs/1603.05027; Hardt and Ma 2017, https://arxiv.org/abs/1611.04231
    Assumes: φ' is bounded; ε < 1; φ(0) is subtracted where it is not 0.
    Also: skip connections and gradients; identity initialisation.
    """

    width = param(6, "d, numbers that pass from layer to layer", least=2, most=16)
    depth = param(50, "L, layers", least=10, most=100, small=20)
    epsilon = param(0.1, "ε", least=0.01, most=0.5)

    def jacobians(self, name: str, residual: bool, rng: Generator) -> np.ndarray:
        """The singular values "ℓ d" of ∂x_ℓ/∂x_0, ℓ = 1 ... L, of layers with ‖W‖ = ε / sup |φ'|."""
        x, total, found = tensor(rng.normal(size=self.width)), np.eye(self.width), []
        for _ in range(self.depth):
            W = rng.normal(size=(self.width, self.width))
            F = branch(name, self.epsilon / STEEPEST[name] * W / np.linalg.norm(W, 2), rng.normal(size=self.width))
            layer = (lambda z, F=F: self.around(z, F)) if residual else F
            total, x = jacobian(layer, x) @ total, layer(x)
            found.append(np.linalg.svd(total, compute_uv=False))
        return np.array(found)

    def measure(self, rng: Generator) -> Checks:
        self.around = PreNorm(self.width, 0.0, nn.Identity)  # x + F(x)
        self.x, zero = rng.normal(size=(20, self.width)), np.zeros((self.width, self.width))
        found = [applied(lambda x, n=name: self.around(x, branch(n, zero, zero[0])), self.x) for name in ACTIVATIONS]
        yield equal("F[0, 0](x) = x, every activation", np.stack(found), np.broadcast_to(self.x, (len(found), *self.x.shape)))
        self.layers = np.arange(1, self.depth + 1)
        self.values = {name: self.jacobians(name, True, rng) for name in STEEPEST}
        most, least = ({name: values[:, i] for name, values in self.values.items()} for i in (0, -1))
        yield headline(at_least("least singular value of ℓ layers, every ℓ", least, (1 - self.epsilon) ** self.layers))
        yield at_most("largest singular value of ℓ layers, every ℓ", most, (1 + self.epsilon) ** self.layers)
        ends = [branch("relu", sign * self.epsilon * np.eye(self.width), np.full(self.width, 9.0)) for sign in (-1, 1)]
        reached = [jacobian(partial(self.around, sublayer=F), tensor(zero[0]))[0, 0] for F in ends]
        yield close("W = ±εI and active ReLUs: the bounds are reached", reached, [1 - self.epsilon, 1 + self.epsilon])
        self.plain = {name: self.jacobians(name, False, rng)[:, 0] for name in STEEPEST}
        yield at_most("plain layers: largest singular value, ε^ℓ", self.plain, self.epsilon**self.layers, rounding=1e-9)
        net = built(lambda: ResidualMLP(Config(width=8, depth=self.depth, inner=8, dropout=0.0), self.width, 1), rng)
        start = applied(lambda x: net.norm(net.first(x)), self.x)
        yield close(f"ResidualMLP of {self.depth} blocks at the start: norm(Vx)", applied(net, self.x), start, 1e-12)

    def control(self, rng: Generator) -> Checks:
        zero = np.zeros((self.width, self.width))
        found = applied(lambda x: self.around(x, branch("sigmoid", zero, zero[0], False)), self.x)
        yield because("φ(0) = ½ is not subtracted", close("sigmoid: F[0, 0](x) - x", found - self.x, 0 * self.x))
        check = at_least("singular values of ℓ layers", self.plain["tanh"], (1 - self.epsilon) ** self.layers)
        yield because("x does not pass beside the layer", check)

    def plots(self) -> list[Panel]:
        panel = Panel("Beside the identity gradients live, without it they vanish", "layers ℓ", "singular values", "y")
        values, e = self.values["tanh"], self.epsilon
        panel.bound(self.layers, (1 + e) ** self.layers, "(1 + ε)^ℓ").bound(self.layers, (1 - e) ** self.layers, "(1 - ε)^ℓ")
        panel.curve(self.layers, {"residual: largest": values[:, 0], "residual: least": values[:, -1]})
        return [panel.control(self.layers, self.plain["tanh"]).note(5, 1e-5, "plain layers").limits(y=(1e-6, 1e3))]
