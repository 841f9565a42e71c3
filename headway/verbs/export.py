"""`headway export`: a run as a directory that another program runs."""

import argparse
from pathlib import Path

from headway.core.errors import UnknownName
from headway.verbs.options import add_run, open_run

SUMMARY = "write a run in the format of another program: CTranslate2"
EXAMPLES = """\
examples:
  headway export ctranslate2 runs/mine --out mine-ct2               a translation model that runs without headway
  headway export ctranslate2 runs/mine --out mine-int8 --int8       weights of 8 bits: a quarter of the size, faster
  echo "Good morning." | python mine-ct2/translate.py               needs `pip install ctranslate2 tokenizers`, nothing else"""
FORMATS = ("ctranslate2",)


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("format", metavar="FORMAT", help="ctranslate2 (needs `headway[fast]`)")
    add_run(p)
    p.add_argument("--out", required=True, metavar="DIR", help="the directory; must not exist yet")
    p.add_argument("--int8", action="store_true", help="weights of 8 bits: smaller and faster, words may differ")


def run(a: argparse.Namespace) -> None:
    if a.format not in FORMATS:
        raise UnknownName("format", a.format, FORMATS, "headway export --help")
    opened = open_run(a)
    from headway.export.ctranslate2 import export_run

    export_run(opened, Path(a.out), a.int8)
    size = sum(file.stat().st_size for file in Path(a.out).iterdir()) / 2**20
    print(f"written: {a.out} ({size:.1f} MiB)\ntry it: python {a.out}/translate.py < sentences.txt")
