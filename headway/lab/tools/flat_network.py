"""The loss of a network as a function of all its parameters in a row: many networks are trained or compared at once."""

import numpy as np
import torch
from torch import Tensor, nn

from headway.lab.tools.layers64 import built
from headway.lab.tools.quadratics import Smooth
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
