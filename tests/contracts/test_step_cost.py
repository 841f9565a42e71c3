"""What a training step costs: the count without numbers is the count with them, torch's own counter, and formulas."""

import dataclasses
import time

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from headway.core.config import Choice
from headway.core.errors import UsageError
from headway.inspect import probe
from headway.inspect.devices import Devices, parse_count, parse_devices
from headway.inspect.draft import Draft, gpt3_draft
from headway.inspect.estimate import KEPT, LOADED, data_parallel, estimate, process_memory, sharded
from headway.inspect.step_cost import UNKNOWN, Meter, StepCost, count_step
from headway.models.build import count_parameters
from headway.models.gpt3_sizes import BATCH, MILLIONS, RATE

WIDTH, DEPTH, INNER, VOCABULARY = 16, 3, 64, 50


def small(optimizer: str = "adamw", accumulate: int = 1) -> Draft:
    """GPT-3 in small: the windows are as long as the published ones, so only the model is made smaller."""
    draft = gpt3_draft("gpt3-small", None, "float32")
    settings = dataclasses.replace(draft.settle(None), batch=2048, accumulate=accumulate, optimizer=optimizer)
    options = draft.model.options | {"width": WIDTH, "depth": DEPTH, "inner": INNER, "heads": 2}
    return dataclasses.replace(
        draft, model=Choice("gpt", options), sizes={"vocabulary": VOCABULARY}, settle=lambda seconds: settings
    )


@pytest.mark.parametrize("optimizer", ["adamw", "muon", "sgd"])
def test_a_step_without_numbers_costs_what_a_real_one_does(optimizer: str) -> None:
    draft = small(optimizer)
    without, real = (count_step(draft.loop(2048, real=which)) for which in (False, True))
    assert dataclasses.replace(without, traffic=0) == dataclasses.replace(real, traffic=0)
    assert without.traffic == pytest.approx(real.traffic, rel=0.1)  # some operations on lists are taken apart


def test_products_are_those_of_the_counter_of_torch() -> None:
    loop = small().loop(2048, real=True)
    with FlopCounterMode(display=False, custom_mapping=UNKNOWN) as counter:
        loop.gradients(0)
    assert small().cost(2048).flops == counter.get_total_flops() > 0


def test_products_are_those_of_the_formula() -> None:
    """Three passes of two operations for each weight of a matrix, and of attention 2 products forward and 5 back."""
    t, d = 2048, WIDTH
    matrices = DEPTH * (4 * d * d + 2 * d * INNER) + VOCABULARY * d
    attention = DEPTH * (2 + 5) * 2 * t * t * d
    assert small().cost(2048).flops == 6 * t * matrices + attention


def test_memory_of_weights_moments_and_accumulated_gradients() -> None:
    cost = small().cost(2048)
    n = 4 * cost.parameters
    assert (cost.weights, cost.gradients, cost.average) == (n, n, n)
    assert 2 * n <= cost.moments < 2 * n + 4 * 200  # two moments, and a count of the steps for each parameter
    assert small("heavy_ball").cost(2048).moments == n
    more = small(accumulate=4).cost(2048)
    assert more.units == 4 * cost.units and more.flops == 4 * cost.flops
    assert more.activations >= cost.activations


def test_the_meter_counts_what_is_alive() -> None:
    known = torch.zeros(500)
    with Meter([known]) as meter:
        a = torch.zeros(1000)
        b = a * 2
        del a
        c = b + known.view(2, 250).repeat(1, 2).flatten()[:1000]
        c.mul_(2)
        b[:10].sum()
    assert meter.live == 2 * 4000
    assert meter.peak == 3 * 4000 + 0  # b, the repeated one, c


def test_parallel_memory_by_hand() -> None:
    cost = StepCost(100, {}, (30, 20), 1.0, 1.0, 0.0, 1.0, 400, 400, 800, 400, activations=70, temporary=200)
    assert data_parallel(cost).total == 400 + 400 + 800 + 400 + 200 + 400
    found = sharded(cost, 4)
    assert (found.weights, found.moments, found.activations) == (100, 200, 70)
    assert found.exchange == 2 * 4 * 50 + 3 * 4 * 30


def test_memory_of_a_process_by_hand() -> None:
    cost = StepCost(100, {}, (), 1.0, 1.0, 0.0, 1.0, 400, 400, 800, 400, activations=70, temporary=200)
    assert process_memory(cost, 10**9) == 10**9 + LOADED + KEPT * 2200
    assert process_memory(cost, None) is None, "not every system says what a process holds"


def test_the_process_must_fit_and_not_only_its_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "SECONDS", 0.01)
    monkeypatch.setattr(probe, "STEPS", 0.01)
    found = estimate(dataclasses.replace(small(), held=10**9), None)
    (memory,) = found.memory
    assert found.process is not None and found.process > memory.total + 10**9
    for more, fits in ((-1, False), (1, True)):
        there = dataclasses.replace(found.devices, memory=found.process - 10**9 + more)
        assert dataclasses.replace(found, devices=there).fits(memory) == fits


def test_rates_do_not_count_the_time_of_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "SECONDS", 0.01)
    assert probe._fastest(lambda: time.sleep(0.02)) < 0.01


@pytest.mark.parametrize("name", MILLIONS)
def test_the_sizes_of_gpt3_are_those_that_were_printed(name: str) -> None:
    draft = gpt3_draft(name, None, "bfloat16")
    settings = draft.settle(None)
    assert count_parameters(draft.model, draft.sizes) / 1e6 == pytest.approx(MILLIONS[name], rel=0.02)
    assert settings.batch * settings.accumulate == pytest.approx(BATCH[name], rel=0.01)
    assert settings.steps * settings.batch * settings.accumulate == pytest.approx(300e9, rel=0.01)
    assert settings.rate == RATE[name]


def test_devices_are_read() -> None:
    assert parse_devices("8 x 80GB@989TFLOPS@700W") == Devices(8, 80e9, 989e12, 700.0)
    assert parse_devices(" 24 gb @ 1.5 pflops ", 0.3) == Devices(1, 24e9, 1.5e15, None, 0.3)
    assert (parse_count("300B", "--tokens"), parse_count("26000", "--tokens")) == (300e9, 26000)


@pytest.mark.parametrize(
    ("text", "utilisation", "words"),
    [
        ("8 x 80GB", 0.4, "is not understood"),
        ("eight x 80GB@989TFLOPS", 0.4, "is not understood"),
        ("0 x 80GB@989TFLOPS", 0.4, "every number must be above zero"),
        ("8 x 80GB@989TFLOPS", 1.4, "must be above 0 and at most 1"),
    ],
)
def test_a_device_that_is_none_is_explained(text: str, utilisation: float, words: str) -> None:
    with pytest.raises(UsageError, match=words) as problem:
        parse_devices(text, utilisation)
    assert problem.value.hint


def test_a_number_of_tokens_that_is_none_is_explained() -> None:
    with pytest.raises(UsageError, match="`--tokens many` is not a number of tokens"):
        parse_count("many", "--tokens")
