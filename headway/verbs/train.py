"""`headway train`: a new run from a task and data, or the rest of one that was interrupted."""

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from headway.core import registry
from headway.core.entries import Entry
from headway.core.errors import UsageError
from headway.core.machine import cores, started_together
from headway.core.signals import exit_code
from headway.tasks.asking import Asked, ask, find_task, task_of
from headway.tasks.folder import WEIGHTS, require_run, require_start
from headway.verbs.options import add_options, require_positive
from headway.verbs.task_options import add_task_options, asked_tasks, given_options

if TYPE_CHECKING:
    from headway.training.processes import Processes

SUMMARY = "train a model on your data; or continue a run"
EXAMPLES = """\
examples:
  headway train demo --out runs/demo                          two minutes on the embedded corpus
  headway train translation --source train.en --target train.de --minutes 30 --out runs/mine
  headway train translation --pairs new.tmx --from runs/mine --out runs/adapted
  headway train language --text input.txt --model mamba --tokens characters --minutes 3 --out runs/mamba
  headway train --resume runs/mine                            continue exactly where it stopped
  headway train language --text input.txt --processes 4 --out runs/four     four processes share each batch

Each task explains its own options: headway train translation --help"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("--resume", metavar="DIR", help="continue this run")
    p.add_argument("--quiet", action="store_true", help="print nothing but errors")
    _add_processes(p)
    subparsers = p.add_subparsers(dest="task", metavar="TASK", parser_class=type(p), title="what to train")
    raw = p.formatter_class
    for name, entry in asked_tasks([] if "--resume" in words else words).items():
        usage = f"headway train {name} [options] --out DIR"
        inner = subparsers.add_parser(
            name, usage=usage, help=entry.summary, description=entry.doc, formatter_class=raw, allow_abbrev=False
        )
        add_task(inner, entry)


def _add_processes(p: argparse.ArgumentParser) -> None:
    about = "train with N processes that share each batch: the same result sooner (default 1; torchrun works as well)"
    p.add_argument("--processes", type=int, default=1, metavar="N", help=about)
    about = "with several processes: each keeps a part of the weights and moments, for models that do not fit in one"
    p.add_argument("--shard", action="store_true", help=about)


def add_task(p: argparse.ArgumentParser, entry: Entry) -> None:
    """The options of a task; `headway plan` has the same."""
    task = task_of(entry)
    models = registry.models_for(task.facts["reads"], task.facts["gives"])
    p.add_argument("--out", metavar="DIR", help="where the run goes; must not exist yet")
    mixers = ", the name of a mixer" if any(o.name == "mixer" for m in models.values() for o in m.options) else ""
    about = f"{', '.join(models)}{mixers}, or package.module:Class (default {task.facts['model']})"
    p.add_argument("--model", metavar="NAME", help=about)
    p.add_argument("--seed", type=int, default=1, metavar="S", help="the same seed gives the same run (default 1)")
    p.add_argument(
        "--from",
        dest="start",
        metavar="RUN",
        help="begin with the weights and the vocabulary of another run, or of a BERT of Hugging Face",
    )
    about = "train N models from different beginnings, each with the whole budget, and average what they predict"
    p.add_argument("--ensemble", type=int, default=1, metavar="N", help=about)
    _add_processes(p)
    add_task_options(p, entry)
    shown = models.get(task.facts["model"])
    if shown:
        group = p.add_argument_group(f"model options of {shown.name} (`headway show NAME` lists those of others)")
        add_options(group, [o for o in shown.options if o.name != "options"], prefix="model.")


def run(a: argparse.Namespace) -> int:
    require_positive(a, "processes")
    if a.processes > 1 or started_together() > 1:
        return _run_together(a)
    if a.shard:
        raise UsageError("`--shard` divides a model between several processes", "add `--processes 2` or more.")
    return _resume(a) if a.resume else _start(a)


def _run_together(a: argparse.Namespace) -> int:
    """One of several processes that train together, or the one that starts them."""
    from headway.training.launch import is_launched, joined, launch, note_verdict, verdict

    if (code := verdict()) is not None:
        return code
    if not is_launched():
        if not a.quiet and a.processes > cores():
            print(f"note: {a.processes} processes on {cores()} cores wait for each other")
        return launch(a.command_line, a.processes)
    with joined(a.shard) as processes:
        code = _resume(a, processes) if a.resume else _start(a, processes)
    if code:
        note_verdict(code)
    return code


def _start(a: argparse.Namespace, processes: "Processes | None" = None) -> int:
    if not a.task:
        raise UsageError(
            "what should be trained?", "`headway train demo --out runs/demo`, or see `headway train --help`."
        )
    entry = find_task(a.task)
    asked = understood(a, entry)
    if not a.out:
        raise UsageError(
            "missing: `--out DIR`, where the run goes", f"for example `--out runs/{entry.name.partition(':')[0]}`."
        )
    from headway.training.launch import RESTARTS
    from headway.training.processes import ALONE, restarts
    from headway.training.progress import Progress
    from headway.training.session import holds, start

    processes = processes or ALONE
    recipe = dataclasses.replace(asked.recipe(), ensemble=a.ensemble)
    if processes.sums([restarts()])[0]:  # launchers of several machines count differently
        if processes.first and not a.quiet:
            print(f"a process ended: all were started again ({restarts()} of {RESTARTS} times)", flush=True)
        if processes.agree(processes.first and holds(Path(a.out), recipe)):
            return _continue(Path(a.out), a.quiet, processes)
    whole = start(recipe, Path(a.out), Progress(a.quiet), a.anyway, processes)
    return finish(whole, Path(a.out), a.quiet, processes)


def understood(a: argparse.Namespace, entry: Entry) -> Asked:
    """What the command line asks for; every mistake in it raises before anything heavy is loaded."""
    data, training = given_options(a, entry)
    options = {
        n.removeprefix("model."): v for n, v in (vars(a) | a.paths).items() if n.startswith("model.") and v is not None
    }
    require_positive(a, "ensemble")
    if a.start:
        require_start(Path(a.start))
    begin = str(Path(a.start).resolve()) if a.start else None
    return ask(a.task, data, a.model, options, training, a.seed, begin, a.device, a.precision)


def _resume(a: argparse.Namespace, processes: "Processes | None" = None) -> int:
    folder = Path(a.resume)
    if a.task or a.paths:
        hint = f"`headway train --resume {folder}` and nothing else; `headway train TASK --from {folder}` trains on with other data."
        raise UsageError(
            f"`--resume` continues a run as it is; `{a.task or next(iter(a.paths))}` would change it", hint
        )
    require_run(folder)
    from headway.training.processes import ALONE

    return _continue(folder, a.quiet, processes or ALONE)


def _continue(folder: Path, quiet: bool, processes: "Processes") -> int:
    from headway.training.checkpoint import finished
    from headway.training.progress import Progress
    from headway.training.session import resume

    reason = processes.agree(finished(folder) if processes.first else None)
    if reason and processes.agree(all((folder / name).exists() for name in ("scores.json", "report.html"))):
        if not quiet and processes.first:
            print(f"`{folder}` is finished: {reason}. `headway train TASK --from {folder} ... --out NEW` trains on.")
        return 0
    return finish(True if reason else resume(folder, Progress(quiet), processes), folder, quiet, processes)


def finish(whole: bool, folder: Path, quiet: bool, processes: "Processes | None" = None) -> int:
    """The scores, the report and the closing words."""
    if processes and not processes.first:
        return 0 if whole else exit_code()
    if not whole:
        if not quiet:
            usable = " The run is usable as it is;" if (folder / WEIGHTS).exists() else ""
            print(f"\nstopped.{usable} `headway train --resume {folder}` continues it.")
        return exit_code()
    from headway.core.lock import locked
    from headway.report.summary import summarise
    from headway.runs.run import Run
    from headway.training.progress import Progress

    progress = Progress(quiet)
    progress.say("judging the run on held-out data ...")
    with locked(folder):
        summary = summarise(Run(folder))
    progress.say(summary.text)
    return 0
