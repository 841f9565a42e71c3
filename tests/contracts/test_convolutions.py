"""What every layer of the room "convolutions" owes, whoever wrote it; what goes in is read off the annotation of `forward`."""

import inspect
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.core import registry
from headway.core.errors import ConfigError
from headway.layers.convolutions.boundaries import Causal, Circular, Full, Same, Valid
from headway.layers.convolutions.convolution import Convolution
from headway.layers.convolutions.group_convolution import Lifting

pytestmark = pytest.mark.usefixtures("doubles")
SIZES = {"b": 3, "s": 7, "i": 5, "c": 5, "4": 4, "y": 7, "x": 11}
EXACT = {"rtol": 0.0, "atol": 1e-10}
LENGTHS = [7, 4, 1]
KINDS: dict[str, dict[str, Any]] = {
    "inputs": {"": 5},
    "width": {"": 13},
    "size": {"": (7, 11)},
    "kernel": {"m=3": 3, "m=2": 2},
    "boundary": {"valid": Valid(), "same": Same(), "circular": Circular(), "causal": Causal(), "full": Full()},
    "stride": {"": 1, "stride 2": 2},
    "window": {"2": 2, "(1,3)": (1, 3)},
}


@dataclass(frozen=True)
class Case:
    label: str
    constructor: Any
    way: dict[str, Any]

    def make(self) -> Any:
        torch.manual_seed(31)
        return self.constructor(**self.way).eval()

    def sample(self, seed: int = 3, batch: int = 3) -> Tensor:
        axes = inspect.signature(self.constructor.forward).parameters["x"].annotation.dim_str.split()
        shape = [batch, *(SIZES[axis] for axis in axes[1:])]
        return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def cases() -> Iterator[Case]:
    constructors = [entry.load() for entry in registry.entries("convolutions").values()]
    for constructor in [*constructors, Lifting]:
        ways: dict[str, dict[str, Any]] = {constructor.__name__: {}}
        for name in inspect.signature(constructor).parameters:
            ways = {f"{a} {b}".strip(): way | {name: kind} for a, way in ways.items() for b, kind in KINDS[name].items()}
        for label, way in ways.items():
            try:
                constructor(**way)
            except ConfigError:
                continue  # a boundary that this layer refuses; tests/reference says which
            yield Case(label, constructor, way)


POINT = Case("Convolution m=1 causal", Convolution, {"inputs": 5, "width": 13, "kernel": 1, "boundary": Causal(), "stride": 1})
ALL = [*cases(), POINT]  # a filter of one tap has an empty state
MIXERS = [case for case in ALL if hasattr(case.make(), "causal")]
CAUSAL = [case for case in MIXERS if case.make().causal]
LEARNED = [case for case in ALL if list(case.make().parameters())]


def each(chosen: list[Case]) -> Any:
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case.label)


def test_the_room_is_covered() -> None:
    names = {case.constructor.__name__ for case in ALL}
    assert names >= {"Convolution", "Convolution2d", "MaxPooling", "AveragePooling", "GroupConvolution", "Local"}
    assert {case.label for case in CAUSAL} >= {"Convolution m=3 causal", "Convolution m=1 causal"}
    assert not [case.label for case in CAUSAL if "stride 2" in case.label or "causal" not in case.label]


@each(CAUSAL)
def test_stepping_equals_forward(case: Case) -> None:
    mixer, x = case.make(), case.sample()
    whole, state = mixer(x), mixer.start(len(x))
    for t in range(x.shape[1]):
        y, state = mixer.step(x[:, t], state)
        torch.testing.assert_close(y, whole[:, t], **EXACT)


@each([case for case in MIXERS if case.way["boundary"] == Causal()])
def test_the_future_leaves_the_past_alone(case: Case) -> None:
    mixer, x, stride = case.make(), case.sample(), case.way["stride"]
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, t:] = case.sample(seed=4)[:, t:]
        past = math.ceil(t / stride)  # output k stands at position k * stride
        torch.testing.assert_close(mixer(changed)[:, :past], mixer(x)[:, :past], rtol=0.0, atol=1e-12)


@each([case for case in MIXERS if case.way["stride"] == 1 and case.way["boundary"] in (Same(), Causal(), Circular())])
def test_a_mixer_keeps_the_length_and_sees_the_present(case: Case) -> None:
    mixer, x = case.make(), case.sample()
    for t in range(x.shape[1]):
        changed = x.clone()
        changed[:, t] += 1.0
        difference = mixer(changed) - mixer(x)
        assert difference.shape[:2] == x.shape[:2]
        assert difference[:, t].abs().amax(-1).min() > 1e-6, f"position {t} does not see itself"


@each(MIXERS)
def test_padding_does_not_change_the_answer(case: Case) -> None:
    """A padded row gives what the row gives alone, without padding and without a mask, whatever the padding holds."""
    mixer, x = case.make(), case.sample()
    keep = torch.arange(x.shape[1])[None, :] < torch.tensor(LENGTHS)[:, None]
    for rubbish in (0.0, 1e3, math.nan):
        y = mixer(torch.where(keep[..., None], x, rubbish), keep)
        assert y.isfinite().all()
        for row, length in enumerate(LENGTHS):
            if case.way["boundary"] == Valid() and length < case.way["kernel"]:
                continue  # no place for the filter
            alone = mixer(x[row : row + 1, :length])
            torch.testing.assert_close(y[row : row + 1, : alone.shape[1]], alone, **EXACT)


@each(ALL)
def test_the_company_in_the_batch_does_not_matter(case: Case) -> None:
    layer, x = case.make(), case.sample()
    other = case.sample(seed=4)
    other[1] = x[1]
    torch.testing.assert_close(layer(other)[1], layer(x)[1], **EXACT)
    torch.testing.assert_close(layer(x.flip(0)).flip(0), layer(x), **EXACT)


@each(LEARNED)
def test_every_parameter_gets_a_gradient(case: Case) -> None:
    layer = case.make().train()
    y = layer(case.sample())
    (y * torch.randn_like(y)).sum().backward()
    assert not [name for name, p in layer.named_parameters() if p.grad is None or not p.grad.abs().max() > 1e-9]


@each(ALL)
def test_eval_is_deterministic(case: Case) -> None:
    layer, x = case.make(), case.sample()
    first = layer(x)
    torch.manual_seed(99)
    assert torch.equal(layer(x), first)


@each([case for case in ALL if case.way.get("kernel", 2) == 2])
def test_gradients_are_those_of_the_formula(case: Case) -> None:
    layer = case.make()
    x = case.sample(batch=1).requires_grad_()
    chosen = {n: p.detach().clone().requires_grad_() for n, p in layer.named_parameters()}

    def run(x: Tensor, *values: Tensor) -> Tensor:
        return torch.func.functional_call(layer, dict(zip(chosen, values, strict=True)), (x,))

    assert torch.autograd.gradcheck(run, (x, *chosen.values()), fast_mode=True)


def shifted(x: Tensor, layer: nn.Module, steps: int) -> Tensor:
    axes = (1,) if isinstance(layer, Convolution) else (-2, -1)
    return x.roll((steps,) * len(axes), axes)


CONVOLUTIONS = [case for case in ALL if case.constructor.__name__ in ("Convolution", "Convolution2d") and case.way["stride"] == 1]


@each([case for case in CONVOLUTIONS if case.way["boundary"] == Circular()])
def test_on_a_circle_shifting_the_input_shifts_the_output(case: Case) -> None:
    layer, x = case.make(), case.sample()
    for steps in range(1, 7):
        torch.testing.assert_close(layer(shifted(x, layer, steps)), shifted(layer(x), layer, steps), **EXACT)


@each([case for case in CONVOLUTIONS if case.way["boundary"] == Same()])
def test_zeros_at_the_ends_break_that(case: Case) -> None:
    layer, x = case.make(), case.sample()
    assert (layer(shifted(x, layer, 1)) - shifted(layer(x), layer, 1)).abs().max() > 1e-3
