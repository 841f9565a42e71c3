"""The parser of one verb, and what may follow a command line that is half typed."""

import argparse
import importlib
import re
from collections.abc import Sequence
from typing import NoReturn

from headway.core import registry
from headway.core.errors import HeadwayError, UnknownName, UsageError
from headway.verbs import ORDER


class Parser(argparse.ArgumentParser):
    """argparse that raises instead of exiting, and knows the options that were probably meant."""

    def error(self, message: str) -> NoReturn:
        message = message.replace("the following arguments are required:", "missing:")
        wrong = re.match(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", message)
        if wrong:
            kind = f"value of `{wrong[1]}`:" if wrong[1].startswith("-") else wrong[1].lower()
            raise UnknownName(kind, wrong[2], re.findall(r"[\w.-]+", wrong[3]), f"{self.prog} --help")
        message = re.sub(r"argument (--\S+): expected one argument", r"`\1` needs a value", message)
        raise UsageError(message, f"`{self.prog} --help` explains it.")

    @property
    def known(self) -> list[str]:
        return [option for action in self._actions for option in action.option_strings if option.startswith("--")]

    def inner(self) -> dict[str, "Parser"]:
        """The parsers of its subcommands, by name."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return dict(action.choices)
        return {}


def verb_parser(name: str, words: Sequence[str]) -> Parser:
    verb = importlib.import_module(f"headway.verbs.{name}")
    raw = argparse.RawDescriptionHelpFormatter
    p = Parser(
        prog=f"headway {name}", description=verb.SUMMARY, epilog=verb.EXAMPLES, formatter_class=raw, allow_abbrev=False
    )
    p.add_argument("--debug", action="store_true", help="show the traceback of an error")
    verb.add_arguments(p, list(words))
    return p


def complete(typed: Sequence[str]) -> list[str]:
    """What may follow: verbs, tasks, options, registered names. The last word is the one being typed."""
    *before, last = typed or [""]
    if not before:
        return [name for name in ORDER if name.startswith(last)]
    try:
        p = verb_parser(before[0], before[1:])
    except (HeadwayError, ImportError):
        return []
    inner = p.inner()
    chosen = next((word for word in before[1:] if word in inner), None)
    if before[-1] == "--model":
        return [name for name in (*registry.entries("models"), *registry.mixers()) if name.startswith(last)]
    if last.startswith("-"):
        return [option for option in (inner[chosen] if chosen else p).known if option.startswith(last)]
    if inner and not chosen:
        return [name for name in inner if name.startswith(last)]
    choices = [c for action in p._actions if not action.option_strings and action.choices for c in action.choices]
    return [str(choice) for choice in choices if str(choice).startswith(last)]
