"""Attention as dense products of a mixer's own weights, and what a mixer that saves work is compared by."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from headway.layers.masks import Causal

B, H, E = 3, 2, 5
D = H * E
CLOSE = {"rtol": 0.0, "atol": 1e-10}
either = pytest.mark.parametrize("mask", [None, Causal()], ids=["everything", "causal"])


def heads(mixer: nn.Module, x: Tensor, project: nn.Module | None = None) -> tuple[Tensor, ...]:
    """Q, K and V, each "b h t e", from weights that lie as in torch's multi-head attention."""
    parts = (project or mixer.project)(x).chunk(3, -1)
    return tuple(rearrange(y, "b t (h e) -> b h t e", h=mixer.heads) for y in parts)


def joined(mixer: nn.Module, y: Tensor) -> Tensor:
    return mixer.output(rearrange(y, "b h t e -> b t (h e)"))


def dense(mixer: nn.Module, x: Tensor, allowed: Tensor) -> Tensor:
    return joined(mixer, F.scaled_dot_product_attention(*heads(mixer, x), attn_mask=allowed))


def same_with_gradients(mixer: nn.Module, found: Callable[[Tensor], Tensor], expected: Callable[[Tensor], Tensor], x: Tensor) -> None:
    outcome = []
    for run in (found, expected):
        x = x.detach().requires_grad_()
        mixer.zero_grad()
        y = run(x)
        (y * torch.linspace(-1, 1, y.numel()).view_as(y)).sum().backward()
        outcome.append((y.detach(), x.grad, mixer.project.weight.grad.clone(), mixer.output.weight.grad.clone()))
    for a, b in zip(*outcome, strict=True):
        torch.testing.assert_close(a, b, **CLOSE)


def stepped(mixer: nn.Module, x: Tensor) -> tuple[Tensor, list[int]]:
    """Outputs one by one, and how many numbers the state held after each."""
    state, ys, sizes = mixer.start(len(x)), [], []
    for t in range(x.shape[1]):
        y, state = mixer.step(x[:, t], state)
        ys.append(y)
        sizes.append(sum(part[0].numel() for part in state))
    return torch.stack(ys, 1), sizes


def torch_attention(ours: nn.Module, dim: int, heads: int) -> nn.MultiheadAttention:
    """torch's attention with our weights."""
    reference = nn.MultiheadAttention(dim, heads, batch_first=True)
    reference.load_state_dict(
        {
            "in_proj_weight": ours.project.weight,
            "in_proj_bias": ours.project.bias,
            "out_proj.weight": ours.output.weight,
            "out_proj.bias": ours.output.bias,
        }
    )
    return reference
