"""What every language model owes: gpt with every choice it offers and with every causal mixer there is, and XLNet."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tiny import BATCH, SMALL, VOCABULARY, WRITE, build, model, models, options
from torch import Tensor

from headway.core.config import from_json, to_json
from headway.core.files import read_tensors, write_tensors
from headway.decode.sample import Reader, sample
from headway.models.decoder import LanguageModel
from headway.models.weights import load_tensors, saved_tensors

LENGTH = 9  # longer than the context of 5: what falls out of the window must fall out of both
CASES = [(name, chosen) for name, chosen in options(WRITE) if not (name == "gpt" and chosen == {"position": "learned"})]
EVERY = pytest.mark.parametrize(("name", "chosen"), CASES, ids=[f"{n} {c}" for n, c in CASES])
CLOSE = {"rtol": 0.0, "atol": 1e-10}


def words(seed: int = 11, length: int = LENGTH) -> Tensor:
    return torch.randint(3, VOCABULARY, (BATCH, length), generator=torch.Generator().manual_seed(seed))


def test_the_room_is_covered() -> None:
    mixers = {chosen["mixer"] for name, chosen in CASES if "mixer" in chosen}
    assert {"elman", "lstm", "gru", "min_gru", "min_lstm", "lru", "s4", "s5", "mamba", "antisymmetric", "lipschitz"} <= mixers
    assert {"performer", "big_bird", "longformer", "transformer_xl", "hopfield"} <= mixers and "linformer" not in mixers
    assert any(model(name, chosen).memory for name, chosen in CASES)
    assert {"gpt", "xlnet"} <= {entry.name for entry in models(WRITE)}


@EVERY
def test_configuration_and_weights_survive(tmp_path: Path, name: str, chosen: dict[str, Any]) -> None:
    net, other = model(name, chosen), model(name, chosen, seed=38)
    assert from_json(type(net.config), json.loads(json.dumps(to_json(net.config))), "config.json") == net.config
    path = tmp_path / "weights.safetensors"
    write_tensors(path, saved_tensors(net))
    assert not torch.equal(other(words()), net(words()))
    load_tensors(other, read_tensors(path), path)
    assert torch.equal(other.logits(other(words())), net.logits(net(words())))


@EVERY
def test_stepping_equals_forward(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    net, ids = model(name, chosen), words()
    assert isinstance(net, LanguageModel)
    whole, state = net(ids), net.start(BATCH)
    assert whole.shape == (BATCH, LENGTH, SMALL["width"]) and net.logits(whole).shape == (BATCH, LENGTH, VOCABULARY)
    for t in range(LENGTH):
        h, state = net.step(ids[:, t], state)
        torch.testing.assert_close(h, whole[:, t], **CLOSE)


@EVERY
def test_outside_of_training_every_position_is_predicted(name: str, chosen: dict[str, Any]) -> None:
    net, ids = model(name, chosen), words()
    hidden, counted = net.predicted(ids)
    assert torch.equal(hidden, net(ids).flatten(0, 1)) and bool(counted.all()) and counted.shape == ids.shape


@EVERY
def test_the_past_is_seen_as_far_as_the_memory_says(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    net, ids = model(name, chosen), words()
    past = words(seed=12, length=net.memory + 2)
    if net.memory == 0:
        assert torch.equal(net(ids, past), net(ids))
        return
    assert (net(ids, past) - net(ids))[:, 0].abs().amax(-1).min() > 1e-6, "the past is not seen"
    further = past.clone()
    further[:, :2] = (further[:, :2] + 1) % VOCABULARY
    assert torch.equal(net(ids, further), net(ids, past)), "further back than the memory"


@EVERY
def test_cached_generation_equals_uncached(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    """Token for token, each time the whole text again, also beyond the context."""
    net, ids = model(name, chosen).requires_grad_(False), words(length=3)
    cached = torch.stack(list(islice(sample(net, ids, 0.0, None, 1.0, seed=1), 8)), 1)
    for _ in range(8):
        ids = torch.cat((ids, net.logits(net(ids))[:, -1].argmax(-1, keepdim=True)), 1)
    assert torch.equal(cached, ids[:, 3:])


@EVERY
def test_the_future_is_not_seen_and_the_present_is(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    net, ids = model(name, chosen), words()
    y = net(ids)
    for t in range(LENGTH):
        later = ids.clone()
        later[:, t:] = (later[:, t:] + 1) % VOCABULARY
        changed = net(later)
        torch.testing.assert_close(changed[:, :t], y[:, :t], rtol=0.0, atol=1e-12)
        assert (changed[:, t] - y[:, t]).abs().amax(-1).min() > 1e-6, "the present is not seen"


@EVERY
def test_company_does_not_matter(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    net, ids = model(name, chosen), words()
    for row in range(BATCH):
        torch.testing.assert_close(net(ids[row : row + 1])[0], net(ids)[row], **CLOSE)


@EVERY
def test_every_parameter_gets_a_gradient(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    net, ids = model(name, chosen).train(), words()
    F.cross_entropy(net.logits(net(ids[:, :-1])).flatten(0, 1), ids[:, 1:].flatten()).backward()
    assert not [n for n, p in net.named_parameters() if p.grad is None or not p.grad.abs().max() > 1e-9]


@EVERY
def test_eval_is_deterministic(name: str, chosen: dict[str, Any]) -> None:
    net = model(name, chosen)
    assert torch.equal(net(words()), net(words()))


@EVERY
def test_one_batch_is_learned_by_heart(name: str, chosen: dict[str, Any]) -> None:
    torch.manual_seed(41)
    net = build(name, {"depth": 1} | chosen)
    ids = words(length=6)
    ids[:, 0] = torch.arange(BATCH)  # the first token tells the texts apart
    optimizer = torch.optim.Adam(net.parameters(), lr=0.005)
    for _ in range(500):
        hidden, counted = net.predicted(ids[:, :-1])
        loss = F.cross_entropy(net.logits(hidden), ids[:, 1:][counted])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss < 0.03:
            break
    written = torch.stack(list(islice(sample(net.eval(), ids[:, :1], 0.0, None, 1.0, seed=1), 5)), 1)
    assert torch.equal(written, ids[:, 1:])


ABSOLUTE = [("gpt", {"position": "learned"}), ("gpt", {"position": "sinusoidal"}), ("gpt", {"mixer": "performer"}), ("xlnet", {})]


@pytest.mark.parametrize(("name", "chosen"), ABSOLUTE, ids=[f"{n} {c}" for n, c in ABSOLUTE])
def test_a_model_that_counts_places_is_asked_for_none_it_has_not_learned(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    """Five places, eighteen tokens: before the sixth, the last two are read again as the first. Written out without states."""
    net, ids = model(name, chosen).requires_grad_(False), words(length=7)
    made = torch.stack(list(islice(sample(net, ids, 0.0, None, 1.0, 1, longest=5), 11)), 1)
    text, first = torch.cat((ids, made), 1), 0
    for end in range(7, 18):
        while end - first > 5:
            first += 3  # positions first .. first + 4 are full; first + 3 and first + 4 are kept
        assert torch.equal(net.logits(net(text[:, first:end]))[:, -1].argmax(-1), text[:, end])


def test_a_model_that_counts_no_places_reads_on(doubles: None) -> None:
    net = model("gpt", {"mixer": "lstm"}).requires_grad_(False)
    reader, ids = Reader(net, longest=5), words(length=17)
    hidden = [reader.read(token) for token in ids.T]
    torch.testing.assert_close(torch.stack(hidden, 1), net(ids), **CLOSE)
