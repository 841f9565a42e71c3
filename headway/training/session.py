"""From a recipe to a run: read the data, plan what was left open, train, keep everything in one directory.

recipe.json              what was asked
doctor.json              what the doctor found in the data
held_out/                the parts that the scores are of, as the task keeps them
tokenizer.json ...       what the task learned of its data: vocabulary, label names
plan.json                every choice made, and the fingerprint of the data
checkpoint.safetensors   everything needed to continue
weights.safetensors      the best weights so far: what `translate` and its like use
metrics.jsonl            the curves
scores.json, report.html what came out, to read and to look at
members/                 the runs of an ensemble (`ensemble.py`)
"""

import dataclasses
import shutil
import sys
import time
from pathlib import Path
from typing import IO

import torch
from torch import nn

from headway.core import machine
from headway.core.config import difference, replaced, to_json
from headway.core.device import choose_device
from headway.core.errors import DataError, DiskError, RunError, UsageError, raise_all
from headway.core.files import disk_errors, read_json, write_json, write_whole
from headway.core.folds import Split, reading_fold
from headway.core.lock import locked
from headway.core.seeds import derive
from headway.models.build import build_model, count_parameters
from headway.models.choice import check_options
from headway.models.weights import redraw
from headway.tasks.folder import MEMBERS, WEIGHTS, require_run
from headway.tasks.names import data_class, read_task_name, task_class
from headway.tasks.other_run import open_base
from headway.tasks.recipe import Recipe, read_recipe
from headway.tasks.task import AnyTask, Corpus, errors_of
from headway.training import plan as planning
from headway.training.base_run import chosen_model, keep_base, take_weights
from headway.training.checkpoint import FILE, finished, read_header
from headway.training.ensemble import require_ensemble, train_members
from headway.training.loop import Loop, moved
from headway.training.plan import Plan, read_plan
from headway.training.precision import choose_precision
from headway.training.progress import Progress


def start(recipe: Recipe[object], out: Path, progress: Progress | None = None, anyway: bool = False) -> bool:
    """Train a new run. Returns False if a person interrupted it. `anyway`: also on data with errors."""
    progress = progress or Progress()
    planning.budget_of(recipe.training)
    require_ensemble(recipe)
    if recipe.model:
        check_options(recipe.model)
    with disk_errors(out):
        if (out / "recipe.json").exists():
            hint = f"continue it with `headway train --resume {out}`, or choose another `--out`."
            raise RunError(f"`{out}` already holds a run", hint)
        if out.exists() and (not out.is_dir() or any(p.name != ".lock" and p.suffix != ".part" for p in out.iterdir())):
            raise RunError(f"`{out}` exists and is not an empty directory", "choose another `--out`.")
        out.mkdir(parents=True, exist_ok=True)
    with locked(out):
        try:
            recipe = _keep_standard_input(recipe, out)
            write_json(out / "recipe.json", recipe.to_json())
            return _train(recipe, out, progress, anyway)
        except BaseException as problem:
            if not _worth_keeping(out) and not isinstance(problem, DiskError):
                # Nothing was learned yet: the same `--out` is free for the next attempt.
                shutil.rmtree(out, ignore_errors=True)
                if isinstance(problem, KeyboardInterrupt):
                    progress.say(f"stopped before the first step; `{out}` was removed, the same command begins again")
            raise


def _worth_keeping(out: Path) -> bool:
    """Whether anything was learned: weights, or a checkpoint beyond the first step."""
    if (out / WEIGHTS).exists() or any(_worth_keeping(member) for member in (out / MEMBERS).glob("*")):
        return True
    try:
        return (out / FILE).exists() and read_header(out / FILE)[0].step > 0
    except RunError:
        return True


def _keep_standard_input(recipe: Recipe[object], out: Path) -> Recipe[object]:
    """What comes through a pipe is gone once read: the run keeps it, so that it can be resumed."""
    piped = [name for name, value in to_json(recipe.data).items() if value == "-"]
    if len(piped) > 1:
        hint = "bring files for all but one."
        raise UsageError(f"standard input can be read only once, not for {' and '.join(piped)}", hint)
    if not piped:
        return recipe
    path = out / "standard_input"  # no suffix: the reader finds out what it is
    write_whole(path, lambda part: _copy(sys.stdin.buffer, part))
    if not path.stat().st_size:
        raise DataError("standard input is empty", "pipe something into it, or name a file.")
    return dataclasses.replace(recipe, data=replaced(recipe.data, {piped[0]: str(path.resolve())}, "standard input"))


def _copy(source: IO[bytes], path: Path) -> None:
    with open(path, "wb") as file:
        shutil.copyfileobj(source, file)


def resume(out: Path, progress: Progress | None = None) -> bool:
    """Continue a run exactly where its last checkpoint stands."""
    progress = progress or Progress()
    require_run(out)
    value = read_json(out / "recipe.json")
    data = data_class(read_task_name(out))
    with locked(out):
        planned, checkpoint, weights = ((out / name).exists() for name in ("plan.json", FILE, WEIGHTS))
        if planned and weights and not checkpoint and not (out / MEMBERS).is_dir():
            hint = f"it can be used as it is; `headway train TASK --from {out} ... --out NEW` trains on."
            raise RunError(f"`{out / FILE}` is missing, so the run cannot be continued", hint)
        if checkpoint and not planned:
            hint = "restore it from a copy; without it the checkpoint cannot be continued."
            raise RunError(f"`{out / 'plan.json'}` is missing", hint)
        return _train(read_recipe(value, data, str(out / "recipe.json")), out, progress, anyway=True)


def complete(recipe: Recipe[object], out: Path, progress: Progress, anyway: bool) -> bool:
    """Train a run or the rest of it; one that is finished stays as it is. Returns False if a person interrupted it."""
    if finished(out):
        return True
    return resume(out, progress) if (out / "recipe.json").exists() else start(recipe, out, progress, anyway)


def _train(recipe: Recipe[object], out: Path, progress: Progress, anyway: bool) -> bool:
    if recipe.ensemble > 1:
        return train_members(recipe, out, progress, lambda member, folder: _train(member, folder, progress, anyway))
    began = time.monotonic()
    kind = task_class(recipe.task)
    progress.loss_unit, progress.unit = kind.loss_unit, kind.unit
    try:
        progress.say("reading the data ...")
        split = recipe.split or Split(recipe.seed)
        with reading_fold(split, recipe.task):
            corpus = kind.collect(recipe.data, split.seed)
        progress.say(corpus.describe())
        _stop_on_errors(corpus, anyway)
        if (out / "plan.json").exists():
            loop = _continued(kind, recipe, out, corpus, progress)
        else:
            write_json(out / "doctor.json", [report.to_json() for report in corpus.reports])
            loop = _planned(kind, recipe, out, corpus, progress, began)
        return loop.run(progress)
    finally:
        progress.close()


def _stop_on_errors(corpus: Corpus, anyway: bool) -> None:
    found = [] if anyway else errors_of(corpus)
    hint = "mend the data, or go on with `--anyway`."
    raise_all([finding.message for finding in found], DataError, "the data has errors that would spoil the model", hint)


def _loop(task: AnyTask, plan: Plan[object], corpus: Corpus, out: Path, model: nn.Module) -> Loop[object]:
    batches = task.prepare(corpus, out, plan.training.batch, plan.seed)
    return Loop(
        model.to(plan.device),
        batches,
        task.loss,
        plan.training,
        plan.seed,
        folder=out,
        validate=lambda m: task.validate(m, out),
        figures=task.figures,
        columns=task.columns,
        plan=plan.to_json(),
        precision=plan.precision,
    )


def _continued(
    kind: type[AnyTask], recipe: Recipe[object], out: Path, corpus: Corpus, progress: Progress
) -> Loop[object]:
    """The loop of a run whose plan is made already, if the plan still fits what was asked and the data."""
    plan = read_plan(read_json(out / "plan.json"), data_class(recipe.task), str(out / "plan.json"))
    _refuse_changes(recipe, plan, corpus, out)
    machine.prepare(plan.threads)
    task = kind.load(plan.data, out)
    model = _built(plan, task.sizes)
    if plan.start and not (out / FILE).exists():  # killed before its first checkpoint
        take_weights(model, open_base(Path(plan.start)), progress)
    return _loop(task, plan, corpus, out, model)


def _built(plan: Plan[object], sizes: dict[str, int]) -> nn.Module:
    """The untrained model of a plan; its weights follow from the seed."""
    torch.manual_seed(derive(plan.seed, "weights"))
    model = build_model(plan.model, sizes)
    if plan.training.initialisation:
        redraw(model, plan.training.initialisation)
    return model


def _planned(
    kind: type[AnyTask], recipe: Recipe[object], out: Path, corpus: Corpus, progress: Progress, began: float
) -> Loop[object]:
    """Choose what was left open, build the model, write the plan down, and make the loop."""
    threads = machine.prepare()
    device = choose_device(recipe.device)
    recipe = dataclasses.replace(recipe, training=planning.budget_of(recipe.training))
    base = open_base(Path(recipe.start)) if recipe.start else None
    recipe = dataclasses.replace(recipe, model=chosen_model(recipe, kind, base))
    proposal = kind.propose(recipe, corpus, base)
    if base is None:
        progress.say("learning what the data holds ...")
    task = kind.fit(proposal.data, corpus, base)
    task.save(out)
    machine.require_memory(count_parameters(proposal.model, task.sizes))
    settings = planning.settle(recipe, proposal, 1, None)
    precision = choose_precision(recipe.precision, device)
    plan = Plan(
        recipe.task,
        proposal.data,
        proposal.model,
        settings,
        recipe.seed,
        recipe.start,
        str(device),
        precision,
        threads,
        corpus.fingerprint,
    )
    model = _built(plan, task.sizes)
    if base is not None:
        take_weights(model, base, progress)
        keep_base(base, out)
    loop = _loop(task, plan, corpus, out, model)
    with torch.no_grad():  # a model that cannot hold the longest example fails now, not during training
        task.loss(model.eval(), moved(loop.batches.largest(), device))  # running averages (batch norm) stay as they are
    minutes, per_epoch = recipe.training.minutes, len(loop.batches)
    seconds = _seconds_per_step(loop, minutes, progress, began) if minutes is not None else None
    plan = dataclasses.replace(plan, training=planning.settle(recipe, proposal, per_epoch, seconds))
    parameters = sum(p.numel() for p in model.parameters())
    progress.say(planning.describe(plan, task.describe(), parameters, per_epoch, task.unit))
    write_json(out / "plan.json", plan.to_json())
    loop.settle(plan.training, plan.to_json())
    return loop


def _seconds_per_step(loop: Loop[object], minutes: float, progress: Progress, began: float) -> float:
    """Time a few real steps and one validation; everything is put back afterwards."""
    progress.say("measuring the speed of this machine ...")
    times = loop.timed_steps(min(20.0, 1.8 * minutes))
    start = time.monotonic()
    if loop.validate:
        loop.validate(loop.learner.average)
    once = 0.5 * (time.monotonic() - start)  # an untrained model writes to the limit: more than validations will cost
    return planning.seconds_per_step(times, minutes, time.monotonic() - began, once)


def _refuse_changes(recipe: Recipe[object], plan: Plan[object], corpus: Corpus, out: Path) -> None:
    """Data or recipe that changed since the run began would make it neither the old run nor a new one."""
    wanted, settled = recipe.to_json(), plan.to_json()
    for name in ("device", "precision", "ensemble", "split"):  # another split shows in the fingerprint of the data
        wanted.pop(name), settled.pop(name, None)
    changes = ["recipe: " + line for line in difference(_only(wanted, settled), wanted)]
    if (out / FILE).exists():
        changes += ["plan: " + line for line in difference(read_header(out / FILE)[1], plan.to_json())]
    for name, mark in corpus.fingerprint.items():
        if plan.fingerprint.get(name) != mark:
            changes.append(f"the {name} data is not what the run began with: {plan.fingerprint.get(name)} -> {mark}")
    hint = "undo the change, or start a new run in another `--out`."
    raise_all(changes, RunError, f"`{out}` cannot be continued, something changed", hint)


def _only(asked: object, settled: object) -> object:
    """The settled values with `None` wherever the asked ones left the choice open."""
    if isinstance(asked, dict) and isinstance(settled, dict):
        return {key: _only(value, settled.get(key)) for key, value in asked.items()}
    return None if asked is None else settled
