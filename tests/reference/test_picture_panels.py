"""What is drawn of a model of pictures, against closed forms: gradients of linear models, products of attention maps, filters."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from headway.models import cnn, non_local_net, vit
from headway.models.cnn import CNN
from headway.models.non_local_net import NonLocalNet
from headway.models.vit import ViT
from headway.tasks.answers import Predictions
from headway.tasks.picture_maps import picture_maps
from headway.tasks.picture_panels import (
    attended,
    first_layer,
    rollout,
    saliency,
    smooth_saliency,
    stretched,
    worst_errors,
)


class Linear(nn.Module):
    """z = W vec(x)."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(2 * 5 * 7, 3)

    def forward(self, pictures: Tensor) -> Tensor:
        return pictures.flatten(1)

    def logits(self, hidden: Tensor) -> Tensor:
        return self.head(hidden)


def test_the_saliency_of_a_linear_model_is_its_weights() -> None:
    """Of the class that wins; noise changes nothing, because the gradient is the same everywhere."""
    model, x = Linear(), torch.rand(1, 2, 5, 7)
    with torch.no_grad():
        model.head.bias.copy_(torch.tensor([0.0, 50.0, 0.0]))
    weights = model.head.weight[1].detach().view(2, 5, 7).abs().amax(0).numpy()
    np.testing.assert_allclose(saliency(model, x), stretched(weights), atol=1e-6)
    np.testing.assert_allclose(smooth_saliency(model, x), stretched(weights), atol=1e-5)
    assert all(p.grad is None for p in model.parameters())


def test_stretched_reaches_from_0_to_1() -> None:
    found = stretched(np.array([[0.0, 1.0], [2.0, 4.0]]))
    assert found.min() == 0 and found.max() == 1 and found[1, 0] == pytest.approx(0.5, abs=0.02)
    assert not stretched(np.zeros((2, 2))).any()


def test_rollout_is_the_product_of_half_mixed_maps() -> None:
    maps = [torch.rand(4, 6, 6).softmax(-1) for _ in range(3)]
    expected = np.eye(6)
    for weights in maps:
        expected = (0.5 * weights.double().mean(0).numpy() + 0.5 * np.eye(6)) @ expected
    found = rollout(maps)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-6)
    torch.testing.assert_close(found.sum(1), torch.ones(6))


def test_attention_is_drawn_where_the_model_looked() -> None:
    """A ViT whose class token is made to look at one patch: the map is highest there."""
    model = ViT(vit.Config(patch=4, width=8, depth=1, heads=1, inner=8), 1, 8, 12, 3).eval()
    x = torch.zeros(1, 1, 8, 12)
    with torch.no_grad():
        attention = model.blocks[0].mixer
        attention.project.weight.zero_()
        attention.project.weight[0, 0] = attention.project.weight[8, 0] = 9.0  # queries and keys read the first feature
        model.position.table.zero_()
        model.position.table[0, 0] = model.position.table[5, 0] = 3.0  # of the class token, and of row 2, column 2
        model.patches.project.bias.zero_()
        model.token.zero_()
    ((name, heat),) = attended(picture_maps(model, x))
    assert name == "attention rollout" and heat.shape == (2, 3)
    assert np.unravel_index(heat.argmax(), heat.shape) == (1, 1)
    assert {m.weights.shape for m in picture_maps(model, x)} == {(1, 7, 7)}


def test_non_local_blocks_have_maps_and_a_cnn_has_none() -> None:
    net = NonLocalNet(non_local_net.Config(filters=3, depth=2, width=5), 1, 16, 24, 3).eval()
    found = attended(picture_maps(net, torch.rand(1, 1, 16, 24)))
    assert [heat.shape for _, heat in found] == [(4, 6), (4, 6)], "8 x 12 keys are pooled, 4 x 6 are not"
    assert picture_maps(CNN(cnn.Config(filters=3), 1, 8, 8, 3).eval(), torch.rand(1, 1, 8, 8)) == []


def test_filters_and_their_answers() -> None:
    """A filter that passes one pixel on is a white square in grey, and its map is the picture."""
    net, x = CNN(cnn.Config(filters=2, depth=1, kernel=3), 1, 8, 8, 3).eval(), torch.rand(1, 1, 8, 8)
    with torch.no_grad():
        net.stages[0].convolution.weight.zero_()
        net.stages[0].convolution.weight[1, 0, 1, 1] = 2.0
    filters, maps = first_layer(net, x)
    assert [p.caption for p in filters.pictures] == ["2", "1"], "the largest first"  # type: ignore[union-attr]
    expected = np.full((3, 3), 128)
    expected[1, 1] = 255
    assert np.array_equal(filters.pictures[0].image[..., 0], expected)  # type: ignore[union-attr]
    seen, (low, high) = x[0, 0].numpy(), (float(x.min()), float(x.max()))
    image = maps.pictures[0].image[..., 0]  # type: ignore[union-attr]
    np.testing.assert_allclose(image, 255 * (seen - low) / (high - low), atol=0.51)
    assert len(first_layer(Linear(), torch.rand(1, 2, 5, 7))) == 1, "a full layer has no maps"


def test_the_worst_errors_come_first_with_both_classes() -> None:
    logs = np.log(np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.05, 0.95]]))
    rows, captions = Predictions(logs, np.array([0, 0, 0, 0]), ("cat", "dog")).worst(2)
    assert rows.tolist() == [3, 1] and captions == ["cat → dog (0.95)", "cat → dog (0.80)"]
    assert worst_errors(Linear(), np.zeros((0, 5, 7, 2), np.uint8), torch.zeros(0, 2, 5, 7), []) == []
