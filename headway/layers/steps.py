"""One position of a decoder block written out, for decoding: the numbers of `CrossBlock.step`, without a call for each layer.

    x <- x + W_O attention(W_QKV norm(x))        x <- x + cross(norm(x))        x <- x + W_2 phi(W_1 norm(x))

A step of one sentence is a few dozen products of one row. Asking every module for its parts, and every weight for its
layout, takes a third of the time of all of them, so it is done once for a sentence.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from headway.layers.attention.multihead import Multihead
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.feedforward import Feedforward
from headway.layers.linear import Linear
from headway.layers.masks import Causal
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.scores.scaled import Scaled

if TYPE_CHECKING:
    from headway.layers.block import CrossBlock

Step = Callable[[Tensor, Any, Any], tuple[Tensor, Any]]  # x, state, what is looked at -> x, state


def write_out(block: "CrossBlock", one: bool) -> Step:
    """The step of this block with the weights it has now, for one row or for several; its own `plain_step` if it has other layers."""
    mixer: Any = block.mixer
    cross, feedforward = block.cross, block.feedforward
    around: tuple[Any, ...] = block.around_mixer, block.around_cross, block.around_feedforward
    maps = cross.query, cross.output, feedforward.up, feedforward.down
    known = _known(mixer) and type(feedforward) is Feedforward and all(type(m) is Linear for m in maps)
    if not (known and all(type(a) is PreNorm and type(a.norm) is LayerNorm for a in around)) or _watched(block):
        return block.plain_step
    (w1, b1), (w2, b2), (w3, b3) = ((a.norm.weight, a.norm.bias) for a in around)
    shape, eps, heads = w1.shape, LayerNorm.eps, mixer.heads
    project, output = mixer.project.prepared(one), mixer.output.prepared(one)
    query, answer = cross.query.prepared(one), cross.output.prepared(one)
    activation, relu = feedforward.activation, feedforward.activation is torch.relu
    up, down = feedforward.up.prepared(one, relu), feedforward.down.prepared(one)
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


def _known(mixer: Any) -> bool:
    """Whether this is attention to all positions before, whose scores nothing changes."""
    plain: bool = type(mixer) is Multihead and type(mixer.mask) is Causal and mixer.position is None
    return plain and type(mixer.attend.score) is Scaled and type(mixer.project) is type(mixer.output) is Linear


def _watched(block: "CrossBlock") -> bool:
    """Whether it trains (dropout), or somebody hangs on the calls of its layers."""
    mixer: Any = block.mixer
    cross, inside = block.cross, block.feedforward
    outer = block, mixer, cross, inside, block.around_mixer, block.around_cross, block.around_feedforward
    inner = mixer.attend, mixer.project, mixer.output, cross.attend, cross.query, cross.output, inside.up, inside.down
    return block.training or any(m._forward_hooks or m._forward_pre_hooks for m in (*outer, *inner))
