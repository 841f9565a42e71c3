"""`headway lab`: experiments that test the statements of the lectures."""

import argparse

from headway.lab import commands

SUMMARY = "experiments that test the statements of the lectures"
EXAMPLES = commands.EXAMPLES
MANY = "names"


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    commands.add_arguments(p)


def run(a: argparse.Namespace) -> int:
    return commands.do_lab(a)
