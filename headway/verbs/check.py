"""`headway check`: the contracts, on a layer or a model of one's own."""

import argparse

SUMMARY = "the contracts, on a layer or a model of your own"
EXAMPLES = """\
examples:
  headway check my_package.mixers:MyMixer        stepping equals forward, the future is not seen, padding does not matter ...
  headway check lstm"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("name", help="package.module:Class, or a registered name")


def run(a: argparse.Namespace) -> int:
    from headway.contracts.check import check_name

    report = check_name(a.name)
    print(report.text())
    return 0 if report.ok else 1
