"""Networks with one hidden layer as points: the loss of all parameters in a row, and the same function at other points."""

import copy

import numpy as np
import torch
from torch import Tensor, nn

from headway.lab.tools.layers import applied
from headway.lab.tools.layers64 import built
from headway.lab.tools.quadratics import Smooth
from headway.lab.tools.training import outputs
from headway.models.shallow import Config, Shallow


def square_loss(x: Tensor, y: Tensor, width: int) -> Smooth:
    """The mean square error of the model `shallow` with `width` units of tanh: inputs "n i", targets "n", points "k P".

    A row of parameters holds the weights "width i" of the hidden layer, its biases, those of the output and its bias.
    No constant L exists.
    """
    config = Config(width=width, activation="tanh", dropout=0.0)
    model = built(lambda: Shallow(config, x.shape[1], 1), np.random.default_rng(0))
    net = nn.Sequential(model, model.head)
    shapes = {name: p.shape for name, p in net.named_parameters()}

    def loss(flat: Tensor) -> Tensor:
        parts = flat.split([s.numel() for s in shapes.values()])
        values = {name: part.view(s) for (name, s), part in zip(shapes.items(), parts, strict=True)}
        return (torch.func.functional_call(net, values, (x,))[:, 0] - y).square().mean()

    return Smooth("network", torch.vmap(loss), float("nan"))


def exchanged(rows: np.ndarray, inputs: int) -> np.ndarray:
    """Rows of parameters with the hidden units in reverse order: the same functions."""
    width = (rows.shape[1] - 1) // (inputs + 2)
    W, b, v, c = np.split(rows, np.cumsum([width * inputs, width, width]), axis=1)
    W = W.reshape(-1, width, inputs)[:, ::-1].reshape(W.shape)
    return np.hstack([W, b[:, ::-1], v[:, ::-1], c])


def moved(net: Shallow, S: np.ndarray) -> Shallow:
    """The net Wφ(Vx + a) + b with V -> SV, a -> Sa, W -> WS⁻¹."""
    twin, s, back = copy.deepcopy(net), torch.from_numpy(S), torch.from_numpy(np.linalg.pinv(S))
    twin.hidden.weight.data, twin.hidden.bias.data = s @ net.hidden.weight.data, s @ net.hidden.bias.data
    twin.head.weight.data = net.head.weight.data @ back
    return twin


def scores(net: Shallow, x: np.ndarray) -> np.ndarray:
    return applied(lambda t: outputs(net, t), x)


def gradient(net: Shallow, x: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Of ½ Σ f(x)² in V, a and W of a net that was `moved` by S, carried back: Sᵀ from the left, S⁻ᵀ from the right."""
    parts = [net.hidden.weight, net.hidden.bias, net.head.weight]
    v, a, w = (g.numpy() for g in torch.autograd.grad(outputs(net, torch.from_numpy(x)).square().sum() / 2, parts))
    return np.concatenate([(S.T @ v).ravel(), S.T @ a, (w @ np.linalg.inv(S).T).ravel()])
