"""`headway lab scaling`: how the loss of a person's own runs falls with parameters, tokens and FLOPs."""

import argparse

SUMMARY = "fit a scaling law to runs of your own: what a larger model or longer training would bring"
EXAMPLES = ""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("names", nargs="*", metavar="RUNS", help="runs of one task on the same data, or a directory of runs")


def run(a: argparse.Namespace) -> int:
    return 0
