"""From a recipe to a run: read the data, plan what was left open, train, keep everything in one directory.

recipe.json              what was asked
doctor.json              what the doctor found in the data
validation.jsonl         the held-out pairs that the scores are of (translation)
cache/*.tokens           the text as numbers, mapped into memory (language models)
tokenizer.json           the vocabulary
plan.json                the recipe with every choice made, and the fingerprint of the data
checkpoint.safetensors   everything needed to continue
weights.safetensors      the best weights so far: what `translate` uses
metrics.jsonl            the curves
report.html              all of it to look at
"""

import dataclasses
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import IO, Any

import torch

from headway.core import machine, registry
from headway.core.config import Choice, difference, from_json, to_json
from headway.core.errors import DiskError, HeadwayError, RunError, UsageError, together
from headway.core.files import disk_errors, expect_run, read_json, write_json, write_text, write_whole
from headway.core.lock import locked
from headway.core.recipe import Recipe
from headway.core.seeds import derive
from headway.data.input_file import InputFile
from headway.train import checkpoint, plan
from headway.train.loop import Loop
from headway.train.progress import Progress


@dataclasses.dataclass(frozen=True)
class Plan:
    """plan.json: the recipe with every choice made, and which data and machine it was made for."""

    recipe: Recipe
    data: dict[str, str]
    threads: int  # another number of threads adds in another order, and the last bits differ


def build(recipe: Recipe, task: Any) -> Any:
    """The untrained model of a recipe; its weights follow from the seed."""
    torch.manual_seed(derive(recipe.seed, "weights"))
    return construct(recipe.model, task.vocabularies)


def construct(model: Choice, vocabularies: tuple[int, ...]) -> Any:
    entry = registry.get("models", model.name)
    config = from_json(entry.module.Config, model.options, f"options of {entry.name}")
    return entry.load()(config, *vocabularies)


def task_of(recipe: Recipe) -> Any:
    """The class of the recipe's task."""
    return registry.get("tasks", recipe.task).load()


def start(recipe: Recipe, out: Path, progress: Progress | None = None) -> bool:
    """Train a new run. Returns False if a person interrupted it."""
    progress = progress or Progress()
    with disk_errors(out):
        if (out / "recipe.json").exists():
            raise RunError(f"`{out}` already holds a run", f"continue it with `headway train --resume {out}`, or choose another `--out`.")
        if out.exists() and (not out.is_dir() or any(p.name != ".lock" and p.suffix != ".part" for p in out.iterdir())):
            raise RunError(f"`{out}` exists and is not an empty directory", "choose another `--out`.")
        out.mkdir(parents=True, exist_ok=True)
    with locked(out):
        try:
            recipe = _keep_standard_input(recipe, out)
            write_json(out / "recipe.json", to_json(recipe))
            return _train(recipe, out, progress)
        except HeadwayError as problem:
            if not (out / "plan.json").exists() and not isinstance(problem, DiskError):
                shutil.rmtree(out, ignore_errors=True)  # nothing was learned yet: the same `--out` is free for the next try
            raise


def _keep_standard_input(recipe: Recipe, out: Path) -> Recipe:
    """Pairs that came through a pipe are gone once read: the run keeps them, so that it can be resumed."""
    piped = [name for name, value in dataclasses.asdict(recipe.data).items() if value == "-"]
    if len(piped) > 1:
        raise UsageError(f"standard input can be read only once, not for {' and '.join(piped)}", "bring files for all but one.")
    if not piped:
        return recipe
    path = out / "standard_input"  # no suffix: the reader finds out what it is
    if piped[0] == "text":  # of any size: copied, never held
        write_whole(path, lambda part: _copy(sys.stdin.buffer, part))
    else:
        write_text(path, InputFile("-").text())
    kept: dict[str, Any] = {piped[0]: str(path.resolve())}
    return dataclasses.replace(recipe, data=dataclasses.replace(recipe.data, **kept))


def _copy(source: IO[bytes], path: Path) -> None:
    with open(path, "wb") as file:
        shutil.copyfileobj(source, file)


def resume(out: Path, progress: Progress | None = None) -> bool:
    """Continue a run exactly where its last checkpoint stands."""
    progress = progress or Progress()
    expect_run(out)
    with locked(out):
        return _train(from_json(Recipe, read_json(out / "recipe.json"), str(out / "recipe.json")), out, progress)


def _train(asked: Recipe, out: Path, progress: Progress) -> bool:
    began = time.monotonic()
    try:
        progress.say("reading the data ...")
        corpus = task_of(asked).collect(asked)
        progress.say(corpus.said())
        loop = _continued(asked, out, corpus) if (out / "plan.json").exists() else _planned(asked, out, corpus, progress, began)
        return loop.run(progress)
    finally:
        progress.close()


def _loop(recipe: Recipe, out: Path, task: Any, corpus: Any) -> Loop:
    batches, validation = task.open(recipe, corpus, out)
    return Loop(recipe, out, task, batches, validation, lambda: build(recipe, task))


def _continued(asked: Recipe, out: Path, corpus: Any) -> Loop:
    """The loop of a run whose plan is made already, if the plan still fits what was asked and the data."""
    made = from_json(Plan, read_json(out / "plan.json"), str(out / "plan.json"))
    _refuse_changes(asked, made, corpus, out)
    machine.prepare(made.threads)
    return _loop(made.recipe, out, task_of(made.recipe).load(made.recipe, out), corpus)


def _planned(asked: Recipe, out: Path, corpus: Any, progress: Progress, began: float) -> Loop:
    """Choose what was left open, write it down, and make the loop."""
    if (out / checkpoint.FILE).exists():
        raise RunError(f"`{out / 'plan.json'}` is missing", "restore it from a copy; without it the checkpoint cannot be continued.")
    threads = machine.prepare()
    write_json(out / "doctor.json", corpus.to_json())
    recipe = plan.plan(asked, corpus)
    progress.say(f"learning a {recipe.tokens.kind} vocabulary ...")
    task = task_of(recipe).fit(recipe, corpus)
    task.save(out)
    loop = _loop(recipe, out, task, corpus)
    with torch.no_grad():  # a model that cannot hold the longest example says so now, not in the middle of training
        task.loss(loop.learner.model, task.costliest(loop.batches), 0.0)
    seconds = None
    if recipe.training.minutes is not None:
        progress.say("measuring the speed of this machine ...")
        seconds = _seconds_per_step(loop, began)
    recipe = plan.plan_steps(recipe, len(loop.batches), seconds)
    parameters = sum(p.numel() for p in loop.learner.model.parameters())
    progress.say(plan.said(recipe, task.vocabularies[-1], parameters, len(loop.batches)))
    write_json(out / "plan.json", to_json(Plan(recipe, corpus.fingerprint, threads)))
    return Loop(recipe, out, task, loop.batches, loop.validation, lambda: build(recipe, task))


def _seconds_per_step(loop: Loop, began: float) -> float:
    """Time a few real steps on a throwaway model, plus the share that reading and validations will take."""
    budget = 60 * (loop.training.minutes or 1)
    loop.learner.model.train()
    times: list[float] = []
    while len(times) < 5 or (sum(times) < min(20.0, 0.03 * budget) and len(times) < 200):
        start = time.monotonic()
        loop.update(len(times), 1e-6)  # a vanishing rate: only the time counts
        times.append(time.monotonic() - start)
    start = time.monotonic()
    loop.validation(loop.learner.average)  # an untrained model writes to the limit: more than validations will cost
    once = 0.5 * (time.monotonic() - start)
    left = max(0.5 * budget, budget - (time.monotonic() - began) - 13 * once)
    return statistics.median(times[1:]) * budget / left  # the mean would plan for every hiccup of the first seconds


def _refuse_changes(asked: Recipe, made: Plan, corpus: Any, out: Path) -> None:
    """Data or recipe that changed since the run began would make it neither the old run nor a new one."""
    settled, wanted = to_json(made.recipe), to_json(asked)
    changes = ["recipe: " + line for line in difference(_only(wanted, settled), wanted)]
    if (out / checkpoint.FILE).exists():
        changes += ["plan: " + line for line in difference(checkpoint.read_header(out / checkpoint.FILE)[1], settled)]
    for name, mark in corpus.fingerprint.items():
        if made.data.get(name) != mark:
            changes.append(f"the {name} data is not what the run began with: {made.data.get(name)} -> {mark}")
    hint = "undo the change, or start a new run in another `--out`."
    together(changes, RunError, f"`{out}` cannot be continued, something changed", hint)


def _only(asked: Any, settled: Any) -> Any:
    """The settled recipe with `None` wherever the asked one left the choice open."""
    if isinstance(asked, dict) and isinstance(settled, dict):
        return {key: _only(asked.get(key), value) for key, value in settled.items() if key in asked}
    return None if asked is None else settled
