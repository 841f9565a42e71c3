"""What makes decoding fast changes nothing: weights laid out for it, caches with room, blocks of maxima, batches side by side."""

import copy
import pickle
import threading
from typing import Any

import pytest
import torch

from headway.core.side_by_side import side_by_side
from headway.decode.greedy import greedy
from headway.decode.largest import largest
from headway.decode.state import pick
from headway.layers.attention.attend import _softmax
from headway.layers.attention.cache import ROOM, Cache
from headway.layers.attention.cross import Cross, Remembered
from headway.layers.block import CrossBlock
from headway.layers.embedding import Embedding
from headway.layers.linear import Linear
from headway.layers.masks import Causal, Window
from headway.layers.steps import step_through
from headway.models.transformer import Config, Transformer


def test_packed_weights_give_the_same_logits_and_follow_the_weights() -> None:
    embedding, hidden = Embedding(300, 32), torch.randn(9, 32)
    expected = (hidden @ embedding.weight.T).detach()
    with torch.inference_mode():
        torch.testing.assert_close(embedding.logits(hidden), expected)
    with torch.no_grad():
        embedding.weight.mul_(3)
    with torch.inference_mode():
        torch.testing.assert_close(embedding.logits(hidden), 3 * expected)
        torch.testing.assert_close(copy.deepcopy(embedding).logits(hidden[:2]), 3 * expected[:2])


def test_side_by_side_keeps_the_order_and_the_threads() -> None:
    before, seen = torch.get_num_threads(), set()
    torch.set_num_threads(2)
    try:
        both = threading.Barrier(2, timeout=20)

        def work(item: int) -> int:
            seen.add((threading.get_ident(), torch.get_num_threads()))
            both.wait()  # two at a time, or this never ends
            return item * item

        assert side_by_side(work, range(4)) == [0, 1, 4, 9]
        assert {threads for _, threads in seen} == {1} and len(seen) == 2
        assert torch.get_num_threads() == 2, "the threads of the caller are given back"
        with pytest.raises(ValueError, match="three"):
            side_by_side(lambda item: (_ for _ in ()).throw(ValueError("three")), [3, 3])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    "change",
    [
        lambda e, w: e.load_state_dict({"weight": w}, assign=True),
        lambda e, w: setattr(e.weight, "data", w),
        lambda e, w: torch.nn.utils.vector_to_parameters(w.flatten(), e.parameters()),
        lambda e, w: e.to(torch.bfloat16).to(torch.float32),
        lambda e, w: setattr(e, "weight", torch.nn.Parameter(w)),
    ],
    ids=["assign", "data", "vector", "to and fro", "parameter"],
)
def test_packed_weights_follow_new_storage(change: Any) -> None:
    """New numbers at another address need not have another version."""
    embedding, hidden, weight = Embedding(300, 32), torch.randn(9, 32), torch.randn(300, 32)
    with torch.inference_mode():
        embedding.logits(hidden)
    change(embedding, weight)
    with torch.inference_mode():
        torch.testing.assert_close(embedding.logits(hidden), hidden @ embedding.weight.T, rtol=0.0, atol=1e-5)


def test_the_address_of_old_weights_is_not_given_to_new_ones() -> None:
    embedding, hidden = Embedding(300, 32), torch.randn(9, 32)
    for _ in range(20):  # storage is freed and taken again, often at the same place
        with torch.inference_mode():
            torch.testing.assert_close(embedding.logits(hidden), hidden @ embedding.weight.T, rtol=0.0, atol=1e-5)
        embedding.weight.data = torch.empty(0)
        embedding.weight.data = torch.randn(300, 32)


@pytest.mark.parametrize("sizes", [(32, 96), (96, 32), (32, 32)], ids=str)
@pytest.mark.parametrize("shape", [(1,), (1, 1), (5,), (2, 3), (0,)], ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_linear_maps_are_laid_out_for_decoding(sizes: tuple[int, int], shape: tuple[int, ...], bias: bool) -> None:
    linear, x = Linear(*sizes, bias=bias), torch.randn(*shape, sizes[0])
    for _ in range(3):
        expected = torch.nn.functional.linear(x, linear.weight, linear.bias).detach()
        with torch.inference_mode():
            torch.testing.assert_close(linear(x), expected)
            torch.testing.assert_close(pickle.loads(pickle.dumps(linear))(x), expected)
        with torch.no_grad():
            linear.weight.mul_(3)
    assert (linear.layouts.few is not None) == (x.numel() > sizes[0]), "laid out for several rows, not for one"
    linear.double()
    with torch.inference_mode():
        torch.testing.assert_close(linear(x.double()), torch.nn.functional.linear(x.double(), linear.weight, linear.bias))


@pytest.mark.parametrize("vocabulary", [64 * 40, 64 * 40 + 1, 64 * 41 - 1, 7])
@pytest.mark.parametrize("count", [1, 7])
def test_the_largest_entries_are_those_of_topk(vocabulary: int, count: int) -> None:
    values, added = torch.randn(6, 3, vocabulary), torch.randn(6, 3)
    values[0, 1, -2:] = values[1, 2, -1] = values[3, 1, -1] = values[3, 2, 0] = 50.0  # at the edges of the last, short block
    values[2, :, :] = float("-inf")
    values[2, 0, 3] = 0.0
    for given in (None, added):
        best, place = largest(values, count, given)
        row = (values if given is None else values + given[..., None]).flatten(1)
        torch.testing.assert_close(best, row.topk(count)[0], rtol=0.0, atol=0.0)
        assert torch.equal(row.gather(1, place), best)
        finite = [place[i, best[i] > float("-inf")].tolist() for i in range(6)]
        assert all(len(set(places)) == len(places) for places in finite)


def test_the_first_of_equal_entries_is_the_largest() -> None:
    values = torch.zeros(4, 1, 3000)
    values[:, 0, [700, 1900, 2999]] = 1.0
    assert largest(values, 1)[1].tolist() == [[700]] * 4


@pytest.mark.parametrize("reach", [None, 3])
def test_a_cache_is_a_value_however_it_grows(reach: int | None) -> None:
    """Two ways from one beginning, rows in another order, more positions than there was room for."""
    with torch.inference_mode():
        k, v = torch.randn(2, 2 * ROOM + 3, 3, 2, 1, 4)
        other, rows = torch.randn(3, 2, 1, 4), torch.tensor([2, 0, 0, 1])
        empty = torch.empty(0, 3, 2, 4)
        cache, begin = Cache(empty, empty), 0
        for t in range(len(k)):
            before, cache = cache, cache.append(k[t], v[t], reach)
            away = before.append(other, other, reach)
            begin = 0 if reach is None else max(0, t + 1 - reach)
            seen = torch.cat(tuple(k[begin : t + 1]), 2)
            assert torch.equal(cache.k, seen) and torch.equal(cache.v, torch.cat(tuple(v[begin : t + 1]), 2)), t
            assert torch.equal(away.k, torch.cat((seen[:, :, :-1], other), 2)), t
            assert torch.equal(pick(cache, rows).k, seen[rows]) and cache.past == t + 1
            assert torch.equal(pick(cache, rows).append(k[t][rows], v[t][rows]).v[:, :, -1:], v[t][rows])
    assert len(cache.keys) <= (4 * ROOM + 6 if reach is None else 2 * ROOM), "a window keeps no more than it needs"


def test_a_cache_does_not_copy_what_it_holds() -> None:
    with torch.inference_mode():
        step, empty = torch.randn(3, 2, 1, 4), torch.empty(0, 3, 2, 4)
        first = Cache(empty, empty).append(step, step)
        last = first
        for _ in range(ROOM - 1):
            last = last.append(step, step)
        assert last.keys.data_ptr() == first.keys.data_ptr() != last.append(step, step).keys.data_ptr()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kept", [5, 3, 0])
def test_folded_cross_attention_is_cross_attention(bias: bool, kept: int) -> None:
    cross, x, keep = Cross(24, 2).double(), torch.randn(4, 24).double(), torch.arange(5)[None] < kept
    if not bias:
        for layer in (cross.query, cross.memory, cross.output):
            layer.register_parameter("bias", None)
    with torch.no_grad():
        seen = cross.remember(torch.randn(1, 5, 24).double(), None if kept == 5 else keep)
        y = cross.step(x, seen)
        assert seen.folded is not None
        plain = Remembered(seen.k, seen.v, seen.keep)
        torch.testing.assert_close(y, cross(x[None], plain)[0], rtol=0.0, atol=1e-12)
        assert plain.folded is None


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("phi", [torch.relu_, torch.tanh])
def test_a_step_written_out_is_the_step_of_its_layers(rows: int, phi: Any) -> None:
    """Three hypotheses of one sentence, or one; with weights that change between two sentences."""
    net: Any = Transformer(Config(width=32, depth=1, heads=2, inner=64), 9, 9).eval()
    block = net.decoder[0]
    block.feedforward.activation = phi
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    for _ in range(2):
        with torch.inference_mode():
            seen, plain = (block.cross.remember(y, None) for y in (torch.randn(1, 5, 32),) * 2)
            other = block.mixer.start(rows)
            state: Any = (other,)
            for x in torch.randn(4, rows, 32):
                y, state = step_through(net.decoder, net.decoder_norm, x, state, (seen,))
                z, other = block.step(x, other, plain)
                torch.testing.assert_close(y, net.decoder_norm(z))
            torch.testing.assert_close(state[0].k, other.k, rtol=0.0, atol=1e-5)
            assert list(seen.steps) == [rows == 1] and not plain.steps
        with torch.no_grad():
            block.mixer.project.weight.mul_(2)


def test_a_step_is_not_written_out_where_it_would_leave_something_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dropout, somebody who watches a layer, connections and masks of another kind."""
    plain = CrossBlock.step

    def written_out(net: Transformer) -> bool:
        calls = list[Any]()
        monkeypatch.setattr(CrossBlock, "step", lambda *given: calls.append(given) or plain(*given))
        with torch.inference_mode():
            memory = (net.decoder[0].cross.remember(torch.randn(1, 5, 32), None),)
            step_through(net.decoder, net.decoder_norm, torch.randn(2, 32), (net.decoder[0].mixer.start(2),), memory)
        return not calls

    def net(**options: Any) -> Transformer:
        return Transformer(Config(width=32, depth=1, heads=2, inner=64, **options), 9, 9).eval()

    watched, windowed, seen = net(), net(), list[Any]()
    watched.decoder[0].feedforward.up.register_forward_hook(lambda *call: seen.append(call))
    windowed.decoder[0].mixer.mask = Causal() & Window(2)
    other = net()
    other.decoder[0].cross.query = torch.nn.Linear(32, 32)
    assert not written_out(other)
    assert written_out(net()) and not written_out(net().train())
    assert not written_out(watched) and len(seen) == 1
    assert not written_out(windowed) and not written_out(net(norm="post")) and not written_out(net(norm="deep"))


def test_a_sentence_alone_is_decoded_as_in_a_batch_of_many() -> None:
    """In float32, with enough rows, keys and words for every faster way."""
    torch.manual_seed(5)
    net = Transformer(Config(width=32, depth=2, heads=2, inner=64), 700, 700).eval()
    source = torch.randint(4, 700, (20, 9))
    arguments = source, source > 0, 1, 2
    together = greedy(net, *arguments, [19] * 20)
    for i, hypothesis in enumerate(together):
        alone = greedy(net, *(y[i : i + 1] for y in arguments[:2]), 1, 2, [19])[0]
        assert alone.ids == hypothesis.ids and alone.log_probability == pytest.approx(hypothesis.log_probability, abs=1e-4)


def test_many_hypotheses_of_few_words_have_no_blocks() -> None:
    values = torch.randn(2, 20, 40)
    assert torch.equal(largest(values, 1)[1][:, 0], values.flatten(1).argmax(1))


@pytest.mark.parametrize("keys", [1, 3, 15, 16, 17])
def test_softmax_of_few_keys(keys: int) -> None:
    torch.manual_seed(0)
    e = torch.randn(2, 3, 4, keys, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(_softmax(e), e.softmax(-1))
    assert torch.autograd.gradcheck(_softmax, (e,))
