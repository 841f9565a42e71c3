"""The loop of a run, ready to train: what the recipe left open is planned, or the plan of the run is read again.

With several processes, process 0 plans and writes, and the others load what it wrote.
"""

import dataclasses
import time
from pathlib import Path

import torch
from torch import nn

from headway.core import machine
from headway.core.config import difference
from headway.core.device import choose_device
from headway.core.errors import RunError, raise_all
from headway.core.files import read_json, write_json
from headway.core.seeds import derive
from headway.models.build import build_model, count_parameters
from headway.models.weights import redraw
from headway.tasks.names import data_class
from headway.tasks.other_run import open_base
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.task import AnyTask, Corpus
from headway.training import plan as planning
from headway.training.base_run import chosen_model, keep_base, take_weights
from headway.training.checkpoint import find_checkpoint, read_header
from headway.training.loop import Loop
from headway.training.plan import Plan, read_plan
from headway.training.precision import choose_precision
from headway.training.processes import Processes
from headway.training.progress import Progress


def _loop(
    task: AnyTask, plan: Plan[object], corpus: Corpus, out: Path, model: nn.Module, processes: Processes
) -> Loop[object]:
    batches = processes.in_turn(lambda: task.prepare(corpus, out, plan.training.batch, plan.seed))
    return Loop(
        model.to(processes.place(plan.device)),
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
        processes=processes,
    )


def continued_loop(
    kind: type[AnyTask], recipe: Recipe[object], out: Path, corpus: Corpus, progress: Progress, processes: Processes
) -> Loop[object]:
    """The loop of a run whose plan is made already, if the plan still fits what was asked and the data."""
    plan = read_plan(read_json(out / "plan.json"), data_class(recipe.task), str(out / "plan.json"))
    _refuse_changes(recipe, plan, corpus, out)
    machine.prepare(max(1, plan.threads // processes.world))
    task = kind.load(plan.data, out)
    model = _built(plan, task.sizes)
    if plan.start and find_checkpoint(out) is None:  # killed before its first checkpoint
        take_weights(model, open_base(Path(plan.start)), progress)
    return _loop(task, plan, corpus, out, model, processes)


def _built(plan: Plan[object], sizes: dict[str, int]) -> nn.Module:
    """The untrained model of a plan; its weights follow from the seed."""
    torch.manual_seed(derive(plan.seed, "weights"))
    model = build_model(plan.model, sizes)
    if plan.training.initialisation:
        redraw(model, plan.training.initialisation)
    return model


def planned_loop(
    kind: type[AnyTask],
    recipe: Recipe[object],
    out: Path,
    corpus: Corpus,
    progress: Progress,
    began: float,
    processes: Processes,
    like: Path | None = None,
) -> Loop[object]:
    """Choose what was left open, build the model, write the plan down, and make the loop. Process 0 chooses for all.

    like   a run of the same task: its choices, and what it has learned of its data, are taken over
    """
    threads = machine.prepare() * processes.world
    recipe = dataclasses.replace(recipe, training=planning.budget_of(recipe.training))
    base = open_base(Path(recipe.start)) if recipe.start else None
    recipe = dataclasses.replace(recipe, model=chosen_model(recipe, kind, base))
    proposal = _proposal_of(like, recipe.task) if like else kind.propose(recipe, corpus, base)
    plan = _provisional(recipe, proposal, corpus, threads)
    if processes.first:
        if base is None and like is None:
            progress.say("learning what the data holds ...")
        task = kind.load(proposal.data, like) if like else kind.fit(proposal.data, corpus, base)
        task.save(out)
        machine.require_memory(count_parameters(proposal.model, task.sizes))
    plan = read_plan(processes.agree(plan.to_json()), data_class(recipe.task), str(out))
    task = task if processes.first else kind.load(plan.data, out)
    model = _built(plan, task.sizes)
    if base is not None:
        take_weights(model, base, progress)
        if processes.first:
            keep_base(base, out)
    loop = _loop(task, plan, corpus, out, model, processes)
    loop.try_largest()
    minutes, per_epoch = recipe.training.minutes, len(loop.batches)
    pace = _pace(loop, minutes, progress, began) if minutes is not None else None
    plan = dataclasses.replace(plan, training=planning.settle(recipe, proposal, per_epoch, pace))
    parameters = sum(p.numel() for p in model.parameters())
    progress.say(planning.describe(plan, task.describe(), parameters, per_epoch, task.unit))
    if processes.first:
        write_json(out / "plan.json", plan.to_json())
    loop.settle(plan.training, plan.to_json())
    return loop


def _proposal_of(folder: Path, task: str) -> Proposal[object]:
    """What another run has settled."""
    plan = read_plan(read_json(folder / "plan.json"), data_class(task), str(folder / "plan.json"))
    t = plan.training
    return Proposal(plan.data, plan.model, t.batch, t.rate, t.schedule, t.decay, plan.precision)


def _provisional(recipe: Recipe[object], proposal: Proposal[object], corpus: Corpus, threads: int) -> Plan[object]:
    """The plan before the number of batches and the speed of the machine are known."""
    device = choose_device(recipe.device)
    return Plan(
        recipe.task,
        proposal.data,
        proposal.model,
        planning.settle(recipe, proposal, 1, None),
        recipe.seed,
        recipe.start,
        str(device),
        choose_precision(recipe.precision or proposal.precision, device),
        threads,
        corpus.fingerprint,
    )


def _pace(loop: Loop[object], minutes: float, progress: Progress, began: float) -> planning.Pace:
    """Time a few real steps and one validation; everything is put back afterwards."""
    progress.say("measuring the speed of this machine ...")
    times = loop.timed_steps(min(20.0, minutes))
    start = time.monotonic()
    average = loop.learner.whole_average()
    if loop.validate and loop.processes.first:
        loop.validate(average)
    once = 0.5 * (time.monotonic() - start)  # an untrained model writes to the limit: more than validations will cost
    return planning.Pace(*loop.processes.agree(planning.pace(times, minutes, time.monotonic() - began, once)))


def _refuse_changes(recipe: Recipe[object], plan: Plan[object], corpus: Corpus, out: Path) -> None:
    """Data or recipe that changed since the run began would make it neither the old run nor a new one."""
    wanted, settled = recipe.to_json(), plan.to_json()
    for name in ("device", "precision", "ensemble", "split"):  # another split shows in the fingerprint of the data
        wanted.pop(name), settled.pop(name, None)
    changes = ["recipe: " + line for line in difference(_only(wanted, settled), wanted)]
    if path := find_checkpoint(out):
        changes += ["plan: " + line for line in difference(read_header(path)[1], plan.to_json())]
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
