"""`headway translate`: text, a file, standard input, or a conversation in a terminal."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from headway.core.errors import UsageError
from headway.core.files import require_writable
from headway.verbs.options import add_run, open_run, refuse_overwriting, require_positive, write_lines

if TYPE_CHECKING:
    from headway.runs.run import Run

SUMMARY = "translate text, a file, or standard input"
EXAMPLES = """\
examples:
  headway translate runs/mine "A man is riding a bicycle."
  headway translate runs/mine --input test.en --output test.de --beam 5
  headway translate runs/mine "Good morning." --n-best 3        the three best, with their scores
  headway translate runs/mine                                   type a line, read its translation; Ctrl-D ends

A line of several sentences is split, translated and joined. Characters that training never showed, sentences longer than any of
training, and outputs that were cut are reported."""
MANY = "text"  # the argument that takes several words, wherever they stand
PORTION = 256  # lines translated between two reports of progress


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    add_run(p)
    p.add_argument("text", nargs="*", help="sentences; without any, `--input` is read")
    p.add_argument("--input", metavar="FILE", help="one sentence per line; `-` is standard input")
    p.add_argument("--output", metavar="FILE", help="where the translations go (default: the screen)")
    p.add_argument("--beam", type=int, metavar="K", help="hypotheses kept; 1 is greedy (default: that of the run, 5)")
    p.add_argument(
        "--penalty",
        type=float,
        metavar="A",
        help="length penalty: higher gives longer output (default: that of the run)",
    )
    p.add_argument("--batch", type=int, default=64, metavar="N", help="sentences at a time (default 64)")
    p.add_argument(
        "--engine",
        default="auto",
        metavar="NAME",
        help="torch, ctranslate2 (`headway[fast]`: the same words in less time), or auto: the faster one here (default auto)",
    )
    p.add_argument("--int8", action="store_true", help="ctranslate2 with weights of 8 bits: faster, words may differ")
    p.add_argument("--n-best", type=int, default=1, metavar="N", help="print the N best of each line with their scores")


def run(a: argparse.Namespace) -> None:
    if a.text and a.input:
        raise UsageError("sentences and `--input` were both given", "choose one of them.")
    require_positive(a, "beam", "batch", "n_best")
    if a.output:
        refuse_overwriting(a.output, a.input)
        require_writable(Path(a.output))
    opened = open_run(a)
    if a.engine != "auto" or a.int8:
        opened.use_engine(a.engine, a.int8)
    if not a.text and not a.input and sys.stdin is not None and sys.stdin.isatty():
        _converse(opened, a)
        return
    from headway.data.pairs import read_lines

    lines = a.text or read_lines(a.input or "-")
    write_lines(list(_translated(opened, a, lines)) if a.output else _translated(opened, a, lines), a.output)


def _translated(opened: "Run", a: argparse.Namespace, lines: list[str]) -> Iterator[str]:
    warned = 0
    for start in range(0, len(lines), PORTION):
        portion = lines[start : start + PORTION]
        for number, found in enumerate(opened.translations(portion, a.beam, a.penalty, a.batch, a.n_best), start + 1):
            warned += bool(found[0].warnings)
            if found[0].warnings and warned <= 5:
                print(f"line {number}: {'; '.join(found[0].warnings)}", file=sys.stderr)
            yield from ([found[0].text] if a.n_best == 1 else [f"{number - 1}\t{t.score:.4f}\t{t.text}" for t in found])
        if a.output and len(lines) > PORTION:
            print(f"{min(start + PORTION, len(lines)):,} of {len(lines):,} lines", file=sys.stderr)
    if warned > 5:
        print(f"{warned:,} lines with such warnings in all", file=sys.stderr)


def _converse(opened: "Run", a: argparse.Namespace) -> None:
    """Line by line, each answered at once."""
    print("type a sentence; Ctrl-D ends", file=sys.stderr)
    while True:
        try:
            line = input("> ")
        except EOFError:
            print()
            return
        for text in _translated(opened, a, [line]):
            print(text, flush=True)
