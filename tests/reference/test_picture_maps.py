"""Attention maps over pictures: windows stand where they were cut, and the maps give the layers' answers again."""

import numpy as np
import pytest
import torch

from headway.layers.attention.attend import recorded
from headway.layers.attention.shifted_window import ShiftedWindow
from headway.models import mlp_mixer, non_local_net, swin, vit
from headway.models.mlp_mixer import MLPMixer
from headway.models.non_local_net import NonLocalNet
from headway.models.swin import Swin
from headway.models.vit import ViT
from headway.tasks import picture_maps as module
from headway.tasks.picture_maps import PictureMap, drawn_maps, picture_maps
from headway.tasks.picture_panels import attended


@pytest.mark.parametrize("size", [(8, 12), (6, 9), (4, 7), (3, 2)])
@pytest.mark.parametrize("shift", [0, 2])
@torch.no_grad()
def test_windows_are_put_back_to_their_place(size: tuple[int, int], shift: int) -> None:
    """Weights times values of all patches, as if there were no windows, are what the layer gives."""
    rows, columns = size
    layer, x = ShiftedWindow(6, 3, 4, shift), torch.randn(2, rows, columns, 6)
    with recorded(layer) as maps:
        expected = layer(x)
    weights = layer.over_grid(maps["attend"][0], rows, columns)
    assert weights.shape == (2, 3, rows * columns, rows * columns)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, rows * columns))
    values = layer.project(x)[..., 12:].reshape(2, rows * columns, 3, 2).transpose(1, 2)
    found = layer.output((weights @ values).transpose(1, 2).reshape(x.shape))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_every_attention_layer_has_a_map() -> None:
    """Patches of a Swin merge four by four from stage to stage; a class token stands before the patches of a ViT."""
    x = torch.rand(1, 1, 20, 28)
    found = picture_maps(Swin(swin.Config(depth=3), 1, 3).eval(), x)
    assert [m.queries for m in found] == [(10, 14)] * 2 + [(5, 7)] * 2 + [(3, 4)] * 2
    assert [len(m.weights) for m in found] == [2, 2, 4, 4, 8, 8]
    found = picture_maps(ViT(vit.Config(depth=2), 1, 20, 28, 3).eval(), x)
    assert [m.weights.shape for m in found] == [(4, 36, 36)] * 2 and all(m.token for m in found)
    found = picture_maps(NonLocalNet(non_local_net.Config(), 1, 20, 28, 3).eval(), x)
    assert [(m.queries, m.keys) for m in found] == [((10, 14), (5, 7)), ((5, 7), (5, 7))]
    assert picture_maps(MLPMixer(mlp_mixer.Config(), 1, 20, 28, 3).eval(), x) == []


def test_maps_are_labelled_by_row_and_column(monkeypatch: pytest.MonkeyPatch) -> None:
    maps = [
        PictureMap("a", torch.rand(2, 7, 7).softmax(-1), (2, 3), (2, 3), token=True),
        PictureMap("b", torch.rand(1, 6, 2).softmax(-1), (3, 2), (1, 2)),
    ]
    first, second = drawn_maps(maps)
    assert first.rows == first.columns == ("class", "1,1", "1,2", "1,3", "2,1", "2,2", "2,3")
    assert (second.rows[2], second.columns, second.layer, second.kind) == ("2,1", ("1,1", "1,2"), 2, "encoder")
    np.testing.assert_array_equal(first.weights, maps[0].weights.numpy())
    monkeypatch.setattr(module, "MOST", 6)
    assert [(m.name, m.layer) for m in drawn_maps(maps)] == [("b", 2)], "larger maps are left out, and numbers stay"


def test_what_is_looked_at_is_drawn_where_it_is() -> None:
    weights = torch.zeros(2, 6, 6)
    weights[:, :, 4] = 1.0
    ((name, heat),) = attended([PictureMap("layers.0", weights, (2, 3), (2, 3))])
    assert name == "attention received (layers.0)" and heat.tolist() == [[0, 0, 0], [0, 1, 0]]
