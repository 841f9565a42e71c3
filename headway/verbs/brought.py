"""Examples that a person brings to a finished run: the options that its task is given to evaluate or to predict."""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from headway.core import registry
from headway.core.config import option_type, parse
from headway.core.entries import Entry, Option
from headway.core.errors import HeadwayError
from headway.tasks.asking import absolute
from headway.tasks.folder import require_weights
from headway.verbs.options import add_options


def add_brought(p: argparse.ArgumentParser, words: list[str], use: str | None = None) -> None:
    """The options of the task of the run that the command line names, or the names of those of all tasks (that serve the verb `use`)."""
    known = {action.dest for action in p._actions}
    task = task_of_run([word for word in words if not word.startswith("-")][:1])
    if task:
        add_options(p.add_argument_group(f"for a run of {task.name}"), read_options(task, known), task.facts.get("files") or ())
        return
    tasks = defaultdict(list)
    for entry in registry.entries("tasks").values():
        if use is None or use in (entry.facts.get("uses") or ()):
            for option in read_options(entry, known):
                tasks[option.name].append(entry.name)
    about = f"which of them a run reads, and what they mean: `{p.prog} RUN --help`"
    group = p.add_argument_group("examples of your own", about)
    for name, names in sorted(tasks.items()):
        group.add_argument(f"--{name.replace('_', '-')}", dest=name, metavar="X", help=f"for {', '.join(names)}")


def read_options(task: Entry, known: set[str]) -> list[Option]:
    """The options that say which examples the task reads, without those that the verb has itself."""
    return [o for o in task.options if o.name in (task.facts.get("tested") or ()) and o.name not in known]


def task_of_run(words: list[str]) -> Entry | None:
    """The task of the run that the command line names, if it names one."""
    try:
        require_weights(Path(words[0]))
        value = json.loads((Path(words[0]) / "recipe.json").read_text(encoding="utf-8"))
        return registry.get("tasks", value["task"])
    except (HeadwayError, IndexError, OSError, ValueError, KeyError, TypeError):
        return None


def brought(a: argparse.Namespace) -> dict[str, str | int | float | bool | None]:
    """What the command line gives of these options, each of the right type; files are there."""
    task = task_of_run([a.run])
    options = {o.name: o for o in (task.options if task else ()) if task and o.name in (task.facts.get("tested") or ())}
    given = {
        n: parse(option_type(o.type), v, n.replace("_", "-"))
        for n, o in options.items()
        if (v := getattr(a, n, None)) is not None
    }
    for name in task.facts.get("files") or () if task else ():
        if name in given:
            given[name] = absolute(given[name], name)
    return given
