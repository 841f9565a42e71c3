"""`headway reproduce`: published tables, measured again."""

import argparse
from pathlib import Path

from headway.core import registry
from headway.core.errors import UsageError
from headway.data.messages import count_noun

SUMMARY = "published tables, measured again: the printed figure, ours, and a verdict"
EXAMPLES = """\
examples:
  headway reproduce --list                              which tables there are, how long each takes, which data it needs
  headway reproduce gpt3-parameters                     the eight sizes of GPT-3, counted
  headway data get mnist && headway reproduce mnist-errors --seeds 3"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("table", nargs="?", help="the name of a table")
    p.add_argument("--list", action="store_true", help="all tables")
    p.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="trainings of each row; the median counts (default 1)"
    )
    p.add_argument("--minutes", type=float, metavar="M", help="of each training, in place of the table's own budget")
    p.add_argument("--data", default="data", metavar="DIR", help="where `headway data get` put the data (default data)")
    p.add_argument("--out", metavar="DIR", help="where figures and runs are kept (default runs/reproduce/TABLE)")
    p.add_argument("--quiet", action="store_true", help="print the table only")


def run(a: argparse.Namespace) -> int:
    known = registry.entries("tables")
    if a.list or not a.table:
        for name, entry in known.items():
            needs = f"; needs {', '.join(entry.facts['needs'])}" if entry.facts.get("needs") else ""
            print(
                f"{name.replace('_', '-'):24} {duration(entry.facts['minutes'])} on two cores{needs}\n    {entry.summary}"
            )
        return 0
    if a.seeds < 1:
        raise UsageError(f"`--seeds {a.seeds}` should be at least 1")
    entry = registry.among(known, a.table, "table", "tables", "headway reproduce --list")
    name = entry.name.replace("_", "-")
    print(
        f"{entry.doc.splitlines()[0]}\nThis takes {duration(a.seeds * entry.facts['minutes'])} on two cores.",
        flush=True,
    )
    from headway.reproduce.table import HEAD, Bench, measure

    made = entry.load()()
    folder = Path(a.out) if a.out else Path("runs") / "reproduce" / name
    quiet = (lambda words: None) if a.quiet else print
    bench = Bench(folder, Path(a.data), a.seeds, a.minutes, a.quiet, quiet)
    found = measure(made, bench)
    rows = [HEAD, *(measured.cells() for measured in found)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    notes = [f"{m.row.name}: {m.row.note}" for m in found if m.row.note] + made.remarks(bench)
    for note in notes:
        print(f"note: {note}")
    failed = [m for m in found if m.verdict != "reproduced"]
    print(f"\n{len(found) - len(failed)} of {len(found)} rows reproduced; figures and runs are in `{folder}`")
    return 1 if failed else 0


def duration(minutes: float) -> str:
    if minutes < 1:
        return "seconds"
    return f"about {count_noun(round(minutes), 'minute')}" if minutes < 90 else f"about {minutes / 60:.1f} hours"
