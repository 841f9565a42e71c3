"""The options of a task on the command line, for the verbs that train: budget, device, the task's data, the fields of `Training`."""

import argparse
from collections.abc import Sequence

from headway.core.config import Value
from headway.core.entries import Entry, Option, options_of
from headway.core.registry import ROOT
from headway.tasks.asking import BUDGETS, find_task, known_tasks, task_of
from headway.verbs.options import add_options

PRECISIONS = ["float32", "bfloat16", "auto"]


def asked_tasks(words: list[str]) -> dict[str, Entry]:
    """Every task and recipe by name, and what the command line names if that is another name of one, or a class of another package."""
    entries = known_tasks()
    asked = next((word for word in words if not word.startswith("-")), None)
    return entries if asked is None or asked in entries else entries | {asked: find_task(asked)}


def add_task_options(p: argparse.ArgumentParser, entry: Entry, settled: Sequence[str] = ()) -> None:
    """What a person may choose. The fields of `Training` that the verb settles itself are not offered."""
    if not set(BUDGETS) & set(settled):
        budget = p.add_mutually_exclusive_group()
        budget.add_argument("--minutes", metavar="M", help="train about this long (default 10)")
        budget.add_argument("--steps", metavar="N", help="or this many steps")
        budget.add_argument("--epochs", metavar="E", help="or this often through the data")
    p.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu, cuda, mps (default auto)")
    about = "float32, bfloat16, or auto: the faster one here (default float32; auto for long translation runs)"
    p.add_argument("--precision", metavar="KIND", choices=PRECISIONS, help=about)
    p.add_argument("--anyway", action="store_true", help="train also on data with errors")
    p.add_argument("--quiet", action="store_true", help="print nothing but errors")
    p.add_argument("--debug", action="store_true", help="show the traceback of an error")
    if entry.room != "recipes":
        add_options(p.add_argument_group("data"), entry.options, entry.facts.get("files") or ())
    group = p.add_argument_group("training options")
    add_options(group, [o for o in training_options() if o.name not in (*BUDGETS, *settled)], prefix="training.")


def training_options() -> tuple[Option, ...]:
    return options_of(ROOT / "tasks" / "recipe.py", "Training")


def given_options(a: argparse.Namespace, entry: Entry) -> tuple[dict[str, Value], dict[str, Value]]:
    """What the command line says of the task's data and of training."""
    given = {name: value for name, value in vars(a).items() if value is not None}
    own = {option.name for option in task_of(entry).options} if entry.room != "recipes" else set()
    training = {name.removeprefix("training."): value for name, value in given.items() if name.startswith("training.")}
    return {n: v for n, v in given.items() if n in own}, training | {n: given[n] for n in BUDGETS if n in given}
