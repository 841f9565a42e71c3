"""From a recipe to a run: read the data, plan what was left open, train, keep everything in one directory.

recipe.json              what was asked
doctor.json              what the doctor found in the data
held_out/                the parts that the scores are of, as the task keeps them
tokenizer.json ...       what the task learned of its data: vocabulary, label names
plan.json                every choice made, and the fingerprint of the data
checkpoint.safetensors   everything needed to continue (several processes: checkpoint.json and checkpoint_parts/)
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

from headway.core.config import difference, replaced, to_json
from headway.core.errors import DataError, DiskError, RunError, UsageError, raise_all
from headway.core.files import disk_errors, read_json, write_json, write_whole
from headway.core.folds import Split, reading_fold
from headway.core.lock import locked
from headway.models.choice import check_options
from headway.tasks.folder import MEMBERS, WEIGHTS, require_run
from headway.tasks.names import data_class, read_task_name, task_class
from headway.tasks.recipe import Recipe, read_recipe
from headway.tasks.task import Corpus, errors_of
from headway.training import plan as planning
from headway.training.checkpoint import FILE, find_checkpoint, finished, read_header
from headway.training.ensemble import require_ensemble, train_members
from headway.training.processes import ALONE, Processes, is_loss_of_peer
from headway.training.progress import Progress
from headway.training.setup import continued_loop, planned_loop


def start(
    recipe: Recipe[object],
    out: Path,
    progress: Progress | None = None,
    anyway: bool = False,
    processes: Processes = ALONE,
) -> bool:
    """Train a new run. Returns False if a person interrupted it. `anyway`: also on data with errors."""
    if not processes.first:
        return _follow(out, processes)
    progress = progress or Progress()
    planning.budget_of(recipe.training)
    require_ensemble(recipe)
    if recipe.model:
        check_options(recipe.model)
    with disk_errors(out):
        _require_free(out)
        out.mkdir(parents=True, exist_ok=True)
    with locked(out):
        _require_free(out)  # another process may have begun meanwhile
        try:
            recipe = _keep_standard_input(recipe, out)
            write_json(out / "recipe.json", recipe.to_json())
            processes.wait()
            return _train(recipe, out, progress, anyway, processes)
        except BaseException as problem:
            lost = processes.world > 1 and is_loss_of_peer(problem)  # started again, it goes on with what is there
            if not lost and not _worth_keeping(out) and not isinstance(problem, DiskError):
                # Nothing was learned yet: the same `--out` is free for the next attempt.
                shutil.rmtree(out, ignore_errors=True)
                if isinstance(problem, KeyboardInterrupt):
                    progress.say(f"stopped before the first step; `{out}` was removed, the same command begins again")
            raise


def _require_free(out: Path) -> None:
    if (out / "recipe.json").exists():
        hint = f"continue it with `headway train --resume {out}`, or choose another `--out`."
        raise RunError(f"`{out}` already holds a run", hint)
    if out.exists() and (not out.is_dir() or any(p.name != ".lock" and p.suffix != ".part" for p in out.iterdir())):
        raise RunError(f"`{out}` exists and is not an empty directory", "choose another `--out`.")


def holds(out: Path, recipe: Recipe[object]) -> bool:
    """Whether there is a run that was begun with this recipe: only that one is continued unasked."""
    path = out / "recipe.json"
    if not path.exists():
        return False
    changed = difference(read_json(path), recipe.to_json())
    return all(line.endswith('-> "-"') for line in changed)  # what came through a pipe is a file of the run now


def _worth_keeping(out: Path) -> bool:
    """Whether anything was learned: weights, or a checkpoint beyond the first step."""
    if (out / WEIGHTS).exists() or any(_worth_keeping(member) for member in (out / MEMBERS).glob("*")):
        return True
    try:
        path = find_checkpoint(out)
        return path is not None and read_header(path)[0].step > 0
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


def _follow(out: Path, processes: Processes) -> bool:
    """Train with process 0, once it has written what is to be done into the run; it alone writes and reports."""
    processes.wait()
    recipe = read_recipe(read_json(out / "recipe.json"), data_class(read_task_name(out)), str(out / "recipe.json"))
    return _train(recipe, out, Progress(quiet=True), anyway=True, processes=processes)


def resume(out: Path, progress: Progress | None = None, processes: Processes = ALONE) -> bool:
    """Continue a run exactly where its last checkpoint stands."""
    if not processes.first:
        return _follow(out, processes)
    progress = progress or Progress()
    require_run(out)
    value = read_json(out / "recipe.json")
    data = data_class(read_task_name(out))
    with locked(out):
        planned, weights = ((out / name).exists() for name in ("plan.json", WEIGHTS))
        checkpoint = find_checkpoint(out) is not None
        if planned and weights and not checkpoint and not (out / MEMBERS).is_dir():
            hint = f"it can be used as it is; `headway train TASK --from {out} ... --out NEW` trains on."
            raise RunError(f"`{out / FILE}` is missing, so the run cannot be continued", hint)
        if checkpoint and not planned:
            hint = "restore it from a copy; without it the checkpoint cannot be continued."
            raise RunError(f"`{out / 'plan.json'}` is missing", hint)
        recipe = read_recipe(value, data, str(out / "recipe.json"))
        processes.wait()
        return _train(recipe, out, progress, anyway=True, processes=processes)


def complete(recipe: Recipe[object], out: Path, progress: Progress, anyway: bool) -> bool:
    """Train a run or the rest of it; one that is finished stays as it is. Returns False if a person interrupted it."""
    if finished(out):
        return True
    return resume(out, progress) if (out / "recipe.json").exists() else start(recipe, out, progress, anyway)


def _train(
    recipe: Recipe[object],
    out: Path,
    progress: Progress,
    anyway: bool,
    processes: Processes = ALONE,
    like: Path | None = None,
) -> bool:
    """`like`: a run whose plan and state a new one takes over."""
    if recipe.ensemble > 1:

        def train(member: Recipe[object], folder: Path, first: Path | None) -> bool:
            return _train(member, folder, progress, anyway, processes, first)

        return train_members(recipe, out, progress, train, processes)
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
        if processes.agree((out / "plan.json").exists()):
            loop = continued_loop(kind, recipe, out, corpus, progress, processes)
        else:
            if processes.first:
                write_json(out / "doctor.json", [report.to_json() for report in corpus.reports])
            loop = planned_loop(kind, recipe, out, corpus, progress, began, processes, like)
        return loop.run(progress)
    finally:
        progress.close()


def _stop_on_errors(corpus: Corpus, anyway: bool) -> None:
    found = [] if anyway else errors_of(corpus)
    hint = "mend the data, or go on with `--anyway`."
    raise_all([finding.message for finding in found], DataError, "the data has errors that would spoil the model", hint)
