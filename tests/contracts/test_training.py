"""The loop: divergence, early stopping, accumulation, schedules, the optimizers, roles, and that the doctor's count is exact."""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from headway.core.config import Choice
from headway.core.errors import RunError
from headway.core.files import read_tensors
from headway.models.build import build_model
from headway.tasks.task import Figure, Loss, Validation
from headway.tasks.translation import Data, Translation
from headway.training.checkpoint import FILE, read_header
from headway.training.loop import EXPLODED, Loop
from headway.training.plan import Settings
from headway.training.progress import Progress

SMALL = Choice("transformer", {"width": 16, "depth": 1, "heads": 2, "inner": 32, "dropout": 0.0})
SETTINGS = Settings(steps=12, batch=256, rate=1e-2, warmup=2, average=0.5, validate=4)
DATA = Data(grammar=60, vocabulary=400, smoothing=0.1)


def loop(folder: Path, **changes: Any) -> Loop[Any]:
    corpus = Translation.collect(DATA, 1)
    corpus = dataclasses.replace(corpus, held_out={name: part.first(3) for name, part in corpus.held_out.items()})
    task = Translation.fit(DATA, corpus, None)
    torch.manual_seed(1)
    settings = dataclasses.replace(SETTINGS, **changes)
    batches = task.prepare(corpus, folder, settings.batch, 1)
    model = build_model(SMALL, task.sizes)
    return Loop(
        model,
        batches,
        task.loss,
        settings,
        1,
        folder=folder,
        validate=lambda m: task.validate(m, folder),
        figures=task.figures,
    )


class Spy(Progress):
    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def poison(made: Loop[Any], at: Callable[[int], bool], factor: float = math.nan) -> None:
    """Multiply the loss of training by `factor` whenever `at` says so, counted in calls with gradients."""
    plain, calls = made.engine.compute.loss, [0]

    def loss(model: Any, batch: Any) -> Loss:
        found = plain(model, batch)
        if model is made.learner.model and torch.is_grad_enabled():
            calls[0] += 1
            if at(calls[0]):
                return Loss(found.total * factor, found.plain * factor, found.count)
        return found

    made.engine.compute.loss = loss


@pytest.mark.parametrize("factor", [math.nan, math.inf, 1e4])
def test_divergence_rolls_back_and_lowers_the_rate(tmp_path: Path, factor: float) -> None:
    made, spy = loop(tmp_path), Spy()
    poison(made, lambda call: call == 7, factor)
    assert made.run(spy)
    assert made.state.step == 12 and made.state.rollbacks == 1 and made.state.scale == 0.5
    assert any(
        "diverged at step 7" in line and "back to step" in line and "0.5 of the learning rate" in line
        for line in spy.lines
    )
    assert all(torch.isfinite(p).all() for p in made.learner.model.parameters())


def test_a_loss_that_is_never_finite_gives_up_with_a_hint(tmp_path: Path) -> None:
    made = loop(tmp_path)
    poison(made, lambda call: True)
    with pytest.raises(RunError, match="diverged 7 times") as caught:
        made.run(Spy())
    assert "--training.rate" in caught.value.hint and read_header(tmp_path / FILE)[0].step == 0


def test_a_checkpoint_never_holds_weights_that_diverged(tmp_path: Path) -> None:
    """Weights are spoilt by the very update after which a checkpoint is due: it must not be written before the next loss is seen."""
    made, spy = loop(tmp_path, validate=4), Spy()
    plain, spoilt = made.update, []

    def update(step: int, norm: torch.Tensor) -> None:
        plain(step, norm)
        if step == 3 and not spoilt:  # a checkpoint is due after each step here
            spoilt.append(step)
            with torch.no_grad():
                for p in made.learner.model.parameters():
                    p.mul_(1e6)

    made.update = update  # type: ignore[method-assign]
    made.validate = lambda m: Validation({}, 1.0)
    assert made.run(spy)
    assert made.state.rollbacks == 1 and any("back to step 3" in line for line in spy.lines)
    first = made.state.first or 0.0
    assert made.gradients(0)[0] < EXPLODED * first


def test_a_validation_that_is_not_a_number_is_divergence(tmp_path: Path) -> None:
    made, spy = loop(tmp_path), Spy()
    scores = iter([1.0, math.nan, 2.0, 3.0])
    made.validate = lambda m: Validation({}, next(scores))
    assert made.run(spy)
    assert made.state.best == 3.0 and made.state.rollbacks == 1 and read_header(tmp_path / FILE)[0].best == 3.0


def test_early_stopping_keeps_the_best_weights(tmp_path: Path) -> None:
    made, spy = loop(tmp_path, patience=2, steps=40), Spy()
    scores, kept = iter([50.0, 49.0, 50.0, 99.0]), []

    def validate(model: nn.Module) -> Validation:
        kept.append({n: p.clone() for n, p in model.named_parameters()})
        return Validation({"chrF": 1.0}, next(scores))

    made.validate, made.figures = validate, (Figure("chrF"),)
    assert made.run(spy)
    assert (
        made.state.step == 12 and made.state.best == 50.0 and made.state.best_step == 4 and made.state.validations == 3
    )
    assert any("stopping early" in line for line in spy.lines) and any("(not better)" in line for line in spy.lines)
    weights = read_tensors(tmp_path / "weights.safetensors")
    assert all(torch.equal(weights[n], p) for n, p in kept[0].items()), "the weights of step 4"


def test_a_young_model_is_ranked_by_its_loss(tmp_path: Path) -> None:
    """chrF of a model that cannot translate yet is noise: with it, step 2 of 20 was kept once."""
    made = loop(tmp_path)
    found = made.validate(made.learner.average) if made.validate else None
    assert (
        found is not None and found.figures["chrF"] < 15 and found.score == pytest.approx(-found.figures["loss"] - 1000)
    )


def test_accumulated_gradients_are_those_of_one_large_batch(tmp_path: Path) -> None:
    made = loop(tmp_path, accumulate=3)
    made.learner.model.train()
    made.gradients(0)
    several = [p.grad.clone() for p in made.learner.model.parameters()]
    made.learner.model.zero_grad()
    found = [made.engine.loss(made.batches[i]) for i in range(3)]
    (sum(f.total for f in found) / sum(f.count for f in found)).backward()
    for one, other in zip(several, (p.grad for p in made.learner.model.parameters()), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)


def test_timed_steps_leave_everything_as_it_was(tmp_path: Path) -> None:
    made = loop(tmp_path)
    before = {n: t.clone() for n, t in made.learner.tensors().items()}
    assert len(made.timed_steps(0.0)) == 5
    after = made.learner.tensors()
    assert before.keys() == after.keys() and all(torch.equal(t, after[n]) for n, t in before.items())


@pytest.mark.parametrize(
    "seconds, total, word", [(0.5, 24, "faster"), (0.98, 12, None), (2.0, 6, "slower")]
)  # of a step: 12 seconds were left for the 12 planned ones
def test_a_budget_of_time_is_planned_again(tmp_path: Path, seconds: float, total: int, word: str | None) -> None:
    made, spy = loop(tmp_path, seconds=12.0, validate=2), Spy()
    made._seconds = lambda: seconds * made.state.step  # type: ignore[method-assign]
    made.run(spy)
    assert made.state.step == made.state.total == total
    told = [line for line in spy.lines if "measured" in line]
    assert told == ([f"the machine is {word} than measured: {total} steps instead of 12"] if word else [])
    assert read_header(tmp_path / FILE)[0].total == total, "whoever continues the run trains as long"


@pytest.mark.parametrize("schedule, total", [("cosine", 12), ("linear", 12), ("trapezoid", 12), ("constant", 20)])
def test_more_steps_do_not_raise_the_rate(tmp_path: Path, schedule: str, total: int) -> None:
    """The machine is faster from the middle on, where most schedules have begun to fall."""
    made = loop(tmp_path, seconds=12.0, validate=2, schedule=schedule)
    made._seconds = lambda: float(made.state.step) if made.state.step < 6 else 0.6 * made.state.step  # type: ignore[method-assign]
    made.run(Spy())
    assert made.state.total == total


def test_what_was_planned_again_is_kept_at_once(tmp_path: Path) -> None:
    """The next checkpoint would be due at step 10: a run that is killed before would plan once more, by another clock."""
    made = loop(tmp_path, seconds=12.0, validate=9, steps=40)
    made.validate = lambda m: Validation({}, 1.0)
    made._seconds = lambda: 1.0 * made.state.step  # type: ignore[method-assign]
    alive = iter(range(9))
    step, made.update = made.update, lambda *given: (next(alive), step(*given))  # type: ignore[assignment,method-assign]
    with pytest.raises(StopIteration):
        made.run(Spy())
    assert (read_header(tmp_path / FILE)[0].step, read_header(tmp_path / FILE)[0].total) == (9, 12)


def test_lost_curves_change_no_plan(tmp_path: Path) -> None:
    """A damaged metrics.jsonl may be deleted. Then the clock begins anew, and all steps so far would seem to have taken no time."""
    made = loop(tmp_path, seconds=12.0, validate=2, schedule="constant")
    made._seconds = lambda: float(made.state.step)  # type: ignore[method-assign]
    made.run(Spy(), until=lambda step: step == 3)
    (tmp_path / "metrics.jsonl").unlink()
    again = loop(tmp_path, seconds=12.0, validate=2, schedule="constant")
    again.run(Spy())
    assert again.state.step == again.state.total == 12


def test_the_average_keeps_no_history(tmp_path: Path) -> None:
    """It did: 400 bytes for each weight tensor and step, hundreds of megabytes in an hour."""
    made = loop(tmp_path)
    made.run(Spy(), until=lambda step: step == 3)
    assert not [name for name, p in made.learner.average.named_parameters() if p.requires_grad or p.grad_fn]


def test_a_loop_without_a_folder_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    net = nn.Linear(3, 1)

    class Rows:
        def __len__(self) -> int:
            return 4

        def __getitem__(self, number: int) -> torch.Tensor:
            return torch.randn(8, 3, generator=torch.Generator().manual_seed(number % 4))

        def largest(self) -> torch.Tensor:
            return self[0]

    def loss(model: nn.Module, x: torch.Tensor) -> Loss:
        total = (model(x) - x.sum(1, keepdim=True)).square().sum()
        return Loss(total, total.detach(), len(x))

    made = Loop(net, Rows(), loss, Settings(steps=200, batch=8, rate=0.1, optimizer="adamw"), 1)
    assert made.run(until=lambda step: step == 150) and made.state.step == 150
    assert loss(net, torch.randn(8, 3)).plain / 8 < 0.05 and not list(tmp_path.iterdir())


def test_a_checkpoint_counts_no_batch_twice(tmp_path: Path) -> None:
    """Batch norm has seen the batch of the next step when the checkpoint is written; whoever continues shows it that batch again."""

    def made(folder: Path) -> Loop[Any]:
        torch.manual_seed(1)
        sizes = {"channels": 1, "outputs": 3}
        model = build_model(Choice("resnet", {"filters": 4, "depth": 1, "blocks": 1, "dropout": 0.0}), sizes)

        class Pictures:
            def __len__(self) -> int:
                return 4

            def __getitem__(self, number: int) -> torch.Tensor:
                return torch.randn(8, 1, 6, 6, generator=torch.Generator().manual_seed(number % 4))

            def largest(self) -> torch.Tensor:
                return self[0]

        def loss(model: nn.Module, x: torch.Tensor) -> Loss:
            total = model(x).square().sum()
            return Loss(total, total.detach(), len(x))

        return Loop(model, Pictures(), loss, dataclasses.replace(SETTINGS, steps=8), 1, folder=folder)

    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    whole, killed = made(tmp_path / "whole"), made(tmp_path / "killed")
    assert whole.run(Spy())
    plain = killed.update

    def update(step: int, norm: torch.Tensor) -> None:
        if step == 5:
            raise MemoryError("killed")
        plain(step, norm)

    killed.update = update  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        killed.run(Spy())
    again, spy = made(tmp_path / "killed"), Spy()
    assert again.run(spy) and spy.lines == ["continuing at step 5 of 8"]
    expected = whole.learner.tensors()
    assert any("mean" in name for name in expected)
    assert not [name for name, tensor in again.learner.tensors().items() if not torch.equal(tensor, expected[name])]


def test_whatever_ends_a_loop_is_saved(tmp_path: Path) -> None:
    made = loop(tmp_path, steps=4000, validate=2000)  # a checkpoint is due every 500 steps
    made.run(Spy(), until=lambda step: step == 3)
    assert read_header(tmp_path / FILE)[0].step == 3


def test_going_back_does_not_forget_the_best_weights(tmp_path: Path) -> None:
    made, scores = loop(tmp_path), iter([5.0, 1.0, 2.0, 3.0])
    made.validate = lambda m: Validation({}, next(scores))
    poison(made, lambda call: call == 5)  # right after the validation of step 4, whose checkpoint is not written yet
    assert made.run(Spy()) and made.state.rollbacks == 1
    assert (made.state.best, made.state.best_step) == (5.0, 4)


def test_a_signal_is_not_lost(tmp_path: Path) -> None:
    """One that comes while processes agree on whether to stop."""
    made = loop(tmp_path)

    class Slow:
        first, world = True, 1

        def sums(self, values: list[float]) -> list[float]:
            made.interrupted = True
            return list(values)

    made.processes = Slow()  # type: ignore[assignment]
    assert not made._finished(Spy()) and made.interrupted
    assert made._finished(Spy())
