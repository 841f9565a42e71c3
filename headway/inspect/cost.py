"""What a model costs, counted and not estimated: parameters, bytes, multiplications and additions of one pass."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from headway.layers.compiled import counted
from headway.models.weights import saved_tensors
from headway.runs.run import Run

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a model costs on inputs of one size, per prediction: a token that is predicted, or a picture that is named.

        FLOPs of (n x k) (k x m) = 2 n k m        training step = 3 forward passes (two products back for each one)

    Only products of matrices count: sums, norms, softmax, scans and FFTs do not. An attention kernel counts all pairs
    of positions, also those that a causal mask hides. The convention of Kaplan et al. 2020,
    https://arxiv.org/abs/2001.08361, section 2.1.
    """

    parameters: int  # numbers that are learned; a matrix that is used twice counts once
    bytes: int  # of the weights in a file, with what the model drew or counted (persistent buffers)
    forward: float  # FLOPs of the forward pass
    unit: str = "token"  # what is predicted

    @property
    def training(self) -> float:
        return 3 * self.forward

    def __str__(self) -> str:
        flops = f"{self.training / 1e6:,.1f} MFLOP per {self.unit} of a training step"
        return f"{self.bytes / 2**20:,.1f} MiB of weights, {flops}"


def cost(model: Any, *inputs: Tensor, per: int, unit: str = "token") -> Cost:
    """The cost of `model.logits(model(*inputs))` per `unit`, of which there are `per`.

        cost(gpt, torch.zeros(1, 256, dtype=torch.long), per=256)
        cost(cnn, torch.zeros(1, 1, 28, 28), per=1, unit="picture")

    are the cost per token of a text of 256, and that of a picture.
    """
    return cost_of_pass(model, lambda: model.logits(model(*inputs)), per, unit)


def cost_of_pass(model: Any, forward: Callable[[], object], per: int, unit: str) -> Cost:
    """The cost of one forward pass of the model, per `unit`."""
    trained = model.training
    model.eval()
    try:  # with gradients: without them torch's counter stumbles over a module whose output is a part of a parameter
        with counted(), FlopCounterMode(display=False, custom_mapping=HIDDEN) as counter, torch.enable_grad():
            forward()
    finally:
        model.train(trained)
    weights = sum(tensor.numel() * tensor.element_size() for tensor in saved_tensors(model).values())
    return Cost(sum(p.numel() for p in model.parameters()), weights, counter.get_total_flops() / per, unit)


def _attention(q: Shape, k: Shape, v: Shape, *_: Any, out_shape: Any, attn_mask: Any = None, scale: Any = None) -> int:
    return sdpa_flop_count(q, k, v)


def _lstm(x: Shape, w: Shape, u: Shape, *_: Any, out_shape: Any) -> int:
    """x "t b i" times the input weights, and as many states times the weights of the state."""
    return 2 * math.prod(x[:-1]) * (math.prod(w) + math.prod(u))


def _linear(x: Shape, w: Shape, *_: Any, out_shape: Any) -> int:
    return 2 * math.prod(x) * w[0]


# Kernels of the CPU that torch's counter does not know and would count as nothing.
HIDDEN: dict[Any, Any] = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    torch.ops.aten.mkldnn_rnn_layer: _lstm,
    torch.ops.mkldnn._linear_pointwise: _linear,  # `layers/products.py`
}


def run_cost(run: Run) -> Cost:
    """The cost of a run's model on inputs of a typical size."""
    forward, units = run.task.example(run.model)
    return cost_of_pass(run.model, forward, units, run.task.unit.removesuffix("s"))
