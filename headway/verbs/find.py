"""`headway find`: anything of the lectures by any of its names."""

import argparse

from headway.core import registry
from headway.core.errors import UnknownName

SUMMARY = "find anything of the lectures by any of its names"
EXAMPLES = """\
examples:
  headway find Bahdanau
  headway find positional encoding"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("words", nargs="+", help="a name, or words of a description")


def run(a: argparse.Namespace) -> None:
    words = " ".join(a.words)
    found = registry.find(words)
    for entry in found:
        print(f"{entry.room + '/' + entry.name:30} {entry.summary}")
    if not found:
        known = [n for r in registry.ROOMS for e in registry.entries(r).values() for n in (e.name, *e.aliases)]
        raise UnknownName("name", words, known, "headway list")
