"""What every model owes that gives one vector for an example, with every value of every choice it offers."""

from typing import Any

import pytest
import torch
from tiny import BATCH, CLASSIFY, SEE, case, contracts, model, options

from headway.contracts.contract import Contract
from headway.contracts.examples import Kind, documents, examples

TEXTS, PICTURES = list(options(CLASSIFY)), list(options(SEE))
CASES = [(CLASSIFY, *case) for case in TEXTS] + [(SEE, *case) for case in PICTURES]
EVERY = pytest.mark.parametrize(("kind", "name", "chosen"), CASES, ids=[f"{n} {c}" for _, n, c in CASES])
EVERY_TEXT = pytest.mark.parametrize(("name", "chosen"), TEXTS, ids=[f"{n} {c}" for n, c in TEXTS])
CONTRACTS = [(contract, name, chosen) for kind, name, chosen in CASES for contract in contracts(kind)]


def test_the_room_is_covered() -> None:
    assert {"linformer", "performer", "longformer", "lstm", "mamba"} <= {chosen.get("mixer") for _, chosen in TEXTS}
    assert {name for _, name, _ in CASES} >= {"encoder", "mlp", "cnn"}


@pytest.mark.parametrize(
    ("contract", "name", "chosen"), CONTRACTS, ids=[f"{n} {c}-{f.__name__}" for f, n, c in CONTRACTS]
)
def test_every_classifier_keeps(doubles: None, contract: Contract, name: str, chosen: dict[str, Any]) -> None:
    contract(case(name, chosen))


@EVERY_TEXT
def test_a_text_is_the_mean_of_its_tokens(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    net, batch = model(name, chosen), documents()
    together, tokens = net(*batch.inputs), net.states(*batch.inputs)
    for row in range(BATCH):
        alone = net.states(*batch.alone(row))[0]
        torch.testing.assert_close(tokens[row, : len(alone)], alone, rtol=0.0, atol=1e-10)
        torch.testing.assert_close(together[row], alone.mean(0), rtol=0.0, atol=1e-10)


@EVERY
def test_training_is_random(kind: Kind, name: str, chosen: dict[str, Any]) -> None:
    net, inputs = model(name, {"dropout": 0.3} | chosen).train(), examples(kind).inputs
    assert not torch.equal(net(*inputs), net(*inputs))
