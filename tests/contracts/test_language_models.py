"""What every language model owes: gpt with every choice it offers and with every causal mixer there is, and XLNet."""

from itertools import islice
from typing import Any

import pytest
import torch
from tiny import BATCH, VOCABULARY, WRITE, case, contracts, model, models, options
from torch import Tensor

from headway.contracts.contract import Contract
from headway.contracts.models import learned, one_batch_is_learned_by_heart
from headway.decode.sample import Reader, sample

LENGTH = 9  # longer than the context of 5: what falls out of the window must fall out of both
CASES = [(name, chosen) for name, chosen in options(WRITE) if not (name == "gpt" and chosen == {"position": "learned"})]
CASES += [("gpt", {"ngrams": 7}), ("gpt", {"ngrams": VOCABULARY**2, "ngram_order": 5})]  # pairs of tokens share rows, and do not
EVERY = pytest.mark.parametrize(("name", "chosen"), CASES, ids=[f"{n} {c}" for n, c in CASES])
CONTRACTS = [contract for contract in contracts(WRITE) if contract is not one_batch_is_learned_by_heart]
CLOSE = {"rtol": 0.0, "atol": 1e-10}


def words(seed: int = 11, length: int = LENGTH) -> Tensor:
    return torch.randint(3, VOCABULARY, (BATCH, length), generator=torch.Generator().manual_seed(seed))


def test_the_room_is_covered() -> None:
    mixers = {chosen["mixer"] for name, chosen in CASES if "mixer" in chosen}
    assert {
        "elman",
        "lstm",
        "gru",
        "min_gru",
        "min_lstm",
        "lru",
        "s4",
        "s5",
        "mamba",
        "antisymmetric",
        "lipschitz",
    } <= mixers
    assert {"performer", "big_bird", "longformer", "transformer_xl", "hopfield"} <= mixers and "linformer" not in mixers
    assert any(model(name, chosen).memory for name, chosen in CASES)
    assert {"gpt", "xlnet"} <= {entry.name for entry in models(WRITE)}


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.__name__)
@EVERY
def test_every_language_model_keeps(doubles: None, contract: Contract, name: str, chosen: dict[str, Any]) -> None:
    contract(case(name, chosen))


@EVERY
def test_cached_generation_equals_uncached(doubles: None, name: str, chosen: dict[str, Any]) -> None:
    """Token for token, each time the whole text again, also beyond the context."""
    net, ids = model(name, chosen).requires_grad_(False), words(length=3)
    cached = torch.stack(list(islice(sample(net, ids, 0.0, None, 1.0, seed=1), 8)), 1)
    for _ in range(8):
        ids = torch.cat((ids, net.logits(net(ids))[:, -1].argmax(-1, keepdim=True)), 1)
    assert torch.equal(cached, ids[:, 3:])


@EVERY
def test_one_batch_is_learned_by_heart(name: str, chosen: dict[str, Any]) -> None:
    """Afterwards generation writes it down, from the first token of each text."""
    net, batch, _ = learned(case(name, chosen))
    (ids,) = batch.inputs
    written = torch.stack(list(islice(sample(net, ids[:, :1], 0.0, None, 1.0, seed=1), 5)), 1)
    assert torch.equal(written, batch.wanted)


ABSOLUTE = [
    ("gpt", {"position": "learned"}),
    ("gpt", {"position": "sinusoidal"}),
    ("gpt", {"mixer": "performer"}),
    ("xlnet", {}),
]


@pytest.mark.parametrize(("name", "chosen"), ABSOLUTE, ids=[f"{n} {c}" for n, c in ABSOLUTE])
def test_a_model_that_counts_places_is_asked_for_none_it_has_not_learned(
    doubles: None, name: str, chosen: dict[str, Any]
) -> None:
    """Five places, eighteen tokens: before the sixth, the last two are read again as the first. Without states."""
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
