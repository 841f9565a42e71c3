"""What every translation model owes, as it comes and with every value of every choice it offers."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tiny import BOS, EOS, TRANSLATE, case, contracts, model, models, options

from headway.contracts.contract import Contract
from headway.contracts.examples import IGNORED, pairs
from headway.contracts.models import learned, one_batch_is_learned_by_heart
from headway.core.config import from_json
from headway.core.errors import RunError
from headway.core.files import read_tensors, write_tensors
from headway.decode.greedy import greedy
from headway.models.weights import load_tensors, saved_tensors

CASES = list(options(TRANSLATE))
EVERY = pytest.mark.parametrize(("name", "chosen"), CASES, ids=[f"{n} {c}" for n, c in CASES])
NAMES = pytest.mark.parametrize("name", [entry.name for entry in models(TRANSLATE)])
CONTRACTS = [contract for contract in contracts(TRANSLATE) if contract is not one_batch_is_learned_by_heart]


def test_the_room_is_covered() -> None:
    assert {"transformer", "rnn_seq2seq", "attention_seq2seq"} <= {name for name, _ in CASES}
    assert ("transformer", {"norm": "post"}) in CASES and ("attention_seq2seq", {"score": "dot"}) in CASES
    orders = {chosen["order"] for _, chosen in CASES if "order" in chosen}
    mixers = {chosen["mixer"] for _, chosen in CASES if "mixer" in chosen}
    assert orders == {"feeding", "bahdanau"} and "transformer_xl" not in mixers
    assert {
        "linformer",
        "performer",
        "longformer",
        "big_bird",
        "hopfield",
        "lstm",
        "s4",
        "s5",
        "lru",
        "mamba",
    } <= mixers


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.__name__)
@EVERY
def test_every_translation_model_keeps(doubles: None, contract: Contract, name: str, chosen: dict[str, Any]) -> None:
    contract(case(name, chosen))


@EVERY
def test_options_alone_make_the_configuration(name: str, chosen: dict[str, Any]) -> None:
    config = type(model(name, chosen).config)
    assert from_json(config, json.loads(json.dumps(chosen)), "config.json") == dataclasses.replace(config(), **chosen)


@NAMES
def test_weights_survive_a_file(tmp_path: Path, name: str) -> None:
    net, other, b = model(name, {}), model(name, {}, seed=38), pairs([4, 2, 1], [6, 3, 1]).inputs
    path = tmp_path / "weights.safetensors"
    write_tensors(path, saved_tensors(net))
    load_tensors(other, read_tensors(path), path)
    assert torch.equal(other.logits(other(*b)), net.logits(net(*b)))


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
def test_logits_are_those_of_the_output_matrix(name: str, chosen: dict[str, Any]) -> None:
    """The loss never calls `logits`: it takes `output.weight`."""
    net, b = model(name, chosen), pairs([4, 2, 1], [6, 3, 1]).inputs
    assert torch.equal(net.logits(net(*b)), F.linear(net(*b), net.output.weight))


@EVERY
def test_training_is_random_as_its_seed_says(name: str, chosen: dict[str, Any]) -> None:
    net, b = model(name, {"dropout": 0.3} | chosen), pairs([4, 2, 1], [6, 3, 1]).inputs
    net.train()
    assert not torch.equal(net(*b), net(*b))
    torch.manual_seed(5)
    first = net(*b)
    torch.manual_seed(5)
    assert torch.equal(net(*b), first), "dropout is a function of the seed"


@NAMES
def test_a_shared_embedding_is_one_and_separate_ones_are_two(name: str) -> None:
    for share, matrices in ((True, 1), (False, 2)):
        assert [p.shape[0] for p in model(name, {"share": share}, 23).parameters()].count(23) == matrices
    shared, b = model(name, {"share": True}), pairs([4, 2, 1], [6, 3, 1]).inputs
    before = shared.logits(shared(*b)).detach()
    with torch.no_grad():
        shared.target.weight[EOS] *= 2
    after = shared.logits(shared(*b))
    assert not torch.allclose(after[..., EOS], before[..., EOS]), "the output matrix is not the embedding"
    assert not torch.allclose(after[..., 5], before[..., 5]), "the source embedding is not the output matrix"


@EVERY
def test_one_batch_is_learned_by_heart(name: str, chosen: dict[str, Any]) -> None:
    """Four pairs of random ids; afterwards greedy decoding writes them down."""
    net, batch, loss = learned(case(name, chosen))
    assert loss < 0.03
    source, keep, _ = batch.inputs
    wanted = [tuple(t for t in row if t not in (IGNORED, EOS)) for row in batch.wanted.tolist()]
    assert [h.ids for h in greedy(net, source, keep, BOS, EOS, [9] * 4)] == wanted
