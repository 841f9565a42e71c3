"""`headway lab scaling`: how the loss of a person's own runs falls with parameters, tokens and FLOPs."""

import argparse
import json
from pathlib import Path

from headway.core.errors import UsageError
from headway.core.files import require_writable, write_text
from headway.verbs.counts import parse_counts

SUMMARY = "fit a scaling law to runs of your own: what a larger model or longer training would bring"
EXAMPLES = """\
examples:
  headway lab scaling runs/sweep                                  all runs of a directory, as `headway lab sweep` makes them
  headway lab scaling runs/a runs/b runs/c runs/d --out scaling.html
  headway lab scaling runs/sweep --parameters 3M --length 20M     the loss of one run that you think of
  headway lab scaling runs/sweep --json

The runs are of one task and on the same data; only the size of the model and the length of training may differ.
Three sizes with three lengths each are the least for a law of both."""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("names", nargs="*", metavar="RUNS", help="runs of one task on the same data, or a directory of runs")
    p.add_argument(
        "--parameters", metavar="N", help="predict a model of this size as well (default: that of the largest run)"
    )
    p.add_argument("--length", metavar="N", help="trained on so many tokens or examples (default: as the largest run)")
    p.add_argument("--seed", type=int, default=0, metavar="S", help="of the bootstrap (default 0)")
    p.add_argument("--out", metavar="PAGE", help="a page with figures, for example scaling.html")
    p.add_argument("--json", action="store_true", help="print the numbers as JSON")
    p.add_argument("--debug", action="store_true", help="show the traceback of an error")


def run(a: argparse.Namespace) -> int:
    if not a.names:
        raise UsageError("which runs?", "`headway lab scaling RUNS ...`; `headway lab sweep` makes some.")
    if a.seed < 0:
        raise UsageError(f"`--seed {a.seed}` should not be negative")
    asked = {name: one_count(getattr(a, name), f"--{name}") for name in ("parameters", "length") if getattr(a, name)}
    if a.out:
        require_writable(Path(a.out))
    from headway.compare.scaling.points import find_runs

    report(find_runs(a.names), asked, a.seed, Path(a.out) if a.out else None, a.json)
    return 0


def one_count(text: str, option: str) -> int:
    found = parse_counts(text, option)
    if len(found) > 1:
        raise UsageError(f"`{option} {text}` should be one number", "for example `3M`.")
    return found[0]


def report(folders: list[Path], asked: dict[str, int], seed: int, out: Path | None, as_numbers: bool) -> None:
    """Fit, predict, print and write the page."""
    from headway.compare.scaling.forecast import Scaling
    from headway.compare.scaling.page import scaling_page
    from headway.compare.scaling.points import read_points
    from headway.compare.scaling.tables import as_json, terminal_text

    found = Scaling(read_points(folders), seed)
    predictions = found.next_sizes()
    if asked:
        size, length = asked.get("parameters", found.largest.parameters), asked.get("length", found.largest.units)
        predictions.append(found.predict("as asked", size, length))
    if out:
        write_text(out, scaling_page(found, predictions))
    if as_numbers:
        print(json.dumps(as_json(found, predictions), indent=2))
    else:
        print(terminal_text(found, predictions) + (f"\n\npage: {out}" if out else ""))
