"""Models that read a picture patch by patch: against torch, and what reaches what."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from probes import pictures, scattered
from torch import Tensor, nn

from headway.layers.patches import EarlyConvolutions, Patches
from headway.models import (
    mlp_mixer,
    swin,
    vit,
)
from headway.models.mlp_mixer import MLPMixer
from headway.models.swin import Merging, Swin
from headway.models.vit import ViT

pytestmark = pytest.mark.usefixtures("doubles")
CLOSE = {"rtol": 0.0, "atol": 1e-10}


@pytest.mark.parametrize("size", [(8, 12), (7, 11), (3, 2)])
@torch.no_grad()
def test_patches_are_cut_row_by_row(size: tuple[int, int]) -> None:
    """Each patch, cut out by slicing a picture with zeros around it, times the matrix; convolutions give a grid as large."""
    patches, x = Patches(2, 5, 4), pictures(3, 2, *size)
    whole = F.pad(x, (0, -size[1] % 4, 0, -size[0] % 4))
    weight, bias = patches.project.weight.flatten(1), patches.project.bias
    found = patches(x)
    for i, j in itertools.product(range(found.shape[1]), range(found.shape[2])):
        piece = whole[:, :, 4 * i : 4 * i + 4, 4 * j : 4 * j + 4].flatten(1)
        torch.testing.assert_close(found[:, i, j], piece @ weight.T + bias, **CLOSE)
    assert found.shape[1:3] == (-(-size[0] // 4), -(-size[1] // 4))
    assert EarlyConvolutions(2, 5, 4)(x).shape == found.shape


@torch.no_grad()
def test_vit_is_the_transformer_encoder_of_torch() -> None:
    config = vit.Config(patch=4, width=22, depth=3, heads=2, inner=17)
    net, x = scattered(ViT(config, 2, 7, 11, 5)).eval(), pictures()
    layer = nn.TransformerEncoderLayer(22, 2, 17, 0.0, "gelu", batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoder(layer, 3, nn.LayerNorm(22), enable_nested_tensor=False).eval()
    for theirs, mine in zip(encoder.layers, net.blocks, strict=True):
        pairs = {
            "self_attn.in_proj_": mine.mixer.project,
            "self_attn.out_proj.": mine.mixer.output,
            "linear1.": mine.feedforward.up,
            "linear2.": mine.feedforward.down,
            "norm1.": mine.around_mixer.norm,
            "norm2.": mine.around_feedforward.norm,
        }
        theirs.load_state_dict({f"{k}{w}": getattr(m, w) for k, m in pairs.items() for w in ("weight", "bias")})
    encoder.norm.load_state_dict(net.norm.state_dict())  # type: ignore[union-attr]
    z = F.conv2d(F.pad(x, (0, 1, 0, 1)), net.patches.project.weight, net.patches.project.bias, stride=4)
    tokens = torch.cat((net.token.expand(4, 1, 22), z.flatten(2).transpose(1, 2)), 1) + net.position.table
    torch.testing.assert_close(net(x), encoder(tokens)[:, 0], **CLOSE)


@torch.no_grad()
def test_the_order_of_patches_is_in_the_weights_of_a_mixer() -> None:
    """Patches in another order, and the rows and columns of the matrices across patches with them: the same answer."""
    config = mlp_mixer.Config(patch=2, width=7, depth=2, across=5, inner=11)
    net, x, order = scattered(MLPMixer(config, 1, 4, 6, 3)).eval(), pictures(5, 1, 4, 6), torch.randperm(6)
    cut = x.unflatten(3, (3, 2)).unflatten(2, (2, 2)).permute(0, 1, 2, 4, 3, 5).flatten(2, 3)  # b c p i j
    moved = cut[:, :, order].unflatten(2, (2, 3)).permute(0, 1, 2, 4, 3, 5).flatten(4, 5).flatten(2, 3)
    before = net(x)
    assert not torch.allclose(net(moved), before), "a control: the order alone matters"
    for block in net.blocks:
        block.up.weight.copy_(block.up.weight[:, order])
        block.down.weight.copy_(block.down.weight[order])
    torch.testing.assert_close(net(moved), before, **CLOSE)


@torch.no_grad()
def test_four_patches_merge_into_one() -> None:
    merging, x = scattered(Merging(3)), torch.rand(2, 5, 4, 3)
    found, whole = merging(x), torch.cat((x, torch.zeros(2, 1, 4, 3)), 1)  # a row of zeros below
    assert found.shape == (2, 3, 2, 6)
    for y, z in itertools.product(range(3), range(2)):
        four = torch.cat([whole[:, 2 * y + i, 2 * z + j] for i in (0, 1) for j in (0, 1)], -1)
        normed = F.layer_norm(four, (12,), merging.norm.weight, merging.norm.bias)
        torch.testing.assert_close(found[:, y, z], normed @ merging.project.weight.T, **CLOSE)


@torch.no_grad()
def test_shifted_windows_carry_news_across_borders() -> None:
    """One stage of 8 x 8 patches in windows of 4: a changed corner is seen in the next window only because the second block shifts."""
    net = scattered(Swin(swin.Config(patch=1, window=4, width=4, heads=2, depth=1), 1, 3)).eval()
    x = pictures(1, 1, 8, 8)
    changed = x.clone()
    changed[0, 0, 0, 0] += 5

    def seen() -> Tensor:
        """Where the states differ."""
        states = []
        for picture in (x, changed):
            z = net.first(net.patches(picture))
            for layer in net.layers:
                z = layer(z)
            states.append(z)
        return (states[0] - states[1]).abs().amax((0, 3)) > 1e-9

    expected = torch.zeros(8, 8, dtype=torch.bool)
    expected[:6, :6] = True  # the corner's window, then the shifted windows that overlap it
    assert torch.equal(seen(), expected)
    net.layers[1].attention.shift = 0
    expected[4:], expected[:, 4:] = False, False
    assert torch.equal(seen(), expected)
