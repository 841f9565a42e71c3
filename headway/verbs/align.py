"""`headway align`: word alignments in Pharaoh format, read off the attention."""

import argparse
import sys
from pathlib import Path

from headway.core.errors import UsageError
from headway.core.files import require_writable
from headway.verbs.options import add_run, open_run, refuse_overwriting, write_lines

SUMMARY = "word alignments in Pharaoh format, read off the attention"
EXAMPLES = """\
examples:
  headway align runs/mine --source a.en --target a.de --output a.align
  headway align runs/mine --pairs a.tsv --gold a.gold            the alignment error rate against known links"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    add_run(p)
    p.add_argument("--source", metavar="FILE", help="one sentence per line")
    p.add_argument("--target", metavar="FILE", help="its translation, line by line")
    p.add_argument("--pairs", metavar="FILE", help="both in one file: .tsv .csv .jsonl .tmx, `-` for standard input")
    p.add_argument("--languages", metavar="A,B", help="which two, where the file holds more: en,de")
    p.add_argument("--gold", metavar="FILE", help="alignments in Pharaoh format, to compute the error rate against")
    p.add_argument("--output", metavar="FILE", help="where the alignments go (default: the screen)")


def run(a: argparse.Namespace) -> None:
    if not a.pairs and not (a.source and a.target):
        raise UsageError("which pairs? `--source` and `--target`, or `--pairs`", "`headway align --help` explains it.")
    if a.output:
        refuse_overwriting(a.output, a.source, a.target, a.pairs, a.gold)
        require_writable(Path(a.output))
    opened = open_run(a)
    from headway.data.pairs import read_lines, read_pairs, two_languages
    from headway.evaluate.alignment import measure, read_pharaoh, write_pharaoh

    gold = read_pharaoh(read_lines(a.gold), f"`{a.gold}`") if a.gold else None
    pairs = read_pairs(a.source, a.target, a.pairs, two_languages(a.languages))
    links, head = opened.align(pairs.sources, pairs.targets)
    write_lines(write_pharaoh(links), a.output)
    print(f"{len(links):,} pairs, read from {head}", file=sys.stderr)
    if gold:
        score = measure(links, *gold)
        print(
            f"alignment error rate {score.aer:.3f}  precision {score.precision:.3f}  recall {score.recall:.3f}",
            file=sys.stderr,
        )
