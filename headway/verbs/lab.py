"""`headway lab`: experiments that test the statements of the lectures, and what the same tools say of a person's own runs.

An action on experiments is a part of the lab (`lab/commands.py`). One that reads or makes runs, which the lab does not see, is a file
of this folder: a summary, examples, arguments and `run`, as a verb has them.
"""

import argparse

from headway.lab import commands
from headway.verbs import probe, scaling, sweep

SUMMARY = "experiments that test the statements of the lectures; probes and scaling laws of your own runs"
EXAMPLES = f"""{commands.EXAMPLES}
  headway lab probe runs/mine                          regions, dimensions, attention, sharpness ... of your own model
  headway lab sweep language --text input.txt --tokens characters --out runs/sweep
  headway lab scaling runs/sweep --out scaling.html    what a larger model or longer training would bring"""
MANY = "names"
OF_RUNS = {"probe": probe, "sweep": sweep, "scaling": scaling}


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    actions = commands.add_arguments(p)
    for name, part in OF_RUNS.items():
        inner = actions.add_parser(
            name,
            help=part.SUMMARY,
            description=part.SUMMARY,
            epilog=part.EXAMPLES,
            formatter_class=p.formatter_class,
            allow_abbrev=False,
        )
        part.add_arguments(inner, words)


def run(a: argparse.Namespace) -> int:
    return OF_RUNS[a.action].run(a) if a.action in OF_RUNS else commands.do_lab(a)
