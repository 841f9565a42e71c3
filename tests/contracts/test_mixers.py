"""What every mixer of the rooms "attention" and "recurrences" owes, whoever wrote it."""

import pytest
import torch
from tiny import BATCH, HEADS, SOURCE, TARGET, WIDTH, Case, mixers
from torch import Tensor

from headway.layers.attention.attend import recorded
from headway.layers.attention.cross import Cross

pytestmark = pytest.mark.usefixtures("doubles")

ALL = list(mixers())
CAUSAL = [case for case in ALL if case.make().causal]
LOOKING = [case for case in ALL if any("attend" in name for name, _ in case.make().named_modules())]
EXACT = {"rtol": 0.0, "atol": 1e-10}


def label(case: Case) -> str:
    return case.label


def sequence(case: Case, seed: int = 3, batch: int = BATCH) -> Tensor:
    return torch.randn(batch, TARGET, case.inputs, generator=torch.Generator().manual_seed(seed))


def mask_of(lengths: list[int]) -> Tensor:
    return torch.arange(TARGET)[None, :] < torch.tensor(lengths)[:, None]


def test_both_rooms_are_covered() -> None:
    names = {case.label.split()[0] for case in ALL}
    assert {"multihead", "cross", "elman", "lstm", "gru", "stacked", "bidirectional"} <= names
    assert {"multihead causal scaled", "lstm", "stacked lstm,lstm"} <= {case.label for case in CAUSAL}
    assert not {"bidirectional gru", "stacked both,both", "multihead everything dot"} & {case.label for case in CAUSAL}


@pytest.mark.parametrize("case", CAUSAL, ids=label)
def test_stepping_equals_forward(case: Case) -> None:
    mixer, x = case.make(), sequence(case)
    whole, state = mixer(x), mixer.start(BATCH)
    for t in range(TARGET):
        y, state = mixer.step(x[:, t], state)
        torch.testing.assert_close(y, whole[:, t], **EXACT)


@pytest.mark.parametrize("case", CAUSAL, ids=label)
def test_the_future_leaves_the_past_alone(case: Case) -> None:
    mixer, x = case.make(), sequence(case)
    for t in range(1, TARGET):
        changed = x.clone()
        changed[:, t:] = sequence(case, seed=4)[:, t:]
        torch.testing.assert_close(mixer(changed)[:, :t], mixer(x)[:, :t], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("case", ALL, ids=label)
def test_the_present_is_seen(case: Case) -> None:
    mixer, x = case.make(), sequence(case)
    for t in range(TARGET):
        changed = x.clone()
        changed[:, t] += 1.0
        assert (mixer(changed)[:, t] - mixer(x)[:, t]).abs().amax(-1).min() > 1e-6, f"position {t} does not see itself"


@pytest.mark.parametrize("case", ALL, ids=label)
def test_padding_does_not_change_the_answer(case: Case) -> None:
    """A padded row gives what the row gives alone, without padding and without a mask, whatever the padding holds."""
    mixer, x, lengths = case.make(), sequence(case), [TARGET, 4, 1]
    keep = mask_of(lengths)
    for rubbish in (0.0, 1e3):
        padded = torch.where(keep[..., None], x, rubbish)
        y = mixer(padded, keep)
        assert y.isfinite().all()
        for row, length in enumerate(lengths):
            torch.testing.assert_close(y[row : row + 1, :length], mixer(x[row : row + 1, :length]), **EXACT)


@pytest.mark.parametrize("case", ALL, ids=label)
def test_the_company_in_the_batch_does_not_matter(case: Case) -> None:
    mixer, x = case.make(), sequence(case)
    other = sequence(case, seed=4)
    other[1] = x[1]
    torch.testing.assert_close(mixer(other)[1], mixer(x)[1], **EXACT)
    torch.testing.assert_close(mixer(x.flip(0)).flip(0), mixer(x), **EXACT)


@pytest.mark.parametrize("case", ALL, ids=label)
def test_every_parameter_gets_a_gradient(case: Case) -> None:
    mixer = case.make().train()
    (mixer(sequence(case)) * sequence(case, seed=6)[..., :1]).sum().backward()
    silent = [name for name, p in mixer.named_parameters() if p.grad is None or not p.grad.abs().max() > 1e-9]
    assert not silent


@pytest.mark.parametrize("case", ALL, ids=label)
def test_eval_is_deterministic(case: Case) -> None:
    mixer, x = case.make(), sequence(case)
    first = mixer(x)
    torch.manual_seed(99)
    assert torch.equal(mixer(x), first)


@pytest.mark.parametrize("case", ALL, ids=label)
def test_gradients_are_those_of_the_formula(case: Case) -> None:
    mixer = case.make()
    x = sequence(case, batch=1)[:, :3].requires_grad_()
    chosen = {n: p.detach().clone().requires_grad_() for n, p in mixer.named_parameters()}

    def run(x: Tensor, *values: Tensor) -> Tensor:
        return torch.func.functional_call(mixer, dict(zip(chosen, values, strict=True)), (x,))

    assert torch.autograd.gradcheck(run, (x, *chosen.values()), fast_mode=True)


@pytest.mark.parametrize("case", LOOKING, ids=label)
def test_the_kernel_equals_the_written_out_formula(case: Case) -> None:
    """Also with padding; and what is recorded is a distribution over the keys that are there."""
    mixer, x, lengths = case.make(), sequence(case), [TARGET, 4, 1]
    for keep in (None, mask_of(lengths)):
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
    """`Cross.step` with k rows per sentence is `Cross.forward` with k queries, each to the memory of its own sentence."""
    cross = Cross(WIDTH, HEADS)
    memory, keep = torch.randn(BATCH, SOURCE, WIDTH), torch.arange(SOURCE)[None, :] < torch.tensor([[5], [3], [1]])
    x = torch.randn(BATCH * hypotheses, WIDTH)
    y = cross.step(x, cross.remember(memory, keep))
    for row in range(BATCH * hypotheses):
        s = row // hypotheses
        alone = cross(x[row][None, None], cross.remember(memory[s : s + 1, : int(keep[s].sum())], None))
        torch.testing.assert_close(y[row], alone[0, 0], **EXACT)
