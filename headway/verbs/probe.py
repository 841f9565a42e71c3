"""`headway lab probe`: what the theory names, measured on a trained run."""

import argparse
import json
from pathlib import Path

from headway.core.errors import UsageError
from headway.core.files import require_writable, write_text
from headway.tasks.folder import require_weights
from headway.verbs.brought import add_brought, brought, task_of_run

SUMMARY = "measure on a trained run what the theory names: one page with a figure and a sentence each"
EXAMPLES = """\
examples:
  headway lab probe runs/mine                  regions, dimensions, attention, sharpness ... of your own model
  headway lab probe runs/mine --data held_out.txt --examples 500 --json"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("run", metavar="RUN", help="the directory that `headway train` made")
    p.add_argument(
        "--data",
        nargs="+",
        metavar="FILE",
        help="examples of your own (default: the validation part that the run keeps)",
    )
    p.add_argument("--examples", type=int, default=256, metavar="N", help="on how many examples (default 256)")
    p.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of everything random in the estimates (default 0)"
    )
    p.add_argument("--out", metavar="PAGE", help="the page (default RUN/probe.html)")
    p.add_argument("--json", action="store_true", help="print the numbers as JSON")
    p.add_argument("--debug", action="store_true", help="show the traceback of an error")
    p.set_defaults(names=[])  # where words that are too many go
    named = [word for word in words if not word.startswith("-")]
    if named[:1] == ["probe"]:
        add_brought(p, named[1:])


def run(a: argparse.Namespace) -> int:
    if a.names:
        raise UsageError(
            f"`{a.names[0]}` is one argument too many", "one run at a time; its examples come after `--data`."
        )
    require_weights(Path(a.run))
    if a.examples < 2:
        raise UsageError(f"`--examples {a.examples}` should be at least 2")
    if a.seed < 0:
        raise UsageError(f"`--seed {a.seed}` should not be negative")
    out = Path(a.out) if a.out else Path(a.run) / "probe.html"
    require_writable(out)
    _spread(a)
    given = brought(a)
    from headway.probe.measure import probe_run
    from headway.probe.page import probe_page
    from headway.runs.run import Run

    opened = Run(a.run, "cpu")
    probed = probe_run(opened, given, a.examples, a.seed)
    data = ", ".join(str(v) for v in given.values()) if given else "the validation part that the run keeps"
    details = {
        "task": opened.plan.task,
        "model": opened.plan.model.describe(),
        "parameters": f"{opened.parameters:,}",
        "examples": f"{probed.examples:,} of {data}",
    }
    write_text(out, probe_page(probed, a.run, details))
    if a.json:
        print(json.dumps(probed.to_json(a.run, data), indent=2))
        return 0
    for name, finding in probed.findings.items():
        print(f"{name} ({finding.kind})\n  {finding.reading}")
    for name, reason in probed.left_out.items():
        print(f"{name}: left out, {reason}")
    print(f"page: {out}")
    return 0


def _spread(a: argparse.Namespace) -> None:
    """`--data FILE ...` as the options of the run's task: what the task recognises, or its first file option."""
    task = task_of_run([a.run])
    if not a.data or task is None:
        return
    kind = task.load()
    known = kind.recognise(a.data)
    files = [name for name in kind.tested if name in kind.files]
    values = {name: getattr(known, name) for name in files if getattr(known, name, None)} or dict(
        zip(files, a.data, strict=False)
    )
    if len(values) < len(a.data):
        raise UsageError(
            f"{len(a.data)} files are too many for a run of {task.name}",
            f"`headway lab probe {a.run} --help` names its options.",
        )
    for name, value in values.items():
        setattr(a, name, value)
