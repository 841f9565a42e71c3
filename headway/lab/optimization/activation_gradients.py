import copy
from functools import partial

import torch
from scipy.special import expit
from torch.nn.functional import mse_loss

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, math, monotone, np, param
from headway.lab.tools.differences import differences
from headway.lab.tools.layers import applied, shallow_net
from headway.lab.tools.layers64 import built, derivative, jacobian, tensor
from headway.lab.tools.training import descended, outputs
from headway.layers.activations import ACTIVATIONS
from headway.models.mlp import MLP, Config
from headway.models.shallow import Shallow
from headway.training.optimizers.sgd import SGD


def units(net: Shallow) -> np.ndarray:
    """The weights, the bias and the output weight of each hidden unit, in rows."""
    return torch.cat([net.hidden.weight, net.hidden.bias[:, None], net.head.weight.T], 1).detach().numpy().copy()


class ActivationGradients(Experiment):
    """What a unit learns is decided by φ': none behind a threshold, at most ¼ of it behind a sigmoid, nothing ever in a dead ReLU.

    With s_{ℓ-1} = φ'(z_{ℓ-1}) W_ℓᵀ s_ℓ, the rule of backpropagation,

        1{z > 0}: φ' = 0,       sigmoid: φ' = φ(1 - φ) <= min(¼, e^{-|z|}),   ‖∂f/∂x‖ <= ‖W_L‖ Π_{ℓ<L} ‖W_ℓ‖/4,       ReLU: φ' = 1{z > 0}.

    Through L sigmoids the gradient shrinks like 4^{-L}, unless weights are large; active ReLUs pass it on unchanged. A ReLU with z < 0 on
    all data is dead: its weights, and the weight behind it, have the gradient 0 at every later step. A leaky ReLU is not.

    Notes: D. Source: Hochreiter 1998, https://doi.org/10.1142/S0218488598000094; Lu et al. 2020, https://arxiv.org/abs/1903.06733
    Assumes: the data stay the same; there is no weight decay.
    Also: gradients of activations; dying ReLU; dead units.
    """

    width = param(20, "units of each hidden layer", least=8, most=100)
    depth = param(20, "most layers of the nets whose gradient is followed", least=5, most=40, small=8)
    margin = param(0.02, "how far below 0 every unit of the dead net is on all data", least=0.001, most=0.02)
    steps = param(200, "of training", least=100, most=1000, small=100)

    def train(self, activation: str, decay: float = 0.0, shift: float = 0.0) -> tuple[Shallow, float]:
        """The net after training with this activation on x + shift, and its loss."""
        net, x, y = copy.deepcopy(self.net), tensor(self.x + shift), tensor(self.y[:, None])
        net.activation = ACTIVATIONS[activation]
        return net, descended(SGD(net.parameters(), lr=0.3, weight_decay=decay), lambda: mse_loss(outputs(net, x), y), self.steps)[-1]

    def deep(self, activation: str, depth: int, rng: Generator) -> MLP:
        net = built(lambda: MLP(Config(width=self.width, depth=depth, dropout=0.0), self.width, 1), rng)
        net.activation = ACTIVATIONS[activation]
        return net

    def measure(self, rng: Generator) -> Checks:
        self.z, self.depths = np.linspace(-8, 8, 1601), np.arange(1, self.depth + 1)
        self.slopes = {name: derivative(ACTIVATIONS[name], self.z) for name in ("sigmoid", "tanh", "relu", "leaky_relu")}
        yield close("sigmoid: φ' = φ(1 - φ)", self.slopes["sigmoid"], expit(self.z) * expit(-self.z), 1e-12)
        yield at_most("sigmoid: φ', min(¼, e^-|z|)", self.slopes["sigmoid"], np.minimum(0.25, np.exp(-np.abs(self.z))), rounding=1e-12)
        yield equal("ReLU: φ' = 1{z > 0}", self.slopes["relu"], (self.z > 0).astype(float))
        point, self.norms = rng.normal(size=(1, self.width)), {}
        for name in ("relu", "sigmoid"):
            nets = [self.deep(name, int(depth), rng) for depth in self.depths]
            self.norms[name] = [np.linalg.norm(jacobian(partial(outputs, net), tensor(point))) for net in nets]
        sizes = [[np.linalg.norm(p.numpy(), 2) for p in net.parameters() if p.ndim == 2] for net in nets]
        self.bound = np.array([math.prod(norms) for norms in sizes]) / 4.0**self.depths
        yield at_most("sigmoid: ‖∂f/∂x‖, ‖W_L‖ Π ‖W_ℓ‖/4, every depth", self.norms["sigmoid"], self.bound)
        hard = self.deep("step", 3, rng).requires_grad_(True)
        found = torch.autograd.grad(outputs(hard, tensor(point)).sum(), list(hard.parameters()), allow_unused=True)
        yield equal("threshold: parameters with a gradient, those of the head", sum(g is not None for g in found), 2)
        flat = differences(lambda x: applied(lambda t: outputs(hard, t), x[None])[0, 0], point[0])
        yield equal("threshold: ∂f/∂x by differences", flat, np.zeros(self.width))
        self.x = rng.uniform(-1, 1, size=(100, 2))
        self.y = np.sin(3 * self.x[:, 0])
        self.net = shallow_net(2, 1, self.width, "relu", rng)
        self.net.hidden.bias.data = -(tensor(self.x) @ self.net.hidden.weight.data.T).amax(0) - self.margin
        relu, loss = self.train("relu")
        yield headline(equal("dead ReLUs: parameters after training, before", units(relu), units(self.net)))
        yield close("a net of dead ReLUs learns the mean: loss, Var y", loss, np.var(self.y))
        yield monotone("loss of dead ReLUs, of the same net with leaky ones", [loss, self.train("leaky_relu")[1]], "falls")

    def control(self, rng: Generator) -> Checks:
        leaky, decayed, moved = ("leaky_relu", 0.0, 0.0), ("relu", 0.01, 0.0), ("relu", 0.0, 1.0)
        for case, why in ((leaky, "φ' is 0.01 below 0"), (decayed, "there is weight decay"), (moved, "the data change")):
            yield because(why, equal(f"parameters after training, {why}", units(self.train(*case)[0]), units(self.net)))

    def plots(self) -> list[Panel]:
        left = Panel("How much of a gradient passes", "z", "φ'(z)").curve(self.z, self.slopes)
        right = Panel("Sigmoids lose it, layer by layer", "hidden layers", "‖∂f/∂x‖", "y")
        return [left, right.series(self.depths, self.norms).bound(self.depths, self.bound, "sigmoid: bound")]
