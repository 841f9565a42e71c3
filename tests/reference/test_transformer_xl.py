"""Transformer-XL's segments side by side are segments in sequence; no gradient enters a memory; XLNet's orders.

Both carry a memory from before a window: what a window then gives is what it gives at the end of one long text.
"""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.layers.attention.transformer_xl import TransformerXL
from headway.layers.attention.two_stream import visible
from headway.layers.masks import Causal
from headway.models import gpt, xlnet
from headway.models.gpt import GPT
from headway.models.xlnet import XLNet

pytestmark = pytest.mark.usefixtures("doubles")
SIZES = pytest.mark.parametrize(
    ("segment", "memory", "length"), [(3, 2, 11), (4, 6, 11), (5, 5, 10), (1, 1, 4), (64, 64, 7)]
)


def layer(segment: int, memory: int) -> TransformerXL:
    torch.manual_seed(3)
    made = TransformerXL(12, 2, Causal(), segment, memory)
    for p in made.parameters():
        p.data.add_(0.3 * torch.randn_like(p))
    return made


def one_after_the_other(made: TransformerXL, x: Tensor) -> Tensor:
    """As the paper writes it: segment by segment, each with a memory of detached inputs, and the four-term score."""
    out = []
    for start in range(0, x.shape[1], made.segment):
        now, behind = x[:, start : start + made.segment], x[:, max(0, start - made.memory) : start].detach()
        both = torch.cat((behind, now), 1)
        q = made.query(now).unflatten(-1, (2, -1)).transpose(1, 2)
        k, v = (y.transpose(1, 2) for y in made.kv(both).unflatten(-1, (2, 2, -1)).unbind(2))
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
    assert len(state.keys) <= segment + memory, "what no segment can reach is forgotten"


def test_the_memory_reaches_further_than_the_segment() -> None:
    made, x = layer(4, 4), torch.randn(1, 12, 12)
    changed = x.clone()
    changed[:, 5] += 1
    moved = (made(changed) - made(x)).abs().amax((0, 2)) > 1e-9
    assert moved.tolist() == [False] * 5 + [True] * 7, "the next segment sees it"
    moved = (made(torch.cat((x[:, :3], x[:, 3:4] + 1, x[:, 4:]), 1)) - made(x)).abs().amax((0, 2)) > 1e-9
    assert moved.tolist() == [False] * 3 + [True] * 5 + [False] * 4, (
        "two segments later it is out of reach of one layer"
    )


@pytest.mark.parametrize("given", [4, 8, 12])
def test_what_stands_before_may_be_given_as_a_memory(given: int) -> None:
    """Of a memory longer than 4 positions the last 4 are seen."""
    made, x = layer(4, 4), torch.randn(2, 19, 12)
    expected = made(x)[:, given:]
    torch.testing.assert_close(made(x[:, given:], None, x[:, :given]), expected, rtol=0.0, atol=1e-10)
    assert (made(x[:, given:]) - expected).abs().max() > 1e-6
    assert made(x[:, :0]).shape == (2, 0, 12)


def stirred(model: Any) -> Any:
    """Away from the symmetric start."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    return model.eval()


def transformer_xl(segment: int, memory: int, **others: Any) -> GPT:
    torch.manual_seed(7)
    sizes: dict[str, Any] = {"width": 12, "depth": 3, "heads": 2, "inner": 16} | others
    return stirred(GPT(gpt.Config(mixer="transformer_xl", options={"segment": segment, "memory": memory}, **sizes), 9))


def permuted(**others: Any) -> XLNet:
    torch.manual_seed(7)
    return stirred(XLNet(xlnet.Config(**({"width": 12, "depth": 2, "heads": 2, "inner": 16} | others)), 9))


class Nowhere(nn.Module):
    """Places that are all alike: XLNet counts them from the beginning of a window, and a long text is one window."""

    def forward(self, length: int, offset: int = 0) -> Tensor:
        return torch.zeros(length, 12)


def placeless() -> XLNet:
    net = permuted(memory=8)
    net.place = Nowhere()  # type: ignore[assignment]
    return net


@pytest.mark.parametrize("length", [4, 7, 13])
@pytest.mark.parametrize("residual", ["pre", "post"])
@pytest.mark.parametrize(("segment", "memory"), [(4, 4), (2, 4), (5, 5), (4, 8)])
def test_a_window_after_its_past_is_the_end_of_a_long_text(
    segment: int, memory: int, residual: str, length: int
) -> None:
    """Whatever stands before the reach of the memory: 3 layers reach 3 * memory tokens back."""
    net = transformer_xl(segment, memory, residual=residual)
    text = torch.randint(0, 9, (2, 5 * 2 * segment * memory + length))
    past, window = text[:, :-length], text[:, -length:]
    assert net.memory == 3 * memory
    whole = net(text)[:, -length:]
    torch.testing.assert_close(net(window, past[:, -net.memory :]), whole, rtol=0.0, atol=1e-10)
    torch.testing.assert_close(net(window, past), whole, rtol=0.0, atol=1e-10)
    assert (net(window, past[:, -net.memory + 1 :]) - whole).abs().max() > 1e-6, "the last token in reach matters"
    assert (net(window) - whole).abs().max() > 1e-3


def test_a_short_past_is_all_there_is() -> None:
    net, text = transformer_xl(4, 4), torch.randint(0, 9, (2, 15))
    torch.testing.assert_close(net(text[:, 4:], text[:, :4]), net(text)[:, 4:], rtol=0.0, atol=1e-10)
    assert torch.equal(net(text, text[:, :0]), net(text))


def test_a_state_that_has_read_the_past_steps_on() -> None:
    for net in (transformer_xl(4, 4), placeless()):
        past, window = torch.randint(0, 9, (2, 8)), torch.randint(0, 9, (2, 6))
        whole, state = net(window, past), net.start(2)
        for token in past.T:
            _, state = net.step(token, state)
        for t in range(6):
            hidden, state = net.step(window[:, t], state)
            torch.testing.assert_close(hidden, whole[:, t], rtol=0.0, atol=1e-10)


def test_no_gradient_enters_the_past() -> None:
    """The embeddings of words that stand in the past alone get none, though they change what the window gives."""
    for net in (transformer_xl(4, 4), permuted(memory=8)):
        past, window = torch.randint(0, 4, (2, 8)), torch.randint(4, 9, (2, 6))
        net(window, past).square().sum().backward()
        grad = net.embedding.weight.grad
        assert torch.equal(grad[:4], torch.zeros_like(grad[:4])) and grad[window.unique()].abs().amax(1).min() > 1e-9
        other = (past + 1) % 4
        assert (net(window, other) - net(window, past)).abs().max() > 1e-6
        assert not any(memory.requires_grad for memory in net._memories(past)), "no graph is kept"
        kv = net.blocks[0].mixer.kv
        with_past, kv.weight.grad = kv.weight.grad, None
        net(window).square().sum().backward()
        assert not torch.allclose(with_past, kv.weight.grad), "keys of the memory are learned"


def test_xlnet_sees_what_came_before_in_the_order_and_nothing_else() -> None:
    """Each row in an order of its own; the past is seen by all."""
    net, ids, past = permuted(), torch.randint(0, 9, (2, 7)), torch.randint(0, 9, (2, 3))
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)
        orders = torch.stack([torch.randperm(7, generator=generator).double() for _ in range(2)])
        rank = torch.cat((torch.full((2, 1), -1.0), orders), 1)
        h = net.ordered(ids, rank, past)
        for i in range(7):
            changed = ids.clone()
            changed[:, i] = (changed[:, i] + 1) % 9
            moved = (net.ordered(changed, rank, past) - h).abs().amax(2) > 1e-12
            assert moved.tolist() == [[bool(row[i] < row[j]) for j in range(1, 8)] for row in rank]
        assert bool(((net.ordered(ids, rank, (past + 1) % 9) - h).abs().amax(2) > 1e-12).all())


def test_left_to_right_is_the_causal_mask() -> None:
    seen, asked = visible(torch.arange(-1.0, 5.0)[None])
    assert torch.equal(seen[0], torch.ones(5, 5, dtype=torch.bool).tril()) and torch.equal(asked, seen)


def test_xlnet_reads_its_past_from_left_to_right() -> None:
    net, text = placeless(), torch.randint(0, 9, (2, 14))
    torch.testing.assert_close(net(text[:, 8:], text[:, :8]), net(text)[:, 8:], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize(("length", "share", "count"), [(12, 6, 2), (13, 6, 3), (3, 6, 1), (7, 1, 7)])
def test_xlnet_predicts_the_last_part_of_every_order(length: int, share: int, count: int) -> None:
    net, ids = permuted(predict=share).train(), torch.randint(0, 9, (2, length))
    torch.manual_seed(5)
    hidden, counted = net.predicted(ids)
    assert counted.sum(1).tolist() == [count, count] and hidden.shape == (2 * count, 12)
    sees = torch.stack([torch.zeros(2, count, dtype=torch.bool), *(moved(net, ids, i) for i in range(1, length))], 2)
    for row in range(2):
        places = (counted[row].nonzero()[:, 0] + 1).tolist()
        given = [i for i in range(1, length) if i not in places]
        assert bool(sees[row][:, given].all()), "what is not predicted is given"
        for a, p in enumerate(places):
            for b, q in enumerate(places):  # the text ends before the last place, so nobody can see that one
                if max(p, q) < length:
                    assert bool(sees[row, a, q]) != bool(sees[row, b, p]) if p != q else not sees[row, a, p]


def moved(net: XLNet, ids: Tensor, place: int) -> Tensor:
    """Which predictions of each row a change at this place moves, under the same draw of orders."""
    changed = ids.clone()
    changed[:, place] = (changed[:, place] + 1) % 9
    found = []
    for text in (ids, changed):
        torch.manual_seed(5)
        found.append(net.predicted(text)[0])
    return ((found[0] - found[1]).abs().amax(1) > 1e-12).unflatten(0, (2, -1))


def test_xlnet_draws_an_order_for_each_row_and_each_time() -> None:
    net, ids = permuted(predict=1).train(), torch.randint(0, 9, (1, 7)).expand(2, -1)
    hidden = net.predicted(ids)[0].unflatten(0, (2, 7))
    assert not torch.allclose(hidden[0], hidden[1]), "one order for all rows"
    assert not torch.equal(net.predicted(ids)[0], net.predicted(ids)[0])
    assert torch.equal(net(ids), net(ids)), "from left to right nothing is drawn"
