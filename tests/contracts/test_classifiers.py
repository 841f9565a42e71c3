"""What every model owes that does not write: one vector for an example or for each position, with every value of every choice it offers."""

from typing import Any

import pytest
import torch
from tiny import BATCH, CLASSIFY, SEE, TRANSLATE, WRITE, case, contracts, model, options

from headway.contracts.contract import Contract
from headway.contracts.examples import KINDS, Kind, documents

TEXTS, PICTURES = list(options(CLASSIFY)), list(options(SEE))
CASES = [(kind, *case) for kind in KINDS if kind not in (TRANSLATE, WRITE) for case in options(kind)]
EVERY = pytest.mark.parametrize(("kind", "name", "chosen"), CASES, ids=[f"{n} {c} {'-'.join(k)}" for k, n, c in CASES])
MEANS = [(name, chosen) for name, chosen in TEXTS if name == "encoder"]
EVERY_MEAN = pytest.mark.parametrize(("name", "chosen"), MEANS, ids=[f"{n} {c}" for n, c in MEANS])
CONTRACTS = [(contract, kind, name, chosen) for kind, name, chosen in CASES for contract in contracts(kind)]


def test_the_room_is_covered() -> None:
    assert {"linformer", "performer", "longformer", "lstm", "mamba"} <= {chosen.get("mixer") for _, chosen in TEXTS}
    assert {name for _, name, _ in CASES} >= {"encoder", "mlp", "cnn"}


@pytest.mark.parametrize(
    ("contract", "kind", "name", "chosen"),
    CONTRACTS,
    ids=[f"{n} {c} {'-'.join(k)}-{f.__name__}" for f, k, n, c in CONTRACTS],
)
def test_every_classifier_keeps(
    doubles: None, contract: Contract, kind: Kind, name: str, chosen: dict[str, Any]
) -> None:
    contract(case(name, chosen, kind))


@EVERY_MEAN
def test_a_text_is_the_mean_of_its_tokens(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    net, batch = model(name, chosen), documents()
    together, tokens = net(*batch.inputs), net.states(*batch.inputs)
    for row in range(BATCH):
        alone = net.states(*batch.alone(row))[0]
        torch.testing.assert_close(tokens[row, : len(alone)], alone, rtol=0.0, atol=1e-10)
        torch.testing.assert_close(together[row], alone.mean(0), rtol=0.0, atol=1e-10)


@EVERY
def test_training_is_random(kind: Kind, name: str, chosen: dict[str, Any]) -> None:
    made = case(name, {"dropout": 0.3} | chosen, kind)
    net, inputs = made.scattered().train(), made.examples.inputs
    assert not torch.equal(made.logits(net, inputs), made.logits(net, inputs))
