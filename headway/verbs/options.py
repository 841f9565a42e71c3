"""Options of the command line that several verbs share, and how a registered option becomes one."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from headway.core.entries import Option
from headway.core.errors import UsageError
from headway.core.files import require_writable, write_text
from headway.tasks.folder import require_weights

if TYPE_CHECKING:
    from headway.runs.run import Run

METAVARS = {"int": "N", "float": "X", "bool": "yes|no", "str": "TEXT"}


def add_options(
    p: argparse._ActionsContainer, options: Iterable[Option], files: Iterable[str] = (), prefix: str = ""
) -> None:
    """`validation_source: str | None = None  # held-out sentences` as `--validation-source PATH   held-out sentences`."""
    for option in options:
        kinds = option.type.replace(" | None", "")
        metavar = "PATH" if option.name in files else METAVARS.get(kinds) or _choices(kinds)
        default = "" if option.default is None or "default" in option.meaning else f" (default {_word(option.default)})"
        name = option.name if prefix else option.name.replace("_", "-")
        p.add_argument(
            f"--{prefix}{name}",
            dest=f"{prefix}{option.name}",
            metavar=metavar,
            help=(option.meaning + default).replace("%", "%%"),
        )


def _choices(kinds: str) -> str:
    """`Literal["a", "b"]` as a|b, and a tuple as a list."""
    if kinds.startswith("tuple"):
        return "LIST"
    return kinds.removeprefix("Literal[").removesuffix("]").replace("'", "").replace('"', "").replace(", ", "|")


def _word(value: object) -> str:
    return (
        {True: "yes", False: "no"}.get(value, str(value))
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def add_run(p: argparse.ArgumentParser) -> None:
    p.add_argument("run", metavar="RUN", help="the directory that `headway train` made")
    p.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu, cuda, mps (default auto)")


def open_run(a: argparse.Namespace) -> "Run":
    """The run, opened; a directory that is no run is reported before anything heavy is loaded."""
    require_weights(Path(a.run))
    from headway.runs.run import Run

    return Run(a.run, a.device)


def open_with_inputs(a: argparse.Namespace, given: list[str], question: str, hint: str) -> tuple["Run", list[str]]:
    """The run, and its inputs: words of the command, or the lines of `--input`; never both. `--output` is checked first."""
    if bool(given) == bool(a.input):
        raise UsageError(question, hint)
    if a.output:
        refuse_overwriting(a.output, a.input)
        require_writable(Path(a.output))
    opened = open_run(a)
    from headway.data.pairs import read_lines

    return opened, given or read_lines(a.input)


def require_positive(a: argparse.Namespace, *names: str) -> None:
    for name in names:
        value = getattr(a, name)
        if value is not None and value < 1:
            raise UsageError(f"`--{name.replace('_', '-')} {value}` should be at least 1")


def refuse_overwriting(output: str | None, *inputs: str | None) -> None:
    """Raise if the result would replace what it is made from."""
    if output is None:
        return
    for path in inputs:
        if path and path != "-" and Path(path).exists() and Path(output).exists() and Path(path).samefile(output):
            raise UsageError(
                f"`{output}` is the input itself; its text would be lost", "name another file for `--output`."
            )


def write_lines(lines: Iterable[str], output: str | None) -> None:
    """To a file, whole or not at all, or to the screen."""
    if output:
        write_text(Path(output), "".join(line + "\n" for line in lines))
    else:
        for line in lines:
            print(line)
