"""`headway list`: what there is, by room."""

import argparse

from headway.core import registry

SUMMARY = "what there is: models, layers, tasks, losses, optimizers, experiments ..."
EXAMPLES = """\
examples:
  headway list                 every room
  headway list models          architectures, and the mixers that `--model` takes as well
  headway list positions"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument(
        "room",
        nargs="?",
        help="one room only: " + ", ".join(room for room in registry.ROOMS if not room.startswith("lab/")),
    )


def run(a: argparse.Namespace) -> None:
    for room in [a.room] if a.room else registry.ROOMS:
        found = registry.entries(room).values()
        if found:
            print(room)
            for entry in found:
                print(f"  {entry.name:18} {entry.summary}")
    if a.room == "models":
        print("mixers that are accepted as `--model` too (in the first model of the task that takes one)")
        for entry in registry.mixers().values():
            print(f"  {entry.name:18} {entry.summary}")
