"""One row of decoding in C against torch: products, and a whole decoder against its layers."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.decode.greedy import greedy
from headway.decode.state import pick
from headway.layers import compiled, one_row
from headway.layers import linear as linear_maps
from headway.layers.attention.attend import recorded
from headway.layers.feedforward import Feedforward
from headway.layers.steps import step_through
from headway.models.transformer import Config, Transformer

CLOSE = {"rtol": 1e-4, "atol": 1e-5}
pytestmark = pytest.mark.skipif(compiled.library() is None and not shutil.which("cc"), reason="headway was installed without a C compiler")


@pytest.fixture(params=[1, 2, 3], autouse=True)
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    compiled._load.__wrapped__()  # forgets that a thread was waited for, as in a suite it often is
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def net(heads: int = 2) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(Config(width=36, depth=2, heads=heads, inner=50), 70, 70).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return model


def test_it_was_compiled() -> None:
    assert compiled.library() is not None, "there is a C compiler: `pip install --editable .` must have made it"


def test_functions_of_an_older_version_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever updates the sources, and does not install them again, has those."""
    monkeypatch.setattr(compiled.ctypes, "CDLL", lambda path: object())
    assert compiled._load.__wrapped__() is None
    for made, used in ((compiled.INTERFACE - 1, False), (compiled.INTERFACE, True)):
        library = MagicMock()
        library.interface.return_value = made
        monkeypatch.setattr(compiled.ctypes, "CDLL", lambda path, library=library: library)
        assert (compiled._load.__wrapped__() is library) == used


@pytest.mark.parametrize("outputs, inputs", [(1, 1), (3, 5), (4, 16), (37, 100), (130, 33)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_product_is_that_of_torch(outputs: int, inputs: int, bias: bool) -> None:
    x, weight, added = torch.randn(1, 1, inputs), torch.randn(outputs, inputs), torch.randn(outputs) if bias else None
    torch.testing.assert_close(one_row.linear(x, weight, added), F.linear(x, weight, added), **CLOSE)


def test_linear_maps_use_it_for_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    called, linear = [], one_row.linear
    monkeypatch.setattr(one_row, "linear", lambda *given: called.append(given) or linear(*given))
    layer, x = linear_maps.Linear(512, 300), torch.randn(300, 512).t()[:, :1].t()  # with gaps between its numbers
    with torch.inference_mode():
        torch.testing.assert_close(layer(x), F.linear(x, layer.weight, layer.bias), **CLOSE)
        layer(torch.randn(2, 512))
        linear_maps.Linear(512, 200)(x)
    assert len(called) == 1, "two rows, and few weights, are torch's"


REFUSED = """
import torch
from headway.layers.linear import Linear
layer = Linear(512, 300)
with torch.inference_mode():
    for shape in ((1, 700), (1, 300), (256, 2)):
        try:
            layer(torch.randn(shape))
        except RuntimeError as problem:
            print(problem)
"""


def test_a_row_of_another_width_is_refused(threads: int) -> None:
    """More numbers than a row has, fewer, or as many: torch's error, not numbers from elsewhere. In tests, types are checked before."""
    if threads == 1:
        done = subprocess.run([sys.executable, "-c", REFUSED], capture_output=True, text=True, check=True)
        assert done.stdout.count("cannot be multiplied") == 3


def test_a_bias_with_gaps_is_read_right() -> None:
    layer, x = linear_maps.Linear(512, 300), torch.randn(1, 512)
    layer.bias = torch.nn.Parameter(torch.randn(300, 2)[:, 0])
    with torch.inference_mode():
        torch.testing.assert_close(layer(x), F.linear(x, layer.weight, layer.bias), **CLOSE)


def through(model: Transformer, x: Tensor, state: Any, memory: Any) -> Any:
    return step_through(model.decoder, model.decoder_norm, x, state, memory)


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("kept", [7, 4, 0])
@pytest.mark.parametrize("biased", [True, False])
def test_a_decoder_is_its_layers(heads: int, kept: int, biased: bool) -> None:
    """More positions than a cache has room for at first; keys that are padding, some or all of them."""
    model = net(heads)
    for layer in model.decoder.modules():
        if isinstance(layer, linear_maps.Linear) and not biased:
            layer.register_parameter("bias", None)
    keep = None if kept == 7 else torch.arange(7)[None] < kept
    with torch.inference_mode():
        encoded = torch.randn(1, 7, 36)
        memory, plain = (tuple(block.cross.remember(encoded, keep) for block in model.decoder) for _ in range(2))
        state = other = tuple(block.mixer.start(1) for block in model.decoder)
        for x in torch.randn(40, 1, 36):
            before = x.clone()
            y, state = through(model, x, state, memory)
            z, after = x, []
            for block, cache, seen in zip(model.decoder, other, plain, strict=True):
                z, cache = block.step(z, cache, seen)
                after.append(cache)
            other = tuple(after)
            torch.testing.assert_close(y, model.decoder_norm(z), **CLOSE)
            assert torch.equal(x, before), "what is given is not changed"
        for ours, theirs in zip(state, other, strict=True):
            torch.testing.assert_close(ours.k, theirs.k, **CLOSE)
            torch.testing.assert_close(ours.v, theirs.v, **CLOSE)


@pytest.mark.parametrize("part", ["query.weight", "feedforward.up.bias", "norm.weight", "added"])
@pytest.mark.parametrize("kept", [7, 3])
def test_what_is_not_a_number_is_passed_on(part: str, kept: int) -> None:
    """Damaged weights: the search says so, as it does with torch's steps."""
    model, keep = net(), torch.arange(7)[None] < kept
    block: Any = model.decoder[0]
    names = {"query.weight": block.cross.query.weight, "feedforward.up.bias": block.feedforward.up.bias}
    with torch.inference_mode():
        encoded = torch.randn(1, 7, 36)
        if part == "added":
            encoded[0, 0] = torch.nan
        else:
            names.get(part, block.around_mixer.norm.weight).fill_(torch.nan)
        memory = tuple(block.cross.remember(encoded, keep) for block in model.decoder)
        y, _ = through(model, torch.randn(1, 36), tuple(block.mixer.start(1) for block in model.decoder), memory)
    assert y.isnan().all()


def test_states_are_values() -> None:
    """Two continuations of one beginning, as beam search has them."""
    model = net()
    with torch.inference_mode():
        memory, state = model.read(torch.randint(4, 70, (1, 7)), torch.ones(1, 7, dtype=torch.bool))
        x, y = torch.randn(2, 1, 36)
        _, begin = through(model, x, state, memory)
        _, first = through(model, x, begin, memory)
        expected, _ = through(model, x, first, memory)
        through(model, y, begin, memory)
        found, _ = through(model, x, first, memory)
        torch.testing.assert_close(found, expected, **CLOSE, msg="another continuation of its beginning changed it")


def test_each_picked_sentence_keeps_its_own_memory() -> None:
    """Two sentences become one row each: the step of the first is not that of the second."""
    model, source = net(), torch.randint(4, 70, (2, 6))
    with torch.inference_mode():
        memory, state = model.read(source, source > 0)
        token = torch.tensor([5, 5])
        together, _ = model.step(token, state, memory)
        for row in (torch.tensor([0]), torch.tensor([1])):
            alone, _ = model.step(token[:1], *pick((state, memory), row))
            torch.testing.assert_close(alone, together[row], **CLOSE)


def test_the_words_are_those_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model, source = net(), torch.randint(4, 70, (1, 9))
    arguments = model, source, source > 0, 1, 2, [30]
    with_c = greedy(*arguments)[0]
    monkeypatch.setattr(compiled, "library", lambda: None)
    without = greedy(*arguments)[0]
    assert with_c.ids == without.ids and with_c.log_probability == pytest.approx(without.log_probability, abs=1e-3)


def test_changed_weights_are_seen_by_the_next_sentence() -> None:
    model, source = net(), torch.randint(4, 70, (1, 9))
    arguments = model, source, source > 0, 1, 2, [30]
    before = greedy(*arguments)[0]
    with torch.no_grad():
        model.decoder[1].feedforward.down.weight.mul_(-3)
    assert greedy(*arguments)[0] != before


def test_maps_are_recorded_also_after_a_step_in_c() -> None:
    model, source = net(), torch.randint(4, 70, (1, 9))
    with torch.inference_mode():
        memory, state = model.read(source, source > 0)
        plain, _ = model.step(torch.tensor([5]), state, memory)
        with recorded(model) as maps:
            watched, _ = model.step(torch.tensor([5]), state, memory)
    torch.testing.assert_close(plain, watched, **CLOSE)
    assert all(len(maps[f"decoder.{i}.{name}"]) == 1 for i in range(2) for name in ("mixer", "cross"))


def test_who_watches_the_last_norm_sees_it_called() -> None:
    model, source, seen = net(), torch.randint(4, 70, (1, 9)), list[Any]()
    model.decoder_norm.register_forward_hook(lambda *call: seen.append(call))
    greedy(model, source, source > 0, 1, 2, [3])
    assert len(seen) == 4


def test_what_c_does_not_compute_is_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another activation, weights of another kind of number, blocks of several sizes."""

    def refuse(*_: Any) -> Any:
        raise AssertionError("C was asked")

    monkeypatch.setattr(one_row, "DecoderStep", refuse)
    other, double, uneven = net(), net().double(), net()
    uneven.decoder[1].feedforward = Feedforward(36, 51)
    for block in other.decoder:
        block.feedforward.activation = torch.tanh
    source = torch.randint(4, 70, (1, 9))
    for model in (other, double, uneven.eval()):
        greedy(model, source, source > 0, 1, 2, [3])
    with pytest.raises(AssertionError, match="C was asked"):
        greedy(net(), source, source > 0, 1, 2, [3])
