"""One position of a decoder block written out, for decoding: the numbers of `CrossBlock.step`, without a call for each layer.

    x <- x + W_O attention(W_QKV norm(x))        x <- x + cross(norm(x))        x <- x + W_2 phi(W_1 norm(x))

Asking every module for its parts, and every weight for its layout, takes as long as the products of a few rows, so it is done once for
a sentence. For one row the whole block is one call (`one_row.py`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from headway.layers import compiled, one_row
from headway.layers.attention.cross import Cross, Remembered
from headway.layers.attention.multihead import Multihead
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.feedforward import Feedforward
from headway.layers.linear import Linear, is_usable
from headway.layers.masks import Causal
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.scores.scaled import Scaled

if TYPE_CHECKING:
    from headway.layers.block import CrossBlock

Step = Callable[[Tensor, Any, Any], tuple[Tensor, Any]]  # x, state, what is looked at -> x, state


class Parts(NamedTuple):
    """The layers of a block whose step can be written out."""

    mixer: Multihead  # causal self-attention
    cross: Cross  # the attention to the memory
    feedforward: Feedforward
    norms: tuple[LayerNorm, LayerNorm, LayerNorm]  # before each of them
    maps: tuple[Linear, Linear, Linear, Linear, Linear, Linear]  # project, output, query, answer, up, down


def write_out(block: "CrossBlock", seen: Remembered, one: bool) -> Step:
    """The step of this block with the weights it has now, for one row or for several; its own `plain_step` if it has other layers."""
    parts = _parts(block)
    if parts is None:
        return block.plain_step
    if one and compiled.library() and _is_c(parts):
        return _in_c(block, parts, seen)
    mixer, cross, feedforward, norms, _ = parts
    (w1, b1), (w2, b2), (w3, b3) = ((n.weight, n.bias) for n in norms)
    shape, eps, heads = w1.shape, LayerNorm.eps, mixer.heads
    activation, relu = feedforward.activation, feedforward.activation is torch.relu
    project, output, query, answer, up, down = (m.prepared(one, relu and m is feedforward.up) for m in parts.maps)
    attend, look, norm = mixer.attend.forward, cross.look, torch.layer_norm

    def step(x: Tensor, state: Any, seen: Any) -> tuple[Tensor, Any]:
        n, d = x.shape
        q, k, v = project(norm(x, shape, w1, b1, eps)).view(n, 3, heads, 1, d // heads).unbind(1)
        state = state.append(k, v)
        x = x + output(attend(q, state.k, state.v).reshape(n, d))
        x = x + look(norm(x, shape, w2, b2, eps), seen, query, answer)
        y = up(norm(x, shape, w3, b3, eps))
        return x + down(y if relu else activation(y)), state

    return step


def _in_c(block: "CrossBlock", parts: Parts, seen: Remembered) -> Step:
    """The step for one row in one call; while maps are recorded, that of its layers."""
    first, second = parts.mixer.attend, parts.cross.attend
    added = None if seen.keep is None else seen.k.new_zeros(seen.keep.shape).masked_fill_(~seen.keep, float("-inf"))
    fused = one_row.BlockStep(
        [(n.weight, n.bias) for n in parts.norms],
        [(m.weight, m.bias) for m in parts.maps],
        (seen.k[0].contiguous(), seen.v[0].contiguous(), added),
        first.score.scale,
        LayerNorm.eps,
    )

    def step(x: Tensor, state: Any, seen: Any) -> tuple[Tensor, Any]:
        recorded = first.maps is not None or second.maps is not None
        return block.plain_step(x, state, seen) if recorded else fused(x, state)

    return step


def _is_c(parts: Parts) -> bool:
    """Whether what C computes is what this block computes."""
    same = type(parts.cross.attend.score) is Scaled and parts.cross.heads == parts.mixer.heads
    return same and parts.feedforward.activation is torch.relu and all(is_usable(m.weight) for m in parts.maps)


def _parts(block: "CrossBlock") -> Parts | None:
    """Its layers, if they are those of the Transformer, if it does not train (dropout), and if nobody hangs on their calls."""
    mixer: Any = block.mixer
    cross, feedforward = block.cross, block.feedforward
    around: Any = block.around_mixer, block.around_cross, block.around_feedforward
    plain: bool = type(mixer) is Multihead and type(mixer.mask) is Causal and mixer.position is None
    if block.training or not plain or type(feedforward) is not Feedforward or type(mixer.attend.score) is not Scaled:
        return None
    maps = mixer.project, mixer.output, cross.query, cross.output, feedforward.up, feedforward.down
    if any(type(m) is not Linear for m in maps) or any(type(a) is not PreNorm for a in around):
        return None
    norms = tuple(a.norm for a in around)
    called = block, mixer, cross, feedforward, mixer.attend, cross.attend, *around, *norms, *maps
    if any(type(n) is not LayerNorm for n in norms) or any(m._forward_hooks or m._forward_pre_hooks for m in called):
        return None
    return Parts(mixer, cross, feedforward, norms, maps)
