"""What every mixer of the rooms "attention" and "recurrences" owes, whoever wrote it."""

import pytest
import torch
from tiny import BATCH, HEADS, SOURCE, TARGET, WIDTH, Case, mixers

from headway.contracts import causal
from headway.contracts.contract import Contract
from headway.contracts.mixers import DECLARATIONS, EVERY, LENGTHS, right_padding
from headway.core import registry
from headway.layers.attention.attend import recorded
from headway.layers.attention.cross import Cross

pytestmark = pytest.mark.usefixtures("doubles")

ALL = list(mixers())
STEPPED = [case for case in ALL if case.causal]
LOOKING = [case for case in ALL if any("attend" in name for name, _ in case.make().named_modules())]
EXACT = {"rtol": 0.0, "atol": 1e-10}


def label(thing: Case | Contract) -> str:
    return thing.label if isinstance(thing, Case) else thing.__name__


def test_both_rooms_are_covered() -> None:
    names = {case.label.split()[0] for case in ALL}
    assert set(registry.mixers()) <= names, "a mixer that no case makes"
    assert {"multihead", "cross", "elman", "lstm", "gru", "stacked", "bidirectional"} <= names
    assert {"multihead causal scaled", "lstm", "stacked lstm,lstm"} <= {case.label for case in STEPPED}
    assert not {"bidirectional gru", "stacked both,both", "multihead everything dot"} & {case.label for case in STEPPED}


@pytest.mark.parametrize("contract", DECLARATIONS, ids=label)
@pytest.mark.parametrize("name", registry.mixers())
def test_every_class_keeps(contract: Contract, name: str) -> None:
    contract(registry.mixer(name).load())


@pytest.mark.parametrize("contract", EVERY, ids=label)
@pytest.mark.parametrize("case", ALL, ids=label)
def test_every_mixer_keeps(contract: Contract, case: Case) -> None:
    contract(case)


@pytest.mark.parametrize("contract", causal.CONTRACTS, ids=label)
@pytest.mark.parametrize("case", STEPPED, ids=label)
def test_every_causal_mixer_keeps(contract: Contract, case: Case) -> None:
    contract(case)


@pytest.mark.parametrize("case", LOOKING, ids=label)
def test_the_kernel_equals_the_written_out_formula(case: Case) -> None:
    """Also with padding; and what is recorded is a distribution over the keys that are there."""
    mixer, x, lengths = case.build(), case.sequence(), LENGTHS
    for keep in (None, right_padding()):
        with recorded(mixer) as maps:
            written = mixer(x, keep)
        torch.testing.assert_close(written, mixer(x, keep), **EXACT)
        ((a,),) = maps.values()
        assert a.shape == (BATCH, HEADS, TARGET, TARGET)
        torch.testing.assert_close(a.sum(-1), torch.ones(BATCH, HEADS, TARGET))
    for row, length in enumerate(lengths):
        assert not a[row, :, :length, length:].any(), "a query looks at padding"


@pytest.mark.parametrize("hypotheses", [1, 4])
def test_hypotheses_share_a_memory(hypotheses: int) -> None:
    """`Cross.step` with k rows per sentence is `Cross.forward` with k queries, each to the memory of its sentence."""
    cross = Cross(WIDTH, HEADS)
    memory, keep = torch.randn(BATCH, SOURCE, WIDTH), torch.arange(SOURCE)[None, :] < torch.tensor([[5], [3], [1]])
    x = torch.randn(BATCH * hypotheses, WIDTH)
    y = cross.step(x, cross.remember(memory, keep))
    for row in range(BATCH * hypotheses):
        s = row // hypotheses
        alone = cross(x[row][None, None], cross.remember(memory[s : s + 1, : int(keep[s].sum())], None))
        torch.testing.assert_close(y[row], alone[0, 0], **EXACT)
