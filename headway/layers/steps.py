"""One position of a decoder written out, for decoding: the numbers of its layers, without a call for each of them.

    x <- x + W_O attention(W_QKV norm(x))        x <- x + cross(norm(x))        x <- x + W_2 phi(W_1 norm(x))

Asking every module for its parts, and every weight for its layout, takes as long as the products of a few rows, so it is done once for
a sentence. For one row the whole decoder is one call (`one_row.py`).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers import compiled, one_row
from headway.layers.attention.cross import Cross, Remembered
from headway.layers.attention.multihead import Multihead
from headway.layers.block import CrossBlock
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.feedforward import Feedforward
from headway.layers.linear import Linear, is_plain, is_usable
from headway.layers.masks import Causal
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.scores.scaled import Scaled

Memory = tuple[Remembered, ...]
State = tuple[Any, ...]
Step = Callable[[Tensor, State, Memory], tuple[Tensor, State]]
BlockStep = Callable[[Tensor, Any, Remembered], tuple[Tensor, Any]]


class Parts(NamedTuple):
    """The layers of a block whose step can be written out."""

    mixer: Multihead  # causal self-attention
    cross: Cross  # the attention to the memory
    feedforward: Feedforward
    norms: tuple[LayerNorm, LayerNorm, LayerNorm]  # before each of them
    maps: tuple[Linear, Linear, Linear, Linear, Linear, Linear]  # project, output, query, answer, up, down


def step_through(
    blocks: Iterable[CrossBlock], norm: nn.Module, x: Float[Tensor, "b d"], state: State, memory: Memory
) -> tuple[Float[Tensor, "b d"], State]:
    """One position through all blocks and the norm after them. In inference mode it is written out once for what is looked at.

    blocks   of the decoder
    norm     after the last of them
    state    what each block keeps of the positions before
    memory   what each block looks at; the first keeps what is written out, with the layers of that moment
    """
    if not torch.is_inference_mode_enabled():
        return _one_by_one([block.step for block in blocks], norm)(x, state, memory)
    steps, one = memory[0].steps, x.shape[0] == 1
    step = steps.get(one)
    if step is None:
        step = steps[one] = write_out(blocks, norm, memory, one)
    return step(x, state, memory)  # type: ignore[no-any-return]


def write_out(blocks: Iterable[CrossBlock], norm: nn.Module, memory: Memory, one: bool) -> Step:
    """The step with the weights of now, for one row or for several; a block with other layers takes its own."""
    parts = [_parts(block) for block in blocks]
    usual = one and compiled.library() and not torch.is_autocast_enabled("cpu") and _are_in_c(parts)
    if usual and type(norm) is LayerNorm and _is_readable(norm) and not _is_watched(norm):
        return _in_c(blocks, norm, cast(list[Parts], parts), memory)
    return _one_by_one([b.step if p is None else _in_torch(p, one) for b, p in zip(blocks, parts, strict=True)], norm)


def _in_c(blocks: Iterable[CrossBlock], norm: LayerNorm, parts: Sequence[Parts], memory: Memory) -> Step:
    """The step in one call for one row; while maps are recorded, that of the layers."""
    weights = [_weights(p, seen) for p, seen in zip(parts, memory, strict=True)]
    in_c = one_row.DecoderStep(weights, (norm.weight, norm.bias), LayerNorm.eps)
    attends = [attend for p in parts for attend in (p.mixer.attend, p.cross.attend)]

    def step(x: Tensor, state: State, memory: Memory) -> tuple[Tensor, State]:
        if any(attend.maps is not None for attend in attends):
            return _one_by_one([block.step for block in blocks], norm)(x, state, memory)
        return in_c(x, state)

    return step


def _one_by_one(steps: Sequence[BlockStep], norm: nn.Module) -> Step:
    """The steps of the blocks, one after the other."""

    def step(x: Tensor, state: State, memory: Memory) -> tuple[Tensor, State]:
        after = []
        for block, kept, seen in zip(steps, state, memory, strict=True):
            x, kept = block(x, kept, seen)
            after.append(kept)
        return norm(x), tuple(after)

    return step


def _in_torch(parts: Parts, one: bool) -> BlockStep:
    """The step of a block in operations of torch."""
    mixer, cross, feedforward, norms, _ = parts
    (w1, b1), (w2, b2), (w3, b3) = ((n.weight, n.bias) for n in norms)
    shape, eps, heads = w1.shape, LayerNorm.eps, mixer.heads
    activation, relu = feedforward.activation, feedforward.activation is torch.relu
    project, output, query, answer, up, down = (m.prepared(one, relu and m is feedforward.up) for m in parts.maps)
    attend, look, norm = mixer.attend.forward, cross.look, torch.layer_norm

    def step(x: Tensor, state: Any, seen: Remembered) -> tuple[Tensor, Any]:
        n, d = x.shape
        q, k, v = project(norm(x, shape, w1, b1, eps)).view(n, 3, heads, 1, d // heads).unbind(1)
        state = state.append(k, v)
        x = x + output(attend(q, state.k, state.v).reshape(n, d))
        x = x + look(norm(x, shape, w2, b2, eps), seen, query, answer)
        y = up(norm(x, shape, w3, b3, eps))
        return x + down(y if relu else activation(y)), state

    return step


def _weights(parts: Parts, seen: Remembered) -> one_row.Weights:
    """The same block for C."""
    added = None if seen.keep is None else seen.k.new_zeros(seen.keep.shape).masked_fill_(~seen.keep, float("-inf"))
    return one_row.Weights(
        [(n.weight, n.bias) for n in parts.norms],
        [(m.weight, m.bias) for m in parts.maps],
        (seen.k[0].contiguous(), seen.v[0].contiguous(), added),
        parts.mixer.attend.score.scale,
    )


def _are_in_c(parts: Sequence[Parts | None]) -> bool:
    """Whether C computes what these blocks compute: all of them with as many heads and the same inner width."""
    shapes = set()
    for p in parts:
        if p is None or type(p.cross.attend.score) is not Scaled or p.feedforward.activation is not torch.relu:
            return False
        if not all(is_usable(m.weight) and (m.bias is None or is_plain(m.bias)) for m in p.maps):
            return False
        if not all(map(_is_readable, p.norms)):
            return False
        shapes |= {(p.mixer.heads, p.feedforward.up.weight.shape), (p.cross.heads, p.feedforward.up.weight.shape)}
    return len(shapes) == 1


def _is_readable(norm: LayerNorm) -> bool:
    return is_plain(norm.weight) and is_plain(norm.bias)


def _parts(block: CrossBlock) -> Parts | None:
    """Its layers, if they are those of the Transformer, if it drops nothing, and if nobody hangs on their calls."""
    mixer: Any = block.mixer
    cross, feedforward = block.cross, block.feedforward
    around: Any = block.around_mixer, block.around_cross, block.around_feedforward
    plain: bool = type(mixer) is Multihead and type(mixer.mask) is Causal and mixer.position is None
    if block.training or not plain or type(feedforward) is not Feedforward or type(mixer.attend.score) is not Scaled:
        return None
    maps = mixer.project, mixer.output, cross.query, cross.output, feedforward.up, feedforward.down
    if any(type(m) is not Linear for m in maps) or any(type(a) is not PreNorm for a in around):
        return None
    if any(a.dropout.training for a in around):
        return None
    norms = tuple(a.norm for a in around)
    called = block, mixer, cross, feedforward, mixer.attend, cross.attend, *around, *norms, *maps
    if any(type(n) is not LayerNorm for n in norms) or any(map(_is_watched, called)):
        return None
    return Parts(mixer, cross, feedforward, norms, maps)


def _is_watched(module: nn.Module) -> bool:
    """Whether somebody hangs on its calls."""
    return bool(module._forward_hooks or module._forward_pre_hooks)
