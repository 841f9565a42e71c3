"""`headway evaluate`: scores of a run on examples that a person brings. Which options there are follows from the run's task."""

import argparse
import json
from pathlib import Path

from headway.core import registry
from headway.core.config import option_type, parse, to_json
from headway.core.entries import Entry
from headway.core.errors import HeadwayError
from headway.tasks.asking import absolute
from headway.tasks.folder import require_weights
from headway.verbs.options import add_options, add_run, open_run

SUMMARY = "scores of a run on examples that you bring"
EXAMPLES = """\
examples:
  headway evaluate runs/mine --source test.en --target test.de       BLEU, chrF, exact match
  headway evaluate runs/text --text held_out.txt --json              nats per token, bits per byte, perplexity
  headway evaluate runs/mine --source test.en --target test.de --against runs/other     is the difference real? (paired bootstrap)
  headway evaluate runs/mine --help                                  the options of that run's task"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    add_run(p)
    p.add_argument("--json", action="store_true", help="print JSON")
    p.add_argument(
        "--against", metavar="RUN", help="another run on the same examples: is the difference more than chance?"
    )
    task = _task_of([word for word in words if not word.startswith("-")][:1])
    for entry in [task] if task else registry.entries("tasks").values():
        group = p.add_argument_group(f"for a run of {entry.name}")
        known = {action.dest for action in p._actions}
        options = [o for o in entry.options if o.name in (entry.facts.get("tested") or ()) and o.name not in known]
        add_options(group, options, entry.facts.get("files") or ())


def _task_of(words: list[str]) -> Entry | None:
    """The task of the run that the command line names, if it names one."""
    try:
        require_weights(Path(words[0]))
        value = json.loads((Path(words[0]) / "recipe.json").read_text(encoding="utf-8"))
        return registry.get("tasks", value["task"])
    except (HeadwayError, IndexError, OSError, ValueError, KeyError, TypeError):
        return None


def run(a: argparse.Namespace) -> None:
    require_weights(Path(a.run))
    from headway.runs.run import Run
    from headway.tasks.uses import Tests

    task = _task_of([a.run])
    options = {o.name: o for o in (task.options if task else ()) if task and o.name in (task.facts.get("tested") or ())}
    given = {
        n: parse(option_type(o.type), v, n.replace("_", "-"))
        for n, o in options.items()
        if (v := getattr(a, n, None)) is not None
    }
    for name in task.facts.get("files") or () if task else ():
        if name in given:
            given[name] = absolute(given[name], name)
    if a.against:
        require_weights(Path(a.against))
    opened = open_run(a)
    found = opened.evaluate(**given)
    other = Run(a.against, a.device).evaluate(**given) if a.against else None
    difference = opened.task.difference(found, other) if other and isinstance(opened.task, Tests) else ""
    if a.json:
        print(
            json.dumps(
                {
                    "run": a.run,
                    "sizes": found.sizes,
                    "scores": to_json(found.scores),
                    "notes": list(found.notes),
                    "against": difference,
                },
                indent=2,
            )
        )
        return
    for part, size in found.sizes.items():
        print(f"{size:,} {found.unit} ({part})")
    for score in found.scores:
        print(f"  {score.describe()}" + (f"   {score.signature}" if score.signature else ""))
    for note in found.notes:
        print(f"note: {note}")
    print(f"verdict: {found.verdict}")
    if other:
        print(f"against `{a.against}`: {difference or 'this task has no test of differences'}")
