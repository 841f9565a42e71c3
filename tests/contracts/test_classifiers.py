"""What every model owes that gives one vector for an example, as it comes and with every value of every choice it offers."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tiny import ACROSS, BATCH, CHANNELS, CLASSES, CLASSIFY, HEIGHT, SEE, SOURCE, VOCABULARY, build, model, options
from torch import Tensor

from headway.core.config import from_json, to_json
from headway.core.files import read_tensors, write_tensors
from headway.models.classifier import Classifier
from headway.models.weights import load_tensors, saved_tensors

TEXTS, PICTURES = list(options(CLASSIFY)), list(options(SEE))
CASES = [(CLASSIFY, *case) for case in TEXTS] + [(SEE, *case) for case in PICTURES]
EVERY = pytest.mark.parametrize(("kind", "name", "chosen"), CASES, ids=[f"{n} {c}" for _, n, c in CASES])
EVERY_TEXT = pytest.mark.parametrize(("name", "chosen"), TEXTS, ids=[f"{n} {c}" for n, c in TEXTS])
CLOSE = {"rtol": 0.0, "atol": 1e-10}
Kind = tuple[str, str]


def examples(kind: Kind, count: int = BATCH) -> tuple[Tensor, ...]:
    """Texts of different lengths, or pictures."""
    generator = torch.Generator().manual_seed(11)
    if kind == SEE:
        return (torch.rand(count, CHANNELS, HEIGHT, ACROSS, generator=generator),)
    ids = torch.randint(3, VOCABULARY, (count, SOURCE), generator=generator)
    return ids, torch.arange(SOURCE) < torch.tensor([[SOURCE - i % 4] for i in range(count)])


def test_the_room_is_covered() -> None:
    assert {"linformer", "performer", "longformer", "lstm", "mamba"} <= {chosen.get("mixer") for _, chosen in TEXTS}
    assert {name for _, name, _ in CASES} >= {"encoder", "mlp", "cnn"}


@EVERY
def test_configuration_and_weights_survive(tmp_path: Path, kind: Kind, name: str, chosen: dict[str, Any]) -> None:
    net, other, inputs = model(name, chosen), model(name, chosen, seed=38), examples(kind)
    assert isinstance(net, Classifier)
    assert from_json(type(net.config), json.loads(json.dumps(to_json(net.config))), "config.json") == net.config
    path = tmp_path / "weights.safetensors"
    write_tensors(path, saved_tensors(net))
    assert not torch.equal(other(*inputs), net(*inputs))
    load_tensors(other, read_tensors(path), path)
    assert torch.equal(other.logits(other(*inputs)), net.logits(net(*inputs)))
    assert net.logits(net(*inputs)).shape == (BATCH, CLASSES)


@EVERY
def test_company_does_not_matter(doubles: None, kind: Kind, name: str, chosen: dict[str, Any]) -> None:
    net, inputs = model(name, chosen), examples(kind)
    for row in range(BATCH):
        torch.testing.assert_close(net(*(i[row : row + 1] for i in inputs))[0], net(*inputs)[row], **CLOSE)


@EVERY_TEXT
def test_padding_does_not_matter(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    """Each text gives what it gives alone, whatever stands in the padding; and every word counts."""
    net, (ids, keep) = model(name, chosen), examples(CLASSIFY)
    together, tokens = net(torch.where(keep, ids, 7), keep), net.states(ids, keep)
    for row in range(BATCH):
        n = int(keep[row].sum())
        alone = ids[row : row + 1, :n], keep[row : row + 1, :n]
        torch.testing.assert_close(together[row], net(*alone)[0], **CLOSE)
        torch.testing.assert_close(tokens[row, :n], net.states(*alone)[0], **CLOSE)
        torch.testing.assert_close(together[row], net.states(*alone)[0].mean(0), **CLOSE)
    for place in range(SOURCE):
        other = ids.clone()
        other[:, place] = (other[:, place] + 1) % VOCABULARY
        assert bool(((net(other, keep) - net(ids, keep)).abs().amax(1) > 1e-9).eq(keep[:, place]).all())


@EVERY
def test_every_parameter_gets_a_gradient(doubles: None, kind: Kind, name: str, chosen: dict[str, Any]) -> None:
    net, inputs = model(name, chosen).train(), examples(kind, 12)
    F.cross_entropy(net.logits(net(*inputs)), torch.arange(12) % CLASSES).backward()
    assert not [n for n, p in net.named_parameters() if p.grad is None or not p.grad.abs().max() > 1e-9]


@EVERY
def test_eval_is_deterministic_and_training_is_not(kind: Kind, name: str, chosen: dict[str, Any]) -> None:
    net, inputs = model(name, {"dropout": 0.3} | chosen), examples(kind)
    assert torch.equal(net(*inputs), net(*inputs))
    net.train()
    assert not torch.equal(net(*inputs), net(*inputs))


@EVERY
def test_one_batch_is_learned_by_heart(kind: Kind, name: str, chosen: dict[str, Any]) -> None:
    torch.manual_seed(41)
    net, inputs, wanted = build(name, chosen), examples(kind, 7), torch.arange(7) % CLASSES
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(300):
        loss = F.cross_entropy(net.logits(net(*inputs)), wanted)
        if loss < 0.03:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert torch.equal(net.eval().logits(net(*inputs)).argmax(1), wanted)
