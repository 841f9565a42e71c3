"""The command `headway`: finds the verb, lets it read its own arguments, and turns every mistake into one clear message.

Nothing heavy is loaded before the whole command line is understood: `--help` and every misspelling answer at once.
"""

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from headway import __version__
from headway.core.errors import HeadwayError, UnknownName, UsageError
from headway.core.files import reason_of
from headway.core.machine import is_out_of_memory, started_together
from headway.core.signals import exit_code
from headway.verbs import ORDER
from headway.verbs.parser import Parser, verb_parser

EXAMPLES = """\
examples:
  headway train demo --out runs/demo                    two minutes on the embedded corpus
  headway train translation --source train.en --target train.de --minutes 30 --out runs/mine
  headway train --resume runs/mine                      continue exactly where it stopped
  headway translate runs/mine "A man is riding a bicycle."
  headway evaluate runs/mine --source test.en --target test.de
  headway inspect runs/mine "A man is riding a bicycle." --out maps.html
  headway train language --text input.txt --minutes 3 --out runs/text
  headway generate runs/text --prompt "ROMEO:" --count 3
  headway find "Bahdanau"                               what the lectures talk about, by any name

Every verb explains itself: headway train --help"""


def top_parser() -> Parser:
    raw = argparse.RawDescriptionHelpFormatter
    about = "Train, use and understand the architectures of the deep-learning lectures."
    top = Parser(prog="headway", description=about, epilog=EXAMPLES, formatter_class=raw, allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"headway {__version__}")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)
    for name in ORDER:
        verb = importlib.import_module(f"headway.verbs.{name}")
        verbs.add_parser(name, help=verb.SUMMARY)
    return top


def split_paths(words: Sequence[str], known: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Options of a model that the help does not list (`--model.states 32`) apart from the others."""
    rest: list[str] = []
    paths: dict[str, str] = {}
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, equals, value = word.partition("=")
        if name.startswith("--model.") and name not in known and " " not in name:
            if not equals and (not queue or queue[0].startswith("--")):
                raise UsageError(f"`{name}` needs a value", f"write `{name} VALUE`.")
            paths[name[2:]] = value if equals else queue.pop(0)
        else:
            rest.append(word)
    return rest, paths


def understand(words: Sequence[str]) -> argparse.Namespace:
    """The command line as a value; every mistake in it raises."""
    if not words or words[0].startswith("-"):
        top = top_parser()
        top.parse_args(words or ["--help"])
    name, rest = words[0], list(words[1:])
    if name not in ORDER:
        raise UnknownName("verb", name, ORDER, "headway --help")
    p = verb_parser(name, rest)
    inner = p.inner().get(next((word for word in rest if not word.startswith("-")), ""), p)
    rest, paths = split_paths(rest, inner.known)
    arguments, left = p.parse_known_args(rest)
    many = getattr(importlib.import_module(f"headway.verbs.{name}"), "MANY", None)
    if many and left and not any(word.startswith("-") for word in left):  # argparse gives up on `RUN --beam 5 "text"`
        setattr(arguments, many, [*getattr(arguments, many), *left])
        left = []
    if left:
        if left[0].startswith("-"):
            raise UnknownName("option", left[0].partition("=")[0], [*inner.known, *p.known], f"{inner.prog} --help")
        raise UsageError(
            f"`{left[0]}` is one argument too many", f"`{inner.prog} --help` explains it; put sentences in quotes."
        )
    arguments.verb, arguments.paths, arguments.command_line = name, paths, list(words)
    return arguments


def main(words: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else words
    _prepare_streams()
    try:
        arguments = understand(words)
        if started_together() > 1 and arguments.verb != "train":
            hint = "start it without `torchrun`; `headway train` is what several processes can do together."
            raise UsageError(
                f"`headway {arguments.verb}` is the work of one process, not of {started_together()}", hint
            )
        verb = importlib.import_module(f"headway.verbs.{arguments.verb}")
        code = int(verb.run(arguments) or 0)
        sys.stdout.flush()
        return code
    except HeadwayError as problem:
        if "--debug" in words:
            raise
        print(f"headway: error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("headway: interrupted", file=sys.stderr)
        return exit_code()
    except BrokenPipeError:  # the reader of our output went away (`headway list | head`): nothing to report
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, MemoryError, RuntimeError) as problem:
        if "--debug" in words or not _is_ordinary(problem):
            raise
        print(f"headway: error: {_describe(problem)}", file=sys.stderr)
        return 2


def entry() -> NoReturn:
    """What the shell calls. Once the work is done, Ctrl-C can only interrupt the end of the interpreter: it is not answered any more."""
    if started_together() > 1:
        _end_at_once()
    code = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def _end_at_once() -> NoReturn:
    """The command in a process that trains with others, which ends without the end of the interpreter.

    Threads of torch's groups live on until then, and one that asks for Python's lock at the end aborts the process (now and then, with
    code -6): the launcher would believe that it had died, and would start all of them again.
    """
    try:
        code: object = main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))  # as `sys.exit` would: nothing is success, words are not


def _prepare_streams() -> None:
    """Output that cannot be encoded is written with question marks; a closed stream becomes one that takes everything."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open as long as the program
        elif hasattr(stream, "reconfigure") and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")


def _is_ordinary(problem: BaseException) -> bool:
    """Whether this is trouble with the machine rather than with the program: files, and memory that torch was refused."""
    return isinstance(problem, OSError) or is_out_of_memory(problem)


def _describe(problem: BaseException) -> str:
    if isinstance(problem, OSError):
        reason = reason_of(problem)
        return f"`{problem.filename}`: {reason}" if problem.filename else reason
    return "the memory of this machine does not suffice\nHint: choose a smaller `--model.width`, `--model.depth` or `--training.batch`."
