"""Networks of one shape trained side by side, each on targets of its own: what they predict as training sets vary."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor, nn

from headway.lab.tools.training import descended, outputs, seeded
from headway.training.optimizers.adam import Adam


class _Predictor(nn.Sequential):
    """A model with its head, as one function."""

    def forward(self, x: Tensor) -> Tensor:
        return outputs(self[0], x)[:, 0]


def fitted(
    make: Callable[[], nn.Module], x: np.ndarray, targets: np.ndarray, rng: Generator, steps: int, rate: float
) -> np.ndarray:
    """Predictions "net n" at x of networks that were trained by Adam on all examples at once, on squared error.

    make      a network with new weights, from inputs "n f" to one number
    targets   "net n", one row for each network
    """
    with seeded(rng):
        nets = [_Predictor(make()).double() for _ in targets]
    weights, _ = torch.func.stack_module_state(nets)  # type: ignore[arg-type]
    call = torch.func.vmap(lambda w, x: torch.func.functional_call(nets[0], w, (x,)), in_dims=(0, None))
    inputs, wanted, optimizer = torch.from_numpy(x), torch.from_numpy(targets), Adam(list(weights.values()), lr=rate)
    descended(optimizer, lambda: (call(weights, inputs) - wanted).square().mean(dim=1).sum(), steps)  # each net by itself
    with torch.no_grad():
        return np.asarray(call(weights, inputs))
