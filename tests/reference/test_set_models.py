"""Models of sets against torch and their equations; and that the order of the elements means nothing to them."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.core import registry
from headway.models import deep_sets, mlp, set_transformer
from headway.models.deep_sets import DeepSets
from headway.models.mlp import MLP
from headway.models.set_transformer import Pooling, SetTransformer

pytestmark = pytest.mark.usefixtures("doubles")
CLOSE = {"rtol": 0.0, "atol": 1e-10}
FEATURES = 3
MODELS = sorted(registry.models_for("sets", "one vector"))


def scattered(net: nn.Module) -> nn.Module:
    with torch.no_grad():
        for p in net.parameters():
            p.add_(0.2 * torch.randn(p.shape))
    return net.eval()


def make(name: str) -> nn.Module:
    entry = registry.get("models", name)
    return scattered(entry.load()(entry.module.Config(width=12), features=FEATURES, outputs=2))


@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_the_order_of_the_elements_means_nothing(name: str) -> None:
    assert {"deep_sets", "set_transformer"} <= set(MODELS)
    net, x = make(name), torch.randn(4, 7, FEATURES)
    keep = torch.rand(4, 7) < 0.7
    keep[:, 0] = True
    for _ in range(5):
        order = torch.randperm(7)
        torch.testing.assert_close(net(x[:, order], keep[:, order]), net(x, keep), **CLOSE)


@torch.no_grad()
def test_the_order_means_something_to_others() -> None:
    """A control: an LSTM and an MLP over the same elements give something else."""
    x, order = torch.randn(4, 7, FEATURES), torch.randperm(7)
    recurrence = nn.LSTM(FEATURES, 12, batch_first=True)
    net = scattered(MLP(mlp.Config(width=12), 7 * FEATURES, 2))
    for f in (lambda y: recurrence(y)[0][:, -1], net):
        assert not torch.allclose(f(x[:, order]), f(x), atol=1e-3)


@pytest.mark.parametrize("pooling", ["sum", "mean", "max"])
@torch.no_grad()
def test_deep_sets_is_its_equation(pooling: str) -> None:
    net = scattered(DeepSets(deep_sets.Config(width=9, depth=2, pooling=pooling), FEATURES, 2))  # type: ignore[arg-type]
    x, keep = torch.randn(3, 5, FEATURES), torch.arange(5) < torch.tensor([5, 2, 1])[:, None]
    for row in range(3):
        h = x[row, keep[row]].numpy()
        for layer in net.phi:
            h = np.maximum(h @ layer.weight.numpy().T + layer.bias.numpy(), 0)
        h = getattr(np, pooling)(h, axis=0)
        for layer in net.rho:
            h = np.maximum(layer.weight.numpy() @ h + layer.bias.numpy(), 0)
        torch.testing.assert_close(net(x, keep)[row], torch.from_numpy(h), **CLOSE)


@torch.no_grad()
def test_pooling_is_the_multihead_attention_of_torch() -> None:
    """PMA(Z) = norm(H + ff(H)), H = norm(S + multihead(S, ff(Z), ff(Z)))."""
    net = scattered(Pooling(set_transformer.Config(width=12, heads=3, inner=7)))
    cross = net.block.cross
    attention = nn.MultiheadAttention(12, 3, batch_first=True)
    attention.in_proj_weight.copy_(torch.cat((cross.query.weight, cross.memory.weight)))
    attention.in_proj_bias.copy_(torch.cat((cross.query.bias, cross.memory.bias)))
    attention.out_proj.weight.copy_(cross.output.weight)
    attention.out_proj.bias.copy_(cross.output.bias)
    z, keep = torch.randn(4, 6, 12), torch.arange(6) < torch.tensor([6, 3, 1, 5])[:, None]

    def norm(around: nn.Module, y: Tensor) -> Tensor:
        return F.layer_norm(y, (12,), around.norm.weight, around.norm.bias)

    def network(part: nn.Module, y: Tensor) -> Tensor:
        return part.down(torch.relu(part.up(y)))

    seed, y = net.seed.expand(4, 1, 12), network(net.before, z)
    h = norm(net.block.around_cross, seed + attention(seed, y, y, key_padding_mask=~keep)[0])
    expected = norm(net.block.around_feedforward, h + network(net.block.feedforward, h))
    torch.testing.assert_close(net(z, keep), expected.squeeze(1), **CLOSE)


@torch.no_grad()
def test_inducing_points_are_between_the_elements() -> None:
    """ISAB(X) = MAB(X, MAB(I, X)), written out with the blocks."""
    net = scattered(SetTransformer(set_transformer.Config(width=12, depth=1, inducing=5), FEATURES, 2))
    x, keep = torch.randn(2, 4, FEATURES), torch.arange(4) < torch.tensor([4, 2])[:, None]
    block = net.blocks[0]
    inner = block.to_points(block.points.expand(2, 5, 12), net.embed(x), keep)
    torch.testing.assert_close(net(x, keep), net.pooling(block.to_elements(net.embed(x), inner), keep), **CLOSE)
    assert inner.shape == (2, 5, 12), "as many as there are inducing points, however large the set is"


@torch.no_grad()
def test_a_mean_forgets_how_many_and_a_maximum_how_often() -> None:
    x = torch.randn(1, 3, FEATURES)
    twice, often = torch.cat((x, x), 1), torch.cat((x, x[:, :1]), 1)
    for pooling, (same_twice, same_often) in {"sum": (0, 0), "mean": (1, 0), "max": (1, 1)}.items():
        net = scattered(DeepSets(deep_sets.Config(width=9, pooling=pooling), FEATURES, 2))  # type: ignore[arg-type]
        before, *after = (net(y, torch.ones(y.shape[:2], dtype=torch.bool)) for y in (x, twice, often))
        assert tuple(torch.allclose(y, before, **CLOSE) for y in after) == (same_twice, same_often)
