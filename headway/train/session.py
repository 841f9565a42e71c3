"""From a recipe to a run: read the data, plan what was left open, train, keep everything in one directory.

recipe.json          what was asked
doctor.json          what the doctor found in the data
tokenizer.json       the vocabulary
plan.json            the recipe with every choice made, and the fingerprint of the data
checkpoint.safetensors   everything needed to continue
weights.safetensors      the best weights so far: what `translate` uses
metrics.jsonl        the curves
report.html          all of it to look at
"""

import dataclasses
import shutil
import time
from pathlib import Path
from typing import Any

import torch

from headway.core import machine, registry
from headway.core.config import Choice, difference, from_json, to_json
from headway.core.errors import HeadwayError, RunError, together
from headway.core.files import disk_errors, expect_run, read_json, write_json
from headway.core.lock import locked
from headway.core.recipe import Recipe
from headway.core.seeds import derive
from headway.tasks.translation import Corpus, Translation, Validation, collect
from headway.train import checkpoint, plan
from headway.train.checkpoint import Learner
from headway.train.loop import Loop
from headway.train.progress import Progress


@dataclasses.dataclass(frozen=True)
class Plan:
    """plan.json: the recipe with every choice made, and which data it was made for."""

    recipe: Recipe
    data: dict[str, str]


def build(recipe: Recipe, task: Translation) -> Any:
    """The untrained model of a recipe; its weights follow from the seed."""
    torch.manual_seed(derive(recipe.seed, "weights"))
    return construct(recipe.model, task)


def construct(model: Choice, task: Translation) -> Any:
    entry = registry.get("models", model.name)
    config = from_json(entry.module.Config, model.options, f"options of {entry.name}")
    return entry.load()(config, task.source.size, task.target.size)


def start(recipe: Recipe, out: Path, progress: Progress | None = None) -> bool:
    """Train a new run. Returns False if a person interrupted it."""
    progress = progress or Progress()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        if (out / "recipe.json").exists():
            raise RunError(f"`{out}` already holds a run", f"continue it with `headway train --resume {out}`, or choose another `--out`.")
        raise RunError(f"`{out}` exists and is not an empty directory", "choose another `--out`.")
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    with locked(out):
        write_json(out / "recipe.json", to_json(recipe))
        try:
            return _train(recipe, out, progress)
        except HeadwayError:
            if not (out / "plan.json").exists():  # nothing was learned yet: the same `--out` is free for the next try
                shutil.rmtree(out, ignore_errors=True)
            raise


def resume(out: Path, progress: Progress | None = None) -> bool:
    """Continue a run exactly where its last checkpoint stands."""
    progress = progress or Progress()
    expect_run(out)
    with locked(out):
        return _train(from_json(Recipe, read_json(out / "recipe.json"), str(out / "recipe.json")), out, progress)


def _train(asked: Recipe, out: Path, progress: Progress) -> bool:
    machine.prepare()
    began = time.monotonic()
    try:
        progress.say("reading the data ...")
        corpus = collect(asked)
        progress.say(corpus.report.text())
        write_json(out / "doctor.json", corpus.report.to_json())
        recipe, task = _plan(asked, out, corpus, progress, began)
        training = recipe.training
        batches = task.batches(corpus.train, training.batch or 1, recipe.seed)
        validation = Validation(task, corpus.validation, training.batch or 1)
        loop = Loop(recipe, out, task, batches, validation, lambda: build(recipe, task))
        return loop.run(progress)
    finally:
        progress.close()


def _plan(asked: Recipe, out: Path, corpus: Corpus, progress: Progress, began: float) -> tuple[Recipe, Translation]:
    """The plan that is there, if it fits what was asked and the data; or a new one."""
    size = plan.Size(len(corpus.train), sum(map(len, corpus.train.targets)))
    if (out / "plan.json").exists():
        made = from_json(Plan, read_json(out / "plan.json"), str(out / "plan.json"))
        _refuse_changes(asked, made, corpus, out)
        return made.recipe, Translation.load(made.recipe, out)
    recipe = plan.plan_training(plan.plan_model(plan.plan_tokens(asked, size), size), size)
    progress.say(f"learning a {recipe.tokens.kind} vocabulary of {recipe.tokens.size} ...")
    task = Translation.fit(recipe, corpus)
    task.save(out)
    batches = task.batches(corpus.train, recipe.training.batch or 1, recipe.seed)
    seconds = None
    if recipe.training.minutes is not None:
        progress.say("measuring the speed of this machine ...")
        seconds = _seconds_per_step(recipe, out, task, corpus, began)
    recipe = plan.plan_steps(recipe, len(batches), seconds)
    parameters = sum(p.numel() for p in build(recipe, task).parameters())
    progress.say(plan.said(recipe, task.target.size, parameters, size, len(batches)))
    write_json(out / "plan.json", to_json(Plan(recipe, corpus.fingerprint)))
    return recipe, task


def _seconds_per_step(recipe: Recipe, out: Path, task: Translation, corpus: Corpus, began: float) -> float:
    """Time a few real steps on a throwaway model, plus the share that validations will take."""
    trial = dataclasses.replace(recipe, training=dataclasses.replace(recipe.training, steps=100, warmup=10, average=0.9))
    batches = task.batches(corpus.train, recipe.training.batch or 1, recipe.seed)
    validation = Validation(task, corpus.validation, recipe.training.batch or 1)
    loop = Loop(trial, out, task, batches, validation, lambda: build(trial, task))
    learner = Learner(build(trial, task), trial.training)
    learner.model.train()
    budget = 60 * (recipe.training.minutes or 1)
    times: list[float] = []
    while sum(times) < min(20.0, 0.03 * budget) or len(times) < 5:
        began_step = time.monotonic()
        loop.update(learner, len(times), 1e-6)  # a vanishing rate: only the time counts
        times.append(time.monotonic() - began_step)
        if len(times) >= 200:
            break
    step = sum(times[1:]) / (len(times) - 1)
    began_validation = time.monotonic()
    validation(learner.average)  # an untrained model writes to the limit: an upper bound of what validations cost
    once = 0.5 * (time.monotonic() - began_validation)
    left = max(0.5 * budget, budget - (time.monotonic() - began) - 13 * once)
    return step * budget / left


def _refuse_changes(asked: Recipe, made: Plan, corpus: Corpus, out: Path) -> None:
    """Data or recipe that changed since the run began would make it neither the old run nor a new one."""
    changes = []
    settled, wanted = to_json(made.recipe), to_json(asked)
    for line in difference(_only(wanted, settled), wanted):
        changes.append("recipe: " + line)
    if (out / checkpoint.FILE).exists():
        changes += ["plan: " + line for line in difference(checkpoint.read(out / checkpoint.FILE)[2], settled)]
    for name, mark in corpus.fingerprint.items():
        if made.data.get(name) != mark:
            changes.append(f"the {name} data is not what the run began with (fingerprint {made.data.get(name, '?')[:12]} -> {mark[:12]})")
    together(
        changes,
        RunError,
        f"`{out}` cannot be continued, something changed",
        "undo the change, or start a new run in another `--out`.",
    )


def _only(asked: Any, settled: Any) -> Any:
    """The settled recipe with `None` wherever the asked one left the choice open."""
    if isinstance(asked, dict) and isinstance(settled, dict):
        return {key: _only(asked.get(key), value) for key, value in settled.items() if key in asked}
    return None if asked is None else settled
