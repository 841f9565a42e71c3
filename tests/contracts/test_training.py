"""The loop: rollback, early stopping, accumulation, schedules, the optimizers, and that the doctor's count is exact."""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from headway.core.config import Choice
from headway.core.errors import RunError
from headway.core.recipe import Data, Recipe, Tokens, Training
from headway.data.corpus import collect
from headway.data.grammar.corpus import generate
from headway.tasks.translation import Translation, Validation
from headway.train.loop import Loop
from headway.train.muon import Muon, from_blocks, orthogonalised, to_blocks
from headway.train.plan import Size, plan_budget, plan_model, plan_tokens
from headway.train.progress import Progress
from headway.train.session import build

SMALL = Choice("transformer", {"width": 16, "depth": 1, "heads": 2, "inner": 32, "dropout": 0.0})
TRAINING = Training(steps=12, batch=256, rate=1e-2, warmup=2, average=0.5, validate=4, smoothing=0.1)


def loop(folder: Path, **changes: Any) -> Loop:
    training = dataclasses.replace(TRAINING, **changes)
    recipe = Recipe(data=Data(grammar=60), tokens=Tokens(size=400), model=SMALL, training=training)
    corpus = collect(recipe.data, recipe.seed)
    task = Translation.fit(recipe, corpus)
    batches = task.batches(corpus.train, training.batch or 1, recipe.seed)
    validation = Validation(task, dataclasses.replace(corpus.validation), 512, sentences=3)
    return Loop(recipe, folder, task, batches, validation, lambda: build(recipe, task))


class Said(Progress):
    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def poison(made: Loop, at: Callable[[int], bool]) -> None:
    """Make the loss not a number whenever `at` says so, counted in calls."""
    plain, calls = made.task.loss, [0]

    def loss(model: Any, batch: Any, smoothing: float) -> Any:
        value, nll, tokens = plain(model, batch, smoothing)
        if model is made.learner.model:
            calls[0] += 1
            if at(calls[0]):
                value = value * math.nan
        return value, nll, tokens

    made.task.loss = loss  # type: ignore[method-assign]


def test_a_loss_that_is_not_finite_rolls_back_and_halves_the_rate(tmp_path: Path) -> None:
    made, said = loop(tmp_path), Said()
    poison(made, lambda call: call == 7)
    assert made.run(said)
    assert made.note.step == 12 and made.note.rollbacks == 1 and made.note.scale == 0.5
    assert any("back to step" in line and "0.5 of the learning rate" in line for line in said.lines)
    assert all(torch.isfinite(p).all() for p in made.learner.model.parameters())


def test_a_loss_that_is_never_finite_gives_up_with_a_hint(tmp_path: Path) -> None:
    made = loop(tmp_path)
    poison(made, lambda call: True)
    with pytest.raises(RunError, match="diverged 7 times") as caught:
        made.run(Said())
    assert "--training.rate" in caught.value.hint


def test_early_stopping(tmp_path: Path) -> None:
    made, said = loop(tmp_path, patience=2, steps=40), Said()
    figures = iter([(50.0, 1.0), (50.0, 2.0), (49.0, 0.5), (99.0, 0.1)])

    def judge(model: Any) -> dict[str, Any]:
        chrf, nats = next(figures)
        return {"bleu": 0.0, "chrf": chrf, "rank": chrf, "nats": nats, "signature": "", "samples": []}

    made.validation = judge  # type: ignore[assignment]
    assert made.run(said)
    assert made.note.step == 12 and made.note.best == 50.0 and made.note.best_step == 4
    assert any("stopping early" in line for line in said.lines)


def test_fewer_nats_win_when_the_score_stands_still(tmp_path: Path) -> None:
    made = loop(tmp_path)
    figures = iter([(0.0, 3.0), (0.0, 2.0), (0.0, 2.5)])

    def judge(model: Any) -> dict[str, Any]:
        chrf, nats = next(figures)
        return {"bleu": 0.0, "chrf": chrf, "rank": chrf, "nats": nats, "signature": "", "samples": []}

    made.validation = judge  # type: ignore[assignment]
    made.run(Said())
    assert made.note.best_step == 8


def test_accumulated_gradients_are_those_of_one_large_batch(tmp_path: Path) -> None:
    made = loop(tmp_path, accumulate=3)
    made.gradients(0)
    several = [p.grad.clone() for p in made.learner.model.parameters()]
    made.learner.model.zero_grad()
    total = tokens = 0
    for i in range(3):
        loss, _, count = made.task.loss(made.learner.model, made.batches[i], TRAINING.smoothing)
        total, tokens = total + loss, tokens + count
    (total / tokens).backward()
    for one, other in zip(several, (p.grad for p in made.learner.model.parameters()), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
@pytest.mark.parametrize("schedule", ["cosine", "inverse_root", "constant"])
def test_every_optimizer_and_schedule_learns(tmp_path: Path, optimizer: str, schedule: str) -> None:
    made = loop(tmp_path, optimizer=optimizer, schedule=schedule)
    first = made.validation(made.learner.average)["nats"]
    assert made.run(Said())
    assert made.validation(made.learner.average)["nats"] < first - 0.3


def test_muon_against_the_singular_value_decomposition() -> None:
    torch.manual_seed(0)
    x = torch.randn(5, 24, 24)
    u, _, vt = torch.linalg.svd(x)
    o = orthogonalised(x)
    # Newton-Schulz keeps the singular vectors: o = U diag(s) V^T with s near 1 (0.7 to 1.2) except for the smallest ones.
    s = torch.diagonal(u.mT @ o @ vt.mT, dim1=-2, dim2=-1)
    torch.testing.assert_close(u @ torch.diag_embed(s) @ vt, o, atol=1e-4, rtol=1e-3)
    assert ((s[:, :-4] > 0.6) & (s[:, :-4] < 1.25)).all()
    for rows, columns in ((6, 2), (2, 6), (5, 3), (3, 5), (4, 4)):
        m = torch.randn(rows, columns)
        assert torch.equal(from_blocks(to_blocks(m), rows, columns), m)
    weight = torch.nn.Parameter(torch.zeros(8, 8))
    weight.grad = torch.randn(8, 8)
    Muon([weight], lr=0.1).step()
    expected = -0.1 * 0.2 * 8**0.5 * orthogonalised(weight.grad[None])[0]
    torch.testing.assert_close(weight.data, expected)


def test_the_plan_fits_what_was_given() -> None:
    for width in (200, 130, 512, 7):  # 200: three heads of 64 would not divide it
        recipe = plan_model(Recipe(model=Choice("transformer", {"width": width})), Size(29_000, 2_000_000))
        assert width % int(recipe.model.options["heads"] or 1) == 0 and recipe.model.options["inner"] == 2 * width
    assert plan_budget(Recipe()).training.minutes == 10.0
    hurried = plan_model(Recipe(training=Training(minutes=2.0)), Size(29_000, 2_000_000))
    assert hurried.model.options["width"] == 128
    assert plan_tokens(Recipe(tokens=Tokens("wordpiece")), Size(10, 300)).tokens.size == 1000
    assert plan_model(Recipe(tokens=Tokens(joint=False)), Size(10, 300)).model.options["share"] is False


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_bad_line_vanishes(tmp_path: Path, seed: int) -> None:
    """Lines are examined before any are set apart: what is dropped is counted, wherever it would have landed."""
    pairs = generate(60, "train", 0)
    sources, targets = [p.source for p in pairs], [p.target for p in pairs]
    for line in (3, 17, 41):
        targets[line] = ""
    (tmp_path / "a").write_text("".join(s + "\n" for s in sources), encoding="utf-8")
    (tmp_path / "b").write_text("".join(t + "\n" for t in targets), encoding="utf-8")
    corpus = collect(Data(source=str(tmp_path / "a"), target=str(tmp_path / "b")), seed)
    (report,) = corpus.reports
    assert report.total == 60 and report.kept == 57 == len(corpus.train) + len(corpus.validation)
    assert next(f for f in report.findings if f.kind == "empty").lines == (4, 18, 42)
    assert not set(corpus.train.sources) & set(corpus.validation.sources)
