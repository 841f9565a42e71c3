"""What every mixer owes at the edges: other devices, half precision, nothing at all, padding that stands elsewhere."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tiny import BATCH, HEADS, TARGET, WIDTH, Case, mixers
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from headway.core.errors import ConfigError
from headway.layers.attention.big_bird import BigBird
from headway.layers.attention.longformer import Longformer
from headway.layers.attention.non_local import NonLocal
from headway.layers.attention.shifted_window import ShiftedWindow
from headway.layers.attention.transformer_xl import TransformerXL
from headway.layers.convolutions.boundaries import Circular
from headway.layers.convolutions.convolution import Convolution
from headway.layers.dropout import Dropout
from headway.layers.embedding import Embedding
from headway.layers.masks import Causal
from headway.layers.positions.learned import Learned
from headway.layers.positions.learned_grid import LearnedGrid
from headway.layers.positions.sinusoidal import Sinusoidal

ALL = list(mixers())
CAUSAL = [case for case in ALL if case.make().causal]
LENGTHS = [TARGET, 4, 1]
each = pytest.mark.parametrize("case", ALL, ids=lambda case: case.label)
each_causal = pytest.mark.parametrize("case", CAUSAL, ids=lambda case: case.label)


def sequence(case: Case, batch: int = BATCH, length: int = TARGET) -> Tensor:
    return torch.randn(batch, length, case.inputs, generator=torch.Generator().manual_seed(3))


def keep_of(lengths: list[int]) -> Tensor:
    return torch.arange(TARGET)[None, :] < torch.tensor(lengths)[:, None]


# -- devices -----------------------------------------------------------------------------------------------------------


class OnlyMeta(TorchDispatchMode):
    """Every tensor that an operation makes must be on the meta device, where all inputs and parameters are."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        for made in tree_leaves(result):
            assert not isinstance(made, Tensor) or made.is_meta, f"{function} made a tensor on {made.device}"
        return result


@each
def test_no_tensor_is_made_without_a_device(case: Case) -> None:
    """Built on the meta device, run where the CPU is the default: as a model on an accelerator is."""
    with torch.device("meta"):
        mixer, x = case.make(), torch.randn(BATCH, TARGET, case.inputs)
    assert all(p.is_meta for p in (*mixer.parameters(), *mixer.buffers()))
    with OnlyMeta():
        y = mixer.train()(x, None)
        y.sum().backward()
        assert y.is_meta and y.shape[:2] == (BATCH, TARGET)
        if mixer.causal:
            state = mixer.start(BATCH)
            for t in range(3):
                z, state = mixer.eval().step(x[:, t], state)
                assert z.is_meta and z.shape == (BATCH, y.shape[-1])


OTHERS: dict[str, tuple[Callable[[], Any], Callable[[Any, Tensor], Tensor]]] = {
    # How it is made and how it is called: what the mixers above do not reach, and sizes small enough to be exceeded.
    "learned": (lambda: Learned(WIDTH), lambda p, x: p(2, 1)),
    "learned_grid": (lambda: LearnedGrid(WIDTH), lambda p, x: p(2, 3)),
    "sinusoidal": (lambda: Sinusoidal(WIDTH, longest=4), lambda p, x: p(2, 7)),
    "dropout": (lambda: Dropout(0.5).train(), lambda m, x: m(x)),
    "embedding": (lambda: Embedding(5, WIDTH), lambda e, x: e.logits(e(torch.zeros_like(x[..., 0], dtype=torch.long)))),
    "shifted_window": (lambda: ShiftedWindow(WIDTH, HEADS, 3, 1), lambda m, x: m(x)),
    "non_local": (lambda: NonLocal(4), lambda m, x: m(x)),
    "transformer_xl": (lambda: TransformerXL(WIDTH, HEADS, Causal(), 2, 3), lambda m, x: m(x[0])),
    "big_bird": (lambda: BigBird(WIDTH, HEADS, None, 1, 0, 1, 1), lambda m, x: m(x[0])),
    "longformer": (lambda: Longformer(WIDTH, HEADS, None, 1, 2), lambda m, x: m(x[0])),
    "convolution": (lambda: Convolution(WIDTH, 3, 2, Circular()), lambda m, x: m(x[0])),
}


@pytest.mark.parametrize("name", OTHERS)
def test_no_other_layer_makes_a_tensor_without_a_device(name: str) -> None:
    make, call = OTHERS[name]
    with torch.device("meta"):
        layer, x = make(), torch.randn(2, 4, 5, WIDTH)
    with OnlyMeta():
        assert call(layer, x).is_meta


def test_a_tensor_on_the_cpu_is_seen() -> None:
    with pytest.raises(AssertionError, match="made a tensor on cpu"), OnlyMeta():
        torch.ones(2, device="meta").where(torch.arange(2) < 1, 0.0)


# -- half precision ----------------------------------------------------------------------------------------------------

SHARE = 0.1  # bfloat16 has 8 bits, 0.004 of the largest number, and errors of sums and of several layers add up


def near(found: Tensor, expected: Tensor) -> None:
    """No number is further off than a tenth of the size that such numbers have."""
    size = expected.detach().float().square().mean().sqrt().item()
    torch.testing.assert_close(found.float(), expected.float(), rtol=0.0, atol=SHARE * size)


def halved(case: Case, kind: torch.dtype = torch.bfloat16) -> tuple[Any, Tensor]:
    return case.make().to(kind), sequence(case).to(kind)


@each
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])
def test_half_precision_is_close_to_single(case: Case, kind: torch.dtype) -> None:
    """A module of half precision: nearly the answer of the rounded numbers in float32, and gradients of its type."""
    mixer, x = halved(case, kind)
    y = mixer(x, keep_of(LENGTHS))
    assert y.dtype == kind
    y[0].sum().backward()
    assert all(p.grad is not None and p.grad.dtype == kind and p.grad.isfinite().all() for p in mixer.parameters())
    for row, length in enumerate(LENGTHS):
        exact = mixer.to(kind).float()(x[row : row + 1, :length].float())
        near(y[row : row + 1, :length], exact)


@each
def test_autocast_is_close_to_single(case: Case) -> None:
    mixer, x, keep = case.make(), sequence(case), keep_of(LENGTHS)
    with torch.autocast("cpu", torch.bfloat16):
        y = mixer(x, keep)
        if mixer.causal:
            state = mixer.start(BATCH)
            for t in range(3):
                z, state = mixer.step(x[:, t], state)
                near(z[0], y[0, t])  # the row without padding
    (y.float().square().sum()).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in mixer.parameters())
    near(y[0], mixer(x[:1])[0])


@each_causal
def test_stepping_equals_forward_in_bfloat16(case: Case) -> None:
    mixer, x = halved(case)
    whole, state = mixer(x), mixer.start(BATCH)
    for t in range(TARGET):
        y, state = mixer.step(x[:, t], state)
        assert y.dtype == torch.bfloat16
        near(y, whole[:, t])


@each
def test_padding_does_not_change_the_answer_in_bfloat16(case: Case) -> None:
    mixer, x = halved(case)
    keep = keep_of(LENGTHS)
    y = mixer(torch.where(keep[..., None], x, 100.0), keep)
    assert y.isfinite().all()
    for row, length in enumerate(LENGTHS):
        near(y[row : row + 1, :length], mixer(x[row : row + 1, :length]))


@each
def test_the_tolerance_of_bfloat16_can_fail(case: Case) -> None:
    """The answer of the row before, or of inputs three times as large, is further away than the tolerance."""
    mixer, x = halved(case)
    y = mixer(x)
    for other in (y.roll(1, 0), mixer(3 * x)):
        with pytest.raises(AssertionError):
            near(other, y)


# -- nothing at all ----------------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize(("batch", "length"), [(BATCH, 0), (0, TARGET), (0, 0)])
def test_nothing_gives_nothing(case: Case, batch: int, length: int) -> None:
    mixer, x = case.make(), sequence(case, batch, length)
    width = mixer(sequence(case)).shape[-1]
    for keep in (None, torch.ones(batch, length, dtype=torch.bool)):
        assert mixer(x, keep).shape == (batch, length, width)
    if mixer.causal and not batch:
        assert mixer.step(x.new_zeros(0, case.inputs), mixer.start(0))[0].shape == (0, width)


@each
def test_a_row_without_tokens_leaves_the_others_alone(case: Case) -> None:
    """Finite answers and gradients, and those of the other rows as if it were not there."""
    mixer, x = case.make(), sequence(case)
    y = mixer(x, keep_of([TARGET, 0, 4]))
    assert y.isfinite().all()
    torch.testing.assert_close(y[:1], mixer(x[:1]), rtol=0.0, atol=1e-5)
    y.sum().backward()
    assert all(p.grad.isfinite().all() for p in mixer.parameters())


# -- padding elsewhere -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [c for c in ALL if not c.label.startswith("cross")], ids=lambda case: case.label)
@pytest.mark.parametrize("row", [[0, 0, 1, 1, 1, 1, 1], [1, 1, 0, 1, 1, 1, 0]], ids=["left", "hole"])
def test_padding_that_is_not_on_the_right_is_refused(case: Case, row: list[int]) -> None:
    keep = torch.tensor([[1] * TARGET, row, [1] * TARGET], dtype=torch.bool)
    with pytest.raises(
        ConfigError, match=r"row 1 of `keep` has tokens behind its padding.*\nHint: move the tokens of each row"
    ):
        case.make()(sequence(case), keep)
