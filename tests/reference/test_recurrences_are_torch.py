"""Recurrences against torch.nn.RNN, LSTM and GRU with copied weights, with sentences of unequal length packed."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from headway.core import registry
from headway.core.errors import ConfigError
from headway.layers.recurrences.bidirectional import Bidirectional
from headway.layers.recurrences.elman import Elman
from headway.layers.recurrences.gru import GRU
from headway.layers.recurrences.lru import LRU
from headway.layers.recurrences.lstm import LSTM
from headway.layers.recurrences.recurrence import GatedRecurrence
from headway.layers.recurrences.stacked import Stacked

pytestmark = pytest.mark.usefixtures("doubles")
B, T, N, D = 3, 7, 5, 11  # batch, positions, inputs, width
LENGTHS = [7, 4, 1]
KEEP = torch.arange(T)[None, :] < torch.tensor(LENGTHS)[:, None]
CELLS = [(Elman, nn.RNN), (LSTM, nn.LSTM), (GRU, nn.GRU)]
EACH = pytest.mark.parametrize(("cell", "module"), CELLS, ids=["elman", "lstm", "gru"])
CLOSE = {"rtol": 0.0, "atol": 1e-12}


def copy(ours: GatedRecurrence, reference: Any, suffix: str) -> None:
    """Put our weights into torch's layer `suffix` (`l0`, `l1_reverse` ...)."""
    with torch.no_grad():
        for name, linear in (("ih", ours.input), ("hh", ours.hidden)):
            getattr(reference, f"weight_{name}_{suffix}").copy_(linear.weight)
            getattr(reference, f"bias_{name}_{suffix}").copy_(linear.bias)


def packed(reference: Any, x: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Outputs (zero at padding) and last states of torch on sentences of unequal length."""
    y, last = reference(pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first=True))
    return pad_packed_sequence(y, batch_first=True)[0], last if isinstance(last, tuple) else (last,)


@EACH
def test_one_layer(cell: Any, module: Any) -> None:
    ours, reference = cell(N, D), module(N, D, batch_first=True)
    copy(ours, reference, "l0")
    x = torch.randn(B, T, N, requires_grad=True)
    z = x.detach().clone().requires_grad_()
    expected, last = reference(z)
    found, state = ours.scan(x)
    torch.testing.assert_close(found, expected, **CLOSE)
    for mine, theirs in zip(state, last if isinstance(last, tuple) else (last,), strict=True):
        torch.testing.assert_close(mine, theirs[0], **CLOSE)
    found.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(x.grad, z.grad, **CLOSE)
    torch.testing.assert_close(ours.hidden.weight.grad, reference.weight_hh_l0.grad, **CLOSE)


@EACH
def test_sentences_of_unequal_length(cell: Any, module: Any) -> None:
    ours, reference, x = cell(N, D), module(N, D, batch_first=True), torch.randn(B, T, N)
    copy(ours, reference, "l0")
    expected, last = packed(reference, x)
    found, state = ours.scan(x, KEEP)
    torch.testing.assert_close(found[KEEP], expected[KEEP], **CLOSE)
    for mine, theirs in zip(state, last, strict=True):
        torch.testing.assert_close(mine, theirs[0], **CLOSE)


@EACH
def test_both_directions(cell: Any, module: Any) -> None:
    ours, reference, x = Bidirectional(cell, N, 2 * D), module(N, D, batch_first=True, bidirectional=True), torch.randn(B, T, N)
    copy(ours.ahead, reference, "l0")
    copy(ours.back, reference, "l0_reverse")
    torch.testing.assert_close(ours(x), reference(x)[0], **CLOSE)
    expected, last = packed(reference, x)
    found, state = ours.scan(x, KEEP)
    torch.testing.assert_close(found[KEEP], expected[KEEP], **CLOSE)
    for mine, theirs in zip(state, last, strict=True):
        torch.testing.assert_close(mine, torch.cat((theirs[0], theirs[1]), -1), **CLOSE)


@EACH
def test_stacked_layers(cell: Any, module: Any) -> None:
    ours, reference = Stacked([cell(N, D), cell(D, D), cell(D, D)]), module(N, D, num_layers=3, batch_first=True)
    for number, layer in enumerate(ours.layers):
        copy(layer, reference, f"l{number}")
    x = torch.randn(B, T, N)
    expected, last = packed(reference, x)
    found, states = ours.scan(x, KEEP)
    torch.testing.assert_close(found[KEEP], expected[KEEP], **CLOSE)
    for number, state in enumerate(states):
        for mine, theirs in zip(state, last, strict=True):
            torch.testing.assert_close(mine, theirs[number], **CLOSE)
    torch.testing.assert_close(ours.scan(x, None, states)[0], reference(x, last if len(last) > 1 else last[0])[0], **CLOSE)


@EACH
def test_stacked_and_in_both_directions(cell: Any, module: Any) -> None:
    ours = Stacked([Bidirectional(cell, N, 2 * D), Bidirectional(cell, 2 * D, 2 * D)])
    reference = module(N, D, num_layers=2, batch_first=True, bidirectional=True)
    for number, layer in enumerate(ours.layers):
        copy(layer.ahead, reference, f"l{number}")
        copy(layer.back, reference, f"l{number}_reverse")
    x = torch.randn(B, T, N)
    torch.testing.assert_close(ours(x, KEEP)[KEEP], packed(reference, x)[0][KEEP], **CLOSE)


def test_the_forget_gate_starts_open() -> None:
    lstm = LSTM(N, 1000)
    i, f, g, o = lstm.input.bias.detach().view(4, 1000).mean(1).tolist()
    assert f == pytest.approx(1.0, abs=0.01) and [i, g, o] == pytest.approx([0.0] * 3, abs=0.01)


@EACH
def test_the_kernel_equals_the_written_out_cell(cell: Any, module: Any) -> None:
    """From a state that is not zero; outputs, last states and gradients."""
    ours, x = cell(N, D), torch.randn(B, T, N, requires_grad=True)
    before = tuple(torch.randn(B, D, requires_grad=True) for _ in range(ours.vectors))
    leaves, results = [x, *before, *ours.parameters()], []
    for kernel in (ours.fused, None):
        ours.fused = kernel
        y, state = ours.scan(x, None, before)
        loss = sum((z * z.detach().cos()).sum() for z in (y, *state))
        results.append((y, *state, *torch.autograd.grad(loss, leaves)))
    for fused, written in zip(*results, strict=True):
        torch.testing.assert_close(fused, written, **CLOSE)


@EACH
def test_the_kernel_is_used_where_nothing_stands_still(cell: Any, module: Any) -> None:
    ours, x, calls = cell(N, D), torch.randn(B, T, N), []
    kernel = ours.fused
    ours.fused = lambda *a, **k: calls.append(a) or kernel(*a, **k)
    ours(x), ours(x, KEEP), ours.scan(x, torch.ones_like(KEEP))
    assert len(calls) == 3
    ours.scan(x, KEEP)
    assert len(calls) == 3


RECURRENCES = [e.load() for e in registry.entries("recurrences").values() if e.facts.get("sees") == "past"]


@pytest.mark.parametrize("kind", RECURRENCES, ids=lambda kind: kind.__name__)
def test_any_recurrence_reads_in_both_directions(kind: Any) -> None:
    """Each row alone, its tokens reversed by hand: the second half is the backward layer's answer, reversed again."""
    assert len(RECURRENCES) >= 10
    ours, x = Bidirectional(kind, N, 2 * D).eval(), torch.randn(B, T, N)
    y = ours(x, KEEP)
    for row, length in enumerate(KEEP.sum(1).tolist()):
        tokens = x[row, :length]
        ahead, back = ours.ahead(tokens[None])[0], ours.back(torch.stack(list(tokens)[::-1])[None])[0]
        torch.testing.assert_close(y[row, :length], torch.cat((ahead, torch.stack(list(back)[::-1])), -1), **CLOSE)


def test_both_directions_take_options_and_refuse_what_cannot_be() -> None:
    ours = Bidirectional(LRU, N, 2 * D, {"states": 6})
    assert len(ours.ahead.nu) == len(ours.back.nu) == 6
    with pytest.raises(ConfigError, match="the last state of `LRU` is not one vector"):
        ours.scan(torch.randn(B, T, N))
    with pytest.raises(ConfigError, match="`width` is 7, expected an even number"):
        Bidirectional(LRU, N, 7)
