"""Transformer-XL's segments side by side are segments one after the other, with a memory that gradients do not enter; XLNet's orders."""

import pytest
import torch
from torch import Tensor

from headway.layers.attention.transformer_xl import TransformerXL
from headway.layers.attention.two_stream import visible
from headway.layers.masks import Causal
from headway.models.xlnet import Config, XLNet

pytestmark = pytest.mark.usefixtures("doubles")
SIZES = pytest.mark.parametrize(("segment", "memory", "length"), [(3, 2, 11), (4, 6, 11), (5, 5, 10), (1, 1, 4), (64, 64, 7)])


def layer(segment: int, memory: int) -> TransformerXL:
    torch.manual_seed(3)
    made = TransformerXL(12, 2, Causal(), segment, memory)
    for p in made.parameters():
        p.data.add_(0.3 * torch.randn_like(p))
    return made


def one_after_the_other(made: TransformerXL, x: Tensor) -> Tensor:
    """As the paper writes it: segment by segment, each attending to a memory of detached inputs, with the four-term score."""
    out = []
    for start in range(0, x.shape[1], made.segment):
        now, behind = x[:, start : start + made.segment], x[:, max(0, start - made.memory) : start].detach()
        both = torch.cat((behind, now), 1)
        q = made.query(now).unflatten(-1, (2, -1)).transpose(1, 2)
        k, v = (y.transpose(1, 2) for y in made.remember(both).unflatten(-1, (2, 2, -1)).unbind(2))
        e = q @ k.mT * q.shape[-1] ** -0.5 + made.position.bias(q, k, behind.shape[1])
        seen = torch.arange(both.shape[1]) <= torch.arange(now.shape[1])[:, None] + behind.shape[1]
        y = e.masked_fill(~seen, -torch.inf).softmax(-1) @ v
        out.append(made.output(y.transpose(1, 2).flatten(2)))
    return torch.cat(out, 1)


@SIZES
def test_side_by_side_is_one_after_the_other(segment: int, memory: int, length: int) -> None:
    made = layer(segment, memory)
    values, gradients = [], []
    for way in (made, lambda x: one_after_the_other(made, x)):
        x = torch.randn(2, length, 12, generator=torch.Generator().manual_seed(5)).requires_grad_()
        y = way(x)
        (y * torch.arange(float(length))[:, None]).sum().backward()
        values.append(y)
        gradients.append(x.grad)
    torch.testing.assert_close(values[0], values[1], rtol=0.0, atol=1e-10)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=0.0, atol=1e-9)


@SIZES
def test_transformer_xl_stepping_equals_forward(segment: int, memory: int, length: int) -> None:
    made, x = layer(segment, memory), torch.randn(2, length, 12)
    whole, state = made(x), made.start(2)
    for t in range(length):
        y, state = made.step(x[:, t], state)
        torch.testing.assert_close(y, whole[:, t], rtol=0.0, atol=1e-10)
    assert state[0].shape[2] <= segment + memory, "what no segment can reach is forgotten"


def test_the_memory_reaches_further_than_the_segment() -> None:
    made, x = layer(4, 4), torch.randn(1, 12, 12)
    changed = x.clone()
    changed[:, 5] += 1
    moved = (made(changed) - made(x)).abs().amax((0, 2)) > 1e-9
    assert moved.tolist() == [False] * 5 + [True] * 7, "the next segment sees it"
    moved = (made(torch.cat((x[:, :3], x[:, 3:4] + 1, x[:, 4:]), 1)) - made(x)).abs().amax((0, 2)) > 1e-9
    assert moved.tolist() == [False] * 3 + [True] * 5 + [False] * 4, "two segments later it is out of reach of one layer"


def test_xlnet_sees_what_came_before_in_the_order_and_nothing_else() -> None:
    torch.manual_seed(7)
    net = XLNet(Config(width=12, depth=2, heads=2, inner=16), 9).eval()
    ids = torch.randint(0, 9, (2, 7))
    for seed in range(5):
        rank = torch.cat((torch.tensor([-1.0]), torch.randperm(7, generator=torch.Generator().manual_seed(seed)).double()))
        h = net.ordered(ids, rank)
        for i in range(7):
            changed = ids.clone()
            changed[:, i] = (changed[:, i] + 1) % 9
            moved = (net.ordered(changed, rank) - h).abs().amax((0, 2)) > 1e-12
            assert moved.tolist() == [bool(rank[i] < rank[j]) for j in range(1, 8)]


def test_left_to_right_is_the_causal_mask() -> None:
    seen, asked = visible(torch.arange(-1.0, 5.0))
    assert torch.equal(seen, torch.ones(5, 5, dtype=torch.bool).tril()) and torch.equal(asked, seen)


def test_xlnet_trains_in_another_order_each_time() -> None:
    torch.manual_seed(7)
    net, ids = XLNet(Config(width=12, depth=1, heads=2, inner=16), 9), torch.randint(0, 9, (2, 7))
    assert not torch.equal(net(ids), net(ids))
    assert torch.equal(net.eval()(ids), net(ids))
