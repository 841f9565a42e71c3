"""Shifted windows and non-local blocks against dense attention over all patches and the papers' formulas."""

import math

import numpy as np
import pytest
import torch
from dense_attention import torch_attention
from probes import gradients_are_right, shaken, silent
from torch import Tensor

from headway.core.errors import ConfigError
from headway.layers.attention.attend import recorded
from headway.layers.attention.non_local import NonLocal
from headway.layers.attention.shifted_window import ShiftedWindow
from headway.layers.convolutions.max_pooling import MaxPooling

pytestmark = pytest.mark.usefixtures("doubles")
B, H, E = 3, 2, 11
D = H * E
CLOSE = {"rtol": 0.0, "atol": 1e-12}


# -- shifted window --------------------------------------------------------------------------------------------------------------

GRIDS = [  # window, shift, rows, columns
    (3, 0, 6, 9), (3, 1, 6, 9), (4, 2, 8, 8),  # multiples of the window
    (3, 1, 7, 5), (4, 2, 9, 6), (2, 1, 5, 3), (3, 2, 4, 10), (3, 0, 7, 5), (3, 1, 8, 6),  # padded
    (3, 1, 3, 7), (4, 2, 3, 9), (4, 2, 4, 4), (5, 2, 3, 2), (3, 1, 1, 8),  # one window in a direction, or in both
    (1, 0, 3, 4),
]  # fmt: skip


def seen_by(window: int, shift: int, rows: int, columns: int) -> Tensor:
    """Which patches share a window, without rolling and padding: lines at shift, shift + window, ... cut the grid in both directions."""
    areas = []
    for size in (rows, columns):
        cut = shift if size > window else 0
        areas.append((torch.arange(size) - cut).div(window, rounding_mode="floor"))
    y, x = areas[0].repeat_interleave(columns), areas[1].repeat(rows)
    return (y[:, None] == y[None, :]) & (x[:, None] == x[None, :])


def displaced(layer: ShiftedWindow, rows: int, columns: int, seen: Tensor) -> Tensor:
    """The bias of each pair of patches that see each other, "h t s", from a table laid out as Swin's: [dy, dx] from -(window - 1)."""
    w, n = layer.window, rows * columns
    table = layer.table.detach().view(2 * w - 1, 2 * w - 1, H)
    bias = torch.full((H, n, n), float("-inf"))
    for t, s in seen.nonzero().tolist():
        bias[:, t, s] = table[t // columns - s // columns + w - 1, t % columns - s % columns + w - 1]
    return bias


@pytest.mark.parametrize(("window", "shift", "rows", "columns"), GRIDS)
def test_windows_are_dense_attention_under_their_mask(window: int, shift: int, rows: int, columns: int) -> None:
    """torch's attention over all patches at once, with the bias where two patches share a window and -inf elsewhere."""
    layer = shaken(ShiftedWindow(D, H, window, shift), 0.3)
    x = torch.randn(B, rows, columns, D, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    mask = displaced(layer, rows, columns, seen_by(window, shift, rows, columns)).repeat(B, 1, 1)
    dense, _ = torch_attention(layer, D, H)(*[y.flatten(1, 2)] * 3, attn_mask=mask, need_weights=False)
    found = layer(x)
    torch.testing.assert_close(found, dense.view(B, rows, columns, D), **CLOSE)
    found.square().sum().backward()
    dense.square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=0.0, atol=1e-10)
    with recorded(layer) as maps:
        torch.testing.assert_close(layer(x), found, **CLOSE)
    ((a,),) = maps.values()
    assert a.shape == (B, H * math.ceil(rows / window) * math.ceil(columns / window), window**2, window**2)


@pytest.mark.parametrize(("window", "shift", "rows", "columns"), GRIDS)
def test_a_patch_sees_itself_and_its_window_only(window: int, shift: int, rows: int, columns: int) -> None:
    layer = shaken(ShiftedWindow(D, H, window, shift), 0.3).eval()
    x = torch.randn(1, rows, columns, D)
    whole = layer(x)
    assert torch.equal(layer(x), whole)
    for s, row in enumerate(seen_by(window, shift, rows, columns)):
        changed = x.clone()
        changed[:, s // columns, s % columns] += 1.0
        moved = (layer(changed) - whole).abs().amax(-1).flatten()
        assert ((moved > 1e-8) == row).all() and row[s]


def test_windows_keep_the_contracts() -> None:
    layer, x = shaken(ShiftedWindow(D, H, 3, 1), 0.3), torch.randn(B, 7, 8, D)
    whole = layer(x)
    torch.testing.assert_close(layer(x[1:2])[0], whole[1], **CLOSE)
    torch.testing.assert_close(layer(x.flip(0)).flip(0), whole, **CLOSE)
    whole.square().sum().backward()
    assert not silent(layer) and bool((layer.table.grad != 0).all()), "every displacement occurs in a full window"
    assert gradients_are_right(shaken(ShiftedWindow(4, 2, 2, 1), 0.3), torch.randn(1, 3, 4, 4))
    assert "places" not in layer.state_dict()
    for shift in (-1, 3):
        with pytest.raises(ConfigError, match=rf"`shift` is {shift} for a `window` of 3, expected 0 to 2\nHint: use 0 and window // 2"):
            ShiftedWindow(D, H, 3, shift)


# -- non-local -------------------------------------------------------------------------------------------------------------------


def test_non_local_starts_as_the_identity() -> None:
    for block in (NonLocal(6), NonLocal(6, pool=MaxPooling(2)), NonLocal(6).eval()):
        x = torch.randn(B, 6, 4, 5)
        assert torch.equal(block(x), x)
        (block(x) * torch.randn_like(x)).sum().backward()
        assert block.norm.weight.grad.abs().max() > 1e-3, "the gain must be able to leave zero"


@pytest.mark.parametrize("channels", [1, 2, 7, 10])
def test_non_local_is_the_embedded_gaussian(channels: int) -> None:
    """z_t = x_t + norm(W_z sum_s exp(theta_t . phi_s) g_s / sum_s exp(theta_t . phi_s)), with matrices over all pixels.

    The norm is torch's, with the means and variances of the batch in training and with running ones in eval.
    """
    block, x = shaken(NonLocal(channels), 0.3), torch.randn(B, channels, 4, 5)
    norm = torch.nn.BatchNorm1d(channels)
    norm.weight, norm.bias = block.norm.weight, block.norm.bias
    norm.running_mean = block.norm.mean.normal_().clone()
    norm.running_var = block.norm.variance.uniform_(0.5, 1.5).clone()
    e = max(1, channels // 2)
    w, c = block.project.weight.detach().numpy()[:, :, 0, 0], block.project.bias.detach().numpy()
    (theta_w, phi_w, g_w), (theta_c, phi_c, g_c) = w.reshape(3, e, channels), c.reshape(3, e, 1)
    seen = []
    for pixels in x.numpy().reshape(B, channels, 20):
        theta, phi, g = theta_w @ pixels + theta_c, phi_w @ pixels + phi_c, g_w @ pixels + g_c
        f = np.exp(theta.T @ phi)
        seen.append(block.output.weight.detach().numpy() @ (g @ (f / f.sum(1, keepdims=True)).T))
    for mode in (False, True):
        expected = x.flatten(2) + norm.train(mode)(torch.tensor(np.stack(seen)))
        torch.testing.assert_close(block.train(mode)(x).flatten(2), expected, **CLOSE)


def test_non_local_looks_at_pooled_pixels() -> None:
    """The largest phi and g of each 2 x 2 window, as torch pools them; there are as many queries as pixels."""
    block, x = shaken(NonLocal(6, pool=MaxPooling(2)), 0.3).eval(), torch.randn(B, 6, 4, 5)
    theta, phi, g = block.project(x).chunk(3, 1)
    phi, g = (torch.nn.functional.max_pool2d(y, 2).flatten(2) for y in (phi, g))
    assert phi.shape == (B, 3, 4)
    y = (theta.flatten(2).mT @ phi).softmax(-1) @ g.mT
    torch.testing.assert_close(block(x), x + block.norm(block.output(y)).mT.unflatten(2, (4, 5)), **CLOSE)


def test_non_local_keeps_the_contracts() -> None:
    block, x = shaken(NonLocal(6), 0.3).eval(), torch.randn(B, 6, 4, 5)
    whole = block(x)
    assert torch.equal(block(x), whole)
    torch.testing.assert_close(block(x[1:2])[0], whole[1], **CLOSE)
    order = torch.randperm(20)  # it knows no places: permuted pixels give permuted pixels
    permuted = block(x.flatten(2)[..., order].view_as(x))
    torch.testing.assert_close(permuted, whole.flatten(2)[..., order].view_as(x), **CLOSE)
    changed = x.clone()
    changed[:, :, 3, 4] += 1.0
    assert (block(changed) - whole).abs().amax(1).min() > 1e-6, "every pixel sees every other"
    with recorded(block) as maps:
        torch.testing.assert_close(block(x), whole, **CLOSE)
    ((a,),) = maps.values()
    assert a.shape == (B, 1, 20, 20)
    whole.square().sum().backward()
    assert not silent(block) and gradients_are_right(block, x[:1, :, :2, :3])
