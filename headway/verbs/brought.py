"""Examples that a person brings to a finished run: the options that its task is given to evaluate or to predict."""

import argparse
import json
from pathlib import Path

from headway.core import registry
from headway.core.config import option_type, parse
from headway.core.entries import Entry
from headway.core.errors import HeadwayError
from headway.tasks.asking import absolute
from headway.tasks.folder import require_weights
from headway.verbs.options import add_options


def add_brought(p: argparse.ArgumentParser, words: list[str], use: str | None = None) -> None:
    """The options of the task of the run that the command line names, or of all tasks (that serve the verb `use`)."""
    task = task_of_run([word for word in words if not word.startswith("-")][:1])
    every = [e for e in registry.entries("tasks").values() if use is None or use in (e.facts.get("uses") or ())]
    for entry in [task] if task else every:
        group = p.add_argument_group(f"for a run of {entry.name}")
        known = {action.dest for action in p._actions}
        options = [o for o in entry.options if o.name in (entry.facts.get("tested") or ()) and o.name not in known]
        add_options(group, options, entry.facts.get("files") or ())


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
