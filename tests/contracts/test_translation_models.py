"""What every translation model owes, as it comes and with every value of every choice it offers."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tiny import BATCH, BOS, EOS, PAD, SMALL, TRANSLATE, VOCABULARY, build, model, models, options, sentences
from torch import Tensor, nn

from headway.core.config import from_json, to_json
from headway.core.errors import RunError
from headway.core.files import read_tensors, write_tensors
from headway.data.batches import PairBatch, PairBatches
from headway.decode.greedy import greedy
from headway.models.encoder_decoder import EncoderDecoder
from headway.models.weights import load_tensors, saved_tensors

CASES = list(options(TRANSLATE))
EVERY = pytest.mark.parametrize(("name", "chosen"), CASES, ids=[f"{n} {c}" for n, c in CASES])
NAMES = pytest.mark.parametrize("name", [entry.name for entry in models(TRANSLATE)])
CLOSE = {"rtol": 0.0, "atol": 1e-10}


def batch(sources: list[int], targets: list[int], seed: int = 11) -> PairBatch:
    """Sentences of these lengths in one batch, the end mark not counted."""
    rows = (sentences(sources, seed), sentences(targets, seed + 1))
    return PairBatches(*rows, budget=10**6, seed=0, special=(PAD, BOS, EOS)).collect(range(len(sources)))


def hidden(net: Any, b: PairBatch) -> Tensor:
    return net(b.source, b.keep, b.target)


def test_the_room_is_covered() -> None:
    assert {"transformer", "rnn_seq2seq", "attention_seq2seq"} <= {name for name, _ in CASES}
    assert ("transformer", {"norm": "post"}) in CASES and ("attention_seq2seq", {"score": "dot"}) in CASES
    orders = {chosen["order"] for _, chosen in CASES if "order" in chosen}
    mixers = {chosen["mixer"] for _, chosen in CASES if "mixer" in chosen}
    assert orders == {"feeding", "bahdanau"} and "transformer_xl" not in mixers
    assert {"linformer", "performer", "longformer", "big_bird", "hopfield", "lstm", "s4", "s5", "lru", "mamba"} <= mixers


@EVERY
def test_configuration_survives_json(name: str, chosen: dict[str, Any]) -> None:
    config = model(name, chosen).config
    assert from_json(type(config), json.loads(json.dumps(to_json(config))), "config.json") == config
    assert from_json(type(config), chosen, "config.json") == dataclasses.replace(type(config)(), **chosen)


@EVERY
def test_weights_survive_a_file(tmp_path: Path, name: str, chosen: dict[str, Any]) -> None:
    net, other, b = model(name, chosen), model(name, chosen, seed=38), batch([4, 2, 1], [6, 3, 1])
    path = tmp_path / "weights.safetensors"
    write_tensors(path, saved_tensors(net))
    tensors = read_tensors(path)
    assert not torch.equal(hidden(other, b), hidden(net, b))
    load_tensors(other, tensors, path)
    assert torch.equal(other.logits(hidden(other, b)), net.logits(hidden(net, b)))


@NAMES
def test_weights_of_another_model_are_refused_whole(name: str) -> None:
    net = model(name, {})
    before = {n: p.clone() for n, p in net.named_parameters()}
    wrong = {n: p + 1 for n, p in net.named_parameters()}
    first, *_, last = wrong
    for damage in ({first: wrong[first][..., :-1]}, {last: wrong[last].double()}):
        with pytest.raises(RunError, match="does not hold this model"):
            load_tensors(net, wrong | damage, Path("w.safetensors"))
    with pytest.raises(RunError, match=f"`{last}` is missing"):
        load_tensors(net, {n: t for n, t in wrong.items() if n != last}, Path("w.safetensors"))
    assert all(torch.equal(p, before[n]) for n, p in net.named_parameters())


@EVERY
def test_reading_and_stepping_equals_forward(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    net, b = model(name, chosen), batch([4, 2, 1], [6, 3, 1])
    assert isinstance(net, EncoderDecoder) and torch.equal(net.logits(hidden(net, b)), F.linear(hidden(net, b), net.output.weight))
    whole, (memory, state) = hidden(net, b), net.read(b.source, b.keep)
    assert whole.shape == (BATCH, 7, SMALL["width"]) and net.logits(whole).shape == (BATCH, 7, VOCABULARY)
    for t in range(b.target.shape[1]):
        h, state = net.step(b.target[:, t], state, memory)
        torch.testing.assert_close(h, whole[:, t], **CLOSE)


@EVERY
def test_neither_padding_nor_company_matters(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    """Each sentence in a padded batch gives what it gives alone, whatever stands in the padding."""
    net, b = model(name, chosen), batch([4, 2, 1], [6, 3, 1])
    rubbish = dataclasses.replace(b, source=torch.where(b.keep, b.source, 7), target=torch.where(b.wanted != PAD, b.target, 8))
    for together in (hidden(net, b), hidden(net, rubbish)):
        for row in range(BATCH):
            s, t = int(b.keep[row].sum()), int((b.wanted[row] != PAD).sum())
            alone = net(b.source[row : row + 1, :s], b.keep[row : row + 1, :s], b.target[row : row + 1, :t])
            torch.testing.assert_close(together[row, :t], alone[0], **CLOSE)


@EVERY
def test_the_future_is_not_seen_and_the_source_is(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    net, b = model(name, chosen), batch([4, 2, 1], [6, 6, 6])
    y = hidden(net, b)
    for t in range(1, 7):
        later = b.target.clone()
        later[:, t:] = (later[:, t:] + 1) % VOCABULARY
        changed = hidden(net, dataclasses.replace(b, target=later))
        torch.testing.assert_close(changed[:, :t], y[:, :t], rtol=0.0, atol=1e-12)
        assert (changed[:, t] - y[:, t]).abs().amax(-1).min() > 1e-6, "the present is not seen"
    for s in range(5):
        source = b.source.clone()
        source[:, s] = (source[:, s] + 1) % VOCABULARY
        moved = (hidden(net, dataclasses.replace(b, source=source)) - y).abs().amax((1, 2))
        assert bool((moved > 1e-9).eq(b.keep[:, s]).all()), f"source position {s}: padding is seen, or a word is not"


@EVERY
def test_every_parameter_gets_a_gradient(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    net, b = model(name, chosen).train(), batch([4, 2, 1], [6, 3, 1])
    F.cross_entropy(net.logits(hidden(net, b)).flatten(0, 1), b.wanted.flatten(), ignore_index=PAD).backward()
    assert not [n for n, p in net.named_parameters() if p.grad is None or not p.grad.abs().max() > 1e-9]


@EVERY
def test_eval_is_deterministic_and_training_is_not(name: str, chosen: dict[str, Any]) -> None:
    net, b = model(name, {"dropout": 0.3} | chosen), batch([4, 2, 1], [6, 3, 1])
    assert torch.equal(hidden(net, b), hidden(net, b))
    net.train()
    assert not torch.equal(hidden(net, b), hidden(net, b))
    torch.manual_seed(5)
    first = hidden(net, b)
    torch.manual_seed(5)
    assert torch.equal(hidden(net, b), first), "dropout is a function of the seed"


@NAMES
def test_a_shared_embedding_is_one_and_separate_ones_are_two(name: str) -> None:
    for share, matrices in ((True, 1), (False, 2)):
        assert [p.shape[0] for p in model(name, {"share": share}, 23).parameters()].count(23) == matrices
    shared, b = model(name, {"share": True}), batch([4, 2, 1], [6, 3, 1])
    before = shared.logits(hidden(shared, b)).detach()
    with torch.no_grad():
        shared.target.weight[EOS] *= 2
    after = shared.logits(hidden(shared, b))
    assert not torch.allclose(after[..., EOS], before[..., EOS]), "the output matrix is not the embedding"
    assert not torch.allclose(after[..., 5], before[..., 5]), "the source embedding is not the output matrix"


@EVERY
def test_one_batch_is_learned_by_heart(name: str, chosen: dict[str, Any]) -> None:
    """Four pairs of random ids; afterwards greedy decoding writes them down."""
    torch.manual_seed(41)
    net: nn.Module = build(name, {"depth": 1} | chosen)
    b = batch([4, 3, 2, 2], [5, 4, 3, 1])
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(500):
        loss = F.cross_entropy(net.logits(hidden(net, b)).flatten(0, 1), b.wanted.flatten(), ignore_index=PAD)  # type: ignore[operator]
        if loss < 0.03:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.03
    wanted = [tuple(t for t in row if t not in (PAD, EOS)) for row in b.wanted.tolist()]
    assert [h.ids for h in greedy(net.eval(), b.source, b.keep, BOS, EOS, [9] * 4)] == wanted
