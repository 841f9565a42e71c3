"""Every error a person can cause, as one tree.

    HeadwayError                 one clear message and a hint; the command exits with code 2
    ├── UsageError               the command line or a Python argument makes no sense
    │   ├── UnknownName          no model, recipe, option ... of that name
    │   └── ConfigError          a configuration value of a wrong type or range
    ├── DataError                a file that is missing, empty, binary, misaligned ...
    ├── RunError                 a directory that is not a run, is damaged, or is in use
    │   └── Diverged             training that exploded again and again
    └── DiskError                the disk is full or refuses to be written

An error says what came, what was expected, and what to type. Messages are lower case with names in backticks.
"""

import difflib
import re
from collections.abc import Iterable

LONGEST = 1000  # letters of a word in a message; damaged files have names without end


class HeadwayError(Exception):
    """What went wrong, and in `hint` what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        message = re.sub(rf"\S{{{LONGEST + 1},}}", lambda word: f"{word[0][:LONGEST]}...", message)
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nHint: {self.hint}" if self.hint else self.message


class UsageError(HeadwayError):
    pass


class ConfigError(UsageError):
    pass


class DataError(HeadwayError):
    pass


class RunError(HeadwayError):
    pass


class Diverged(RunError):
    pass


class DiskError(HeadwayError):
    pass


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, or None."""
    known = list(known)
    close = difflib.get_close_matches(name.lower(), [k.lower() for k in known], n=1, cutoff=0.6)
    return next(k for k in known if k.lower() == close[0]) if close else None


FEW = 40  # names that a person reads through


class UnknownName(UsageError):
    """A name that nobody registered, with the nearest one that exists, or what lists them all; a few are listed here."""

    def __init__(self, kind: str, name: str, known: Iterable[str], listing: str = "") -> None:
        known = sorted(known)
        guess = nearest(name, known)
        parts = [f"did you mean `{guess}`?"] if guess else []
        if listing:
            parts.append(f"`{listing}` lists them all.")
        elif not guess and len(known) <= FEW:
            parts.append("known: " + ", ".join(f"`{k}`" for k in known) + ".")
        elif not guess:
            parts.append(f"none of the {len(known)} that are known is near it; `headway list` shows what there is.")
        super().__init__(f"unknown {kind} `{name}`", " ".join(parts))


def raise_all(problems: list[str], error: type[HeadwayError], title: str, hint: str = "") -> None:
    """Raise all problems at once, so that nobody mends a file one error at a time."""
    if problems:
        shown = problems[:20] + ([f"... and {len(problems) - 20} more"] if len(problems) > 20 else [])
        raise error("\n  - ".join([f"{title}:", *shown]) if len(problems) > 1 else f"{title}: {problems[0]}", hint)
