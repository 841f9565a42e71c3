"""`headway evaluate`: scores of a run on examples that a person brings. Which options there are follows from the run's task."""

import argparse
import json
from pathlib import Path

from headway.core.config import to_json
from headway.tasks.folder import require_weights
from headway.verbs.brought import add_brought, brought
from headway.verbs.options import add_run, open_run

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
    add_brought(p, words)


def run(a: argparse.Namespace) -> None:
    require_weights(Path(a.run))
    from headway.runs.run import Run
    from headway.tasks.uses import Tests

    given = brought(a)
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
