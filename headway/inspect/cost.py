"""What a model costs, counted and not estimated: parameters, bytes, and the multiplications and additions of one pass."""

import dataclasses
import math
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from headway.train.checkpoint import stored

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a model costs at one length, per token that is predicted.

        FLOPs of (n x k) (k x m) = 2 n k m        training step = 3 forward passes (two products backward for each one forward)

    Only products of matrices count: sums, norms, softmax, scans and FFTs do not. An attention kernel counts all pairs of positions, also
    those that a causal mask hides. The convention of Kaplan et al. 2020, https://arxiv.org/abs/2001.08361, section 2.1.
    """

    parameters: int  # numbers that are learned; a matrix that is used twice counts once
    bytes: int  # of the weights in a file, with what the model drew or counted (persistent buffers)
    forward: float  # FLOPs of the forward pass

    @property
    def training(self) -> float:
        return 3 * self.forward

    def __str__(self) -> str:
        return f"{self.bytes / 2**20:,.1f} MiB of weights, {self.training / 1e6:,.1f} MFLOP per token of a training step"


def cost(model: Any, length: int, source: int | None = None) -> Cost:
    """The cost of predicting `length` tokens at once; `source` is the length of what an encoder-decoder reads before."""
    ids, trained = torch.zeros(1, length, dtype=torch.long), model.training
    read = () if source is None else (ids.new_zeros(1, source), ids.new_ones(1, source, dtype=torch.bool))
    model.eval()
    try:  # with gradients: without them torch's counter stumbles over a module whose output is a part of a parameter
        with FlopCounterMode(display=False, custom_mapping=HIDDEN) as counter, torch.enable_grad():
            model.logits(model(*read, ids))
    finally:
        model.train(trained)
    weights = sum(tensor.numel() * tensor.element_size() for tensor in stored(model).values())
    return Cost(sum(p.numel() for p in model.parameters()), weights, counter.get_total_flops() / length)


def _attention(q: Shape, k: Shape, v: Shape, *_: Any, out_shape: Any, attn_mask: Any = None, scale: Any = None) -> int:
    return sdpa_flop_count(q, k, v)


def _lstm(x: Shape, w: Shape, u: Shape, *_: Any, out_shape: Any) -> int:
    """x "t b i" times the input weights, and as many states times the weights of the state."""
    return 2 * math.prod(x[:-1]) * (math.prod(w) + math.prod(u))


# Kernels of the CPU that torch's counter does not know and would count as nothing.
HIDDEN: dict[Any, Any] = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    torch.ops.aten.mkldnn_rnn_layer: _lstm,
}
