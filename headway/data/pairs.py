"""Pairs of sentences from two aligned text files, TSV, CSV, JSON lines, TMX or standard input.

What is read is one line per text: white space around it is removed, and a line break inside it (a quoted CSV cell, a
JSON string, a TMX segment) becomes a space, because a model that is asked line by line never meets one. Nothing else is
changed: not the Unicode form, not the case, not the inner spaces; the doctor (`headway/data/doctor.py`) reports what is
odd about those.

A row that cannot be read becomes a `Problem` and the rest is kept; if more than half cannot be read, the file is not
what it was taken for, and that is an error. Two files with different numbers of lines are always an error.
"""

import hashlib
import itertools
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from headway.core.errors import DataError, UsageError
from headway.data.cells import kinds_of
from headway.data.columns import HINT, Languages, Row
from headway.data.drift import first_drift
from headway.data.input_file import InputFile, split_lines
from headway.data.messages import display_name, excerpt
from headway.data.readers import READERS
from headway.data.rows import Problem, raise_unreadable
from headway.data.table import glance


@dataclass(frozen=True)
class Pairs:
    """Sources and their targets; `lines` says where each stood (from 1; the number of the unit for TMX)."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    lines: tuple[int, ...]
    origin: str
    problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.sources)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the texts in their order. Each is preceded by its length, so that no two lists look alike."""
        digest = hashlib.sha256()
        for text in itertools.chain.from_iterable(zip(self.sources, self.targets, strict=True)):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
        return digest.hexdigest()


def read_pairs(
    source: str | None = None,
    target: str | None = None,
    pairs: str | None = None,
    languages: tuple[str, str] | None = None,
) -> Pairs:
    """Pairs from `source` and `target` (two text files, line by line) or from `pairs` (one file with both, or "-")."""
    if pairs is not None and source is None and target is None:
        return from_one(str(pairs), languages)
    if pairs is None and source is not None and target is not None:
        return from_two(str(source), str(target))
    given = [name for name, value in (("source", source), ("target", target), ("pairs", pairs)) if value is not None]
    came = " and ".join(f"`{name}`" for name in given) or "none"
    hint = "type `--source train.en --target train.de`, or `--pairs train.tsv`."
    raise UsageError(f"pairs come from `source` and `target`, or from `pairs` alone; {came} given", hint)


def read_lines(path: str) -> list[str]:
    """The lines of one text ("-" is standard input), as they stand."""
    return InputFile(str(path)).lines()


def from_two(source: str, target: str) -> Pairs:
    if source == target:
        once = "standard input can be read only once"
        what = once if source == "-" else f"source and target are the same file `{source}`"
        raise UsageError(what, "name two files, or pipe TSV or JSON lines into `--pairs -`.")
    sources, targets = read_lines(source), read_lines(target)
    if len(sources) != len(targets):
        raise unequal(sources, targets, source, target)
    return collect_rows(zip(range(1, len(sources) + 1), sources, targets, strict=True), f"{source} + {target}")


def from_one(path: str, languages: Languages) -> Pairs:
    file = InputFile(path)
    suffix = file.suffix if file.suffix in READERS else guess_format(file)
    return collect_rows(READERS[suffix].pairs(file, languages), path)


def looks_paired(path: str) -> bool:
    """Whether a file is one of pairs by its name, and, if it is a table that can be read, two of its columns hold sentences."""
    if not glance(path):
        return InputFile(path).suffix in READERS
    try:
        pairs = from_one(path, None)
    except DataError:
        return False
    return set(kinds_of({"source": pairs.sources, "target": pairs.targets}).values()) == {"words"}


def word_columns(path: str) -> list[str]:
    """The columns of a table that hold words."""
    return [name for name, kind in kinds_of(glance(path)).items() if kind == "words"]


def guess_format(file: InputFile) -> str:
    """The format of standard input or of a file whose name does not show it, as a suffix."""
    head = next(iter(file.blocks()), "")
    start = head.lstrip()[:10]
    if not head:
        raise file.is_empty()
    if start.startswith("{"):
        return ".jsonl"
    if start.startswith("[") and file.text().rstrip().endswith("]"):
        name = shlex.quote(file.path)
        hint = f"write one object per line: `jq -c '.[]' {name} > {shlex.quote(Path(file.path).stem + '.jsonl')}`"
        raise DataError(f"{file} is one JSON list, expected JSON lines", hint)
    if start.startswith(("<?xml", "<tmx", "<!DOCTYPE")):
        return ".tmx"
    lines = [line for line in split_lines(head)[:100] if line.strip()]
    if lines and sum("\t" in line for line in lines) * 2 > len(lines):
        return ".tsv"
    standard = file.path == "-"
    known = "TSV, TMX or JSON lines" if standard else f"{', '.join(READERS)}, each also with .gz"
    rename = "rename the file, or give two with `--source` and `--target`."
    hint = "separate source and target with a tab." if standard else rename
    raise DataError(f"cannot tell the format of {file}; known are {known}", hint)


def collect_rows(rows: Iterable[Row | Problem], origin: str) -> Pairs:
    """Pairs of the rows that could be read, unless they are the minority."""
    good: list[Row] = []
    bad: list[Problem] = []
    for row in rows:
        if isinstance(row, Problem):
            bad.append(row)
        else:
            good.append((row[0], one_line(row[1]), one_line(row[2])))
    raise_unreadable(bad, len(good), origin, HINT, "unit" if ".tmx" in origin else "line")
    if not good:
        raise DataError(f"{display_name(origin)} holds no pairs", "expected one pair per line after the header.")
    lines, sources, targets = zip(*good, strict=True)
    return Pairs(sources, targets, lines, origin, tuple(bad))


def one_line(text: str) -> str:
    return re.sub(r"[\r\n]+", " ", text.strip()) if "\n" in text or "\r" in text else text.strip()


def unequal(sources: list[str], targets: list[str], source: str, target: str) -> DataError:
    """Which of the two files ends early, or the line from which on they no longer belong together."""
    counts = f"{display_name(source)} has {len(sources)} lines and {display_name(target)} has {len(targets)}"
    source_longer = len(sources) > len(targets)
    longer, long_name, short_name = (sources, source, target) if source_longer else (targets, target, source)
    n = min(len(sources), len(targets))
    if not any(line.strip() for line in longer[n:]):
        message = f"{counts}; the extra lines at the end of {display_name(long_name)} are empty"
        return DataError(message, f"keep `head -n {n}` of it.")
    place = first_drift(sources, targets)
    if place == n:
        message = f"{counts}; the first {n} lines seem to fit, then {display_name(short_name)} ends early"
        cut, whole = display_name(short_name), display_name(long_name)
        hint = f"copy {cut} again if it was cut short, or keep `head -n {n}` of {whole}."
        return DataError(message, hint)
    sides = ((source, sources), (target, targets))
    both = [f'{display_name(path)}: "{excerpt(lines[place])}"' for path, lines in sides]
    window = f"{max(1, place - 4)},{place + 6}p"
    pasted = f"`paste {shlex.quote(source)} {shlex.quote(target)} | sed -n {window}` shows the place; "
    plain = not any(path == "-" or path.endswith(".gz") for path in (source, target))
    return DataError(
        f"{counts}; they seem to drift apart near line {place + 1}:\n  " + "\n  ".join(both),
        f"{pasted if plain else ''}every line needs its partner on the same line of the other file.",
    )


def two_languages(text: str | None) -> tuple[str, str] | None:
    """`en,de` as a pair; None stays None."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        hint = "write them like `--languages en,de`, or two columns like `--languages 1,2`."
        raise UsageError(f"`--languages {text}` should name two languages or columns", hint)
    return parts[0], parts[1]
