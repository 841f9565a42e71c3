"""What a command line asks for, as things: a run, pairs, a path. Mistakes are told before anything heavy is loaded."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.core.errors import DataError, UsageError
from headway.core.files import expect_run, write_text

if TYPE_CHECKING:
    from headway.data.pairs import Pairs
    from headway.train.run import Run


def path_of(value: str, name: str) -> Any:
    """An absolute path, so that the run can be continued from anywhere; a missing file is told before anything heavy is loaded."""
    if name == "languages" or value == "-":
        return value
    if not os.path.exists(value):
        raise DataError(f"there is no file `{value}` (`--{name.replace('_', '-')}`)", f"looked in `{Path(value).resolve().parent}`.")
    return str(Path(value).resolve())


def run_of(a: argparse.Namespace) -> "Run":
    """The run, opened; a directory that is none is told before anything heavy is loaded."""
    expect_run(Path(a.run))
    from headway.train.run import Run

    return Run(a.run)


def pairs_of(a: argparse.Namespace) -> "Pairs":
    from headway.data.pairs import read_pairs, two_languages

    if not a.pairs and not (a.source and a.target):
        raise UsageError("which pairs? `--source` and `--target`, or `--pairs`", f"`headway {a.verb} --help` explains it.")
    return read_pairs(a.source, a.target, a.pairs, two_languages(a.languages))


def positive(a: argparse.Namespace, *names: str) -> None:
    for name in names:
        if getattr(a, name) < 1:
            raise UsageError(f"`--{name.replace('_', '-')} {getattr(a, name)}` should be at least 1")


def written(lines: Sequence[str], output: str | None) -> None:
    if output:
        write_text(Path(output), "".join(line + "\n" for line in lines))
    else:
        for line in lines:
            print(line)
