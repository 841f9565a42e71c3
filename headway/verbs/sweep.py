"""`headway lab sweep`: one model in several sizes, each trained for several lengths, for `headway lab scaling`."""

import argparse
from pathlib import Path

from headway.core.entries import Entry
from headway.core.errors import UsageError
from headway.tasks.asking import BUDGETS, Asked, ask, find_task, task_of
from headway.verbs.counts import parse_counts
from headway.verbs.scaling import report
from headway.verbs.task_options import add_task_options, asked_tasks, given_options

SUMMARY = "train one model in several sizes and lengths, and fit a scaling law to the runs"
EXAMPLES = """\
examples:
  headway lab sweep language --text input.txt --tokens characters --out runs/sweep
  headway lab sweep language --text input.txt --parameters 20k,60k,200k,600k --lengths 0.5M,1M,2M,4M --out runs/sweep

The same command continues a sweep that was interrupted; with more sizes or lengths it adds runs.
Each task explains its own options: headway lab sweep language --help"""
FEWEST = 4  # runs
SETTLED = (*BUDGETS, "patience")  # by `--lengths`: no run ends before its length
PARAMETERS, LENGTHS = "20k,75k,275k,1M", "0.5M,1.5M,4.5M"


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    subparsers = p.add_subparsers(dest="task", metavar="TASK", parser_class=type(p), title="what to train")
    for name, entry in asked_tasks(words[1:]).items() if words[:1] == ["sweep"] else ():
        usage = f"headway lab sweep {name} [options] --out DIR"
        raw = p.formatter_class
        inner = subparsers.add_parser(
            name, usage=usage, help=entry.summary, description=entry.doc, formatter_class=raw, allow_abbrev=False
        )
        _add_task(inner, entry)


def _add_task(p: argparse.ArgumentParser, entry: Entry) -> None:
    task = task_of(entry)
    p.add_argument("--out", metavar="DIR", help="where the runs and the page with the law go")
    about = f"sizes of the model, with commas between (default {PARAMETERS}); the nearest width is taken"
    p.add_argument("--parameters", default=PARAMETERS, metavar="N,N", help=about)
    about = f"how many {task.facts['unit']} each of them is trained on, with commas between (default {LENGTHS})"
    p.add_argument("--lengths", default=LENGTHS, metavar="N,N", help=about)
    p.add_argument("--model", metavar="NAME", help=f"which model (default {task.facts['model']})")
    p.add_argument("--seed", type=int, default=1, metavar="S", help="of every run (default 1)")
    add_task_options(p, entry, SETTLED)


def run(a: argparse.Namespace) -> int:
    if not a.task:
        raise UsageError("what should be trained?", "a task; `headway lab sweep --help` explains it.")
    parameters, lengths = parse_counts(a.parameters, "--parameters"), parse_counts(a.lengths, "--lengths")
    if len(parameters) < 2 or len(parameters) * len(lengths) < FEWEST:
        raise UsageError(
            f"a scaling law needs at least 2 sizes and {FEWEST} runs", "name more in `--parameters` or `--lengths`."
        )
    if "model.width" in a.paths:
        raise UsageError("`--model.width` is what the sweep varies", "choose sizes with `--parameters 20k,75k,275k`.")
    recipe = _asked(a).recipe()
    if not a.out:
        raise UsageError("missing: `--out DIR`, where the runs go", "for example `--out runs/sweep`.")
    from headway.compare.sweep import sweep

    folders = sweep(recipe, parameters, lengths, Path(a.out), a.quiet, a.anyway)
    if not a.quiet:
        print()
    report(folders, {}, 0, Path(a.out) / "scaling.html", False)
    return 0


def _asked(a: argparse.Namespace) -> Asked:
    data, training = given_options(a, find_task(a.task))
    options = {name.removeprefix("model."): value for name, value in a.paths.items()}
    return ask(a.task, data, a.model, options, training, a.seed, device=a.device, precision=a.precision)
