"""`headway plan`: what a training would cost, before it is begun."""

import argparse
import dataclasses
import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from headway.core.entries import Entry
from headway.core.errors import ConfigError, UnknownName, UsageError
from headway.core.files import read_json
from headway.inspect.devices import UTILISATION, parse_count, parse_devices
from headway.models.gpt3_sizes import MILLIONS
from headway.tasks.asking import find_task, known_tasks
from headway.tasks.folder import require_run
from headway.verbs.task_options import asked_tasks
from headway.verbs.train import add_task, understood

if TYPE_CHECKING:
    from headway.tasks.recipe import Recipe

SUMMARY = "what a training would cost: parameters, arithmetic, memory, time, energy"
EXAMPLES = """\
examples:
  headway plan language --text input.txt --minutes 30          the same options as `headway train`; nothing is trained
  headway plan runs/mine                                       a run once more, or a recipe.json
  headway plan language --text input.txt --steps 100000 --devices "4 x 24GB@165TFLOPS"
  headway plan gpt3-175b --devices "1024 x 80GB@989TFLOPS@700W" --tokens 300B

Without `--devices` it is this machine, whose speed is measured in a few seconds.
The sizes of GPT-3: """ + ", ".join(MILLIONS)


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    subparsers = p.add_subparsers(
        dest="task", metavar="WHAT", parser_class=type(p), title="a task, a run or a size of GPT-3"
    )
    raw, named = p.formatter_class, next((word for word in words if not word.startswith("-")), "")
    if named in MILLIONS or _is_path(named):
        inner = subparsers.add_parser(
            named, usage=f"headway plan {named} [options]", formatter_class=raw, allow_abbrev=False
        )
        if named in MILLIONS:
            inner.add_argument("--tokens", metavar="N", help="tokens of training, such as 20B (default 300B)")
            about = "of the products: float32 or bfloat16 (default bfloat16)"
            inner.add_argument(
                "--precision", choices=["float32", "bfloat16"], default="bfloat16", metavar="KIND", help=about
            )
        inner.add_argument("--debug", action="store_true", help="show the traceback of an error")
        _add_devices(inner)
        return
    for name, entry in _tasks(words).items():
        inner = subparsers.add_parser(
            name, usage=f"headway plan {name} [options]", help=entry.summary, formatter_class=raw, allow_abbrev=False
        )
        add_task(inner, entry)
        _add_devices(inner)


def _is_path(word: str) -> bool:
    return word not in known_tasks() and ("/" in word or word.endswith(".json") or (bool(word) and Path(word).exists()))


def _tasks(words: list[str]) -> dict[str, Entry]:
    try:
        return asked_tasks(words)
    except UnknownName as problem:
        word = next(word for word in words if not word.startswith("-"))
        raise UnknownName("task, run or size", word, [*known_tasks(), *MILLIONS], "headway plan --help") from problem


def _add_devices(p: argparse.ArgumentParser) -> None:
    group = p.add_argument_group("what it would cost")
    about = 'count, memory, peak rate and power of the devices: "8 x 80GB@989TFLOPS@700W" (default: this machine)'
    group.add_argument("--devices", metavar="TEXT", help=about)
    about = f"the share of the peak rate that other devices are assumed to reach (default {UTILISATION:g})"
    group.add_argument("--utilisation", type=float, metavar="X", help=about)
    group.add_argument("--json", action="store_true", help="bytes, seconds, joules and FLOPs as JSON")


def run(a: argparse.Namespace) -> int:
    if not a.task:
        raise UsageError(
            "what should be planned?", "`headway plan demo`, `headway plan gpt3-175b`, or see `headway plan --help`."
        )
    if a.utilisation is not None and not a.devices:
        raise UsageError("`--utilisation` is of other devices", "add `--devices`; for this machine it is measured.")
    devices = parse_devices(a.devices, UTILISATION if a.utilisation is None else a.utilisation) if a.devices else None
    size, tokens = a.task in MILLIONS, None
    recipe = None
    if size:
        tokens = parse_count(a.tokens, "--tokens") if a.tokens else None
    else:
        recipe = (
            _recipe_of(Path(a.task))
            if _is_path(a.task)
            else dataclasses.replace(understood(a, find_task(a.task)).recipe(), ensemble=a.ensemble)
        )
    from headway.inspect.draft import gpt3_draft, recipe_draft
    from headway.inspect.estimate import estimate
    from headway.report.training_cost import training_cost_json, training_cost_text

    with recipe_draft(recipe) if recipe else nullcontext(gpt3_draft(a.task, tokens, a.precision)) as draft:
        found = estimate(draft, devices)
    print(json.dumps(training_cost_json(found), indent=2) if a.json else training_cost_text(found))
    return 0


def _recipe_of(path: Path) -> "Recipe[object]":
    """The recipe of a run, or of a file."""
    if path.is_dir() or not path.suffix:
        require_run(path)
        path = path / "recipe.json"
    from headway.tasks.names import data_class
    from headway.tasks.recipe import read_recipe

    value = read_json(path)
    if not isinstance(value, dict) or not isinstance(value.get("task"), str):
        raise ConfigError(f"`{path}` is not a recipe: it names no task", "a run has one: `headway plan runs/mine`.")
    return read_recipe(value, data_class(value["task"]), str(path))
