"""`headway check`: the contracts, on a layer or a model of one's own."""

import argparse

SUMMARY = "the contracts, on a layer or a model of your own"
EXAMPLES = """\
examples:
  headway check my_package.mixers:MyMixer        stepping equals forward, padding does not matter ...
  headway check lstm

Exit code 0 if all contracts hold, 1 if one fails. With --debug, errors of your own code come with their traceback."""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("name", help="package.module:Class, or a registered name")


def run(a: argparse.Namespace) -> int:
    import sys
    import traceback

    from headway.contracts.check import check_name

    report = check_name(a.name)
    print(report.text())
    for result in report.failures if a.debug else ():
        if result.problem is not None:
            print(f"\n{result.title}:", file=sys.stderr)
            traceback.print_exception(result.problem)
    return 0 if report.ok else 1
