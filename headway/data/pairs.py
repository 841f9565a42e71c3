"""Pairs of sentences from two aligned text files, TSV, CSV, JSON lines, TMX or standard input.

What is read is one line per text: white space around it is removed, and a line break inside it (a quoted CSV cell, a JSON string,
a TMX segment) becomes a space, because a model that is asked line by line never meets one. Nothing else is changed: not the
Unicode form, not the case, not the inner spaces; the doctor (`headway/data/doctor.py`) tells what is odd about those.

A row that cannot be read becomes a `Problem` and the rest is kept; if more than half cannot be read, the file is not what it was
taken for, and that is an error. Two files with different numbers of lines are always an error.
"""

import hashlib
import itertools
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from headway.core.errors import DataError, UsageError, raise_all
from headway.data.columns import HINT, Languages, Problem, Row, from_csv, from_jsonl, from_tsv
from headway.data.drift import first_drift
from headway.data.plaintext import lines_of, read_text, shown, spoken
from headway.data.tmx import from_tmx

FORMATS = ".tsv, .csv, .jsonl (.ndjson), .tmx, each also with .gz"


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
    source: str | None = None, target: str | None = None, pairs: str | None = None, languages: tuple[str, str] | None = None
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
    return lines_of(read_text(str(path)))


def from_two(source: str, target: str) -> Pairs:
    if source == target:
        what = "standard input can be read only once" if source == "-" else f"source and target are the same file `{source}`"
        raise UsageError(what, "name two files, or pipe TSV or JSON lines into `--pairs -`.")
    sources, targets = read_lines(source), read_lines(target)
    if len(sources) != len(targets):
        raise unequal(sources, targets, source, target)
    return collected(zip(range(1, len(sources) + 1), sources, targets, strict=True), f"{source} + {target}")


def from_one(path: str, languages: Languages) -> Pairs:
    suffix = Path(path.removesuffix(".gz")).suffix.lower()
    if suffix == ".tmx":
        return collected(from_tmx(path, languages), path)
    text = read_text(path)
    form = {".tsv": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}.get(suffix) or sniffed(text, path)
    if form == "tmx":
        return collected(from_tmx(path, languages), path)
    lines = lines_of(text)
    while lines and not lines[-1].strip(" \r"):  # blank lines after the last row hold nothing; a tab would be a pair of empties
        lines.pop()
    if form == "jsonl":
        return collected(from_jsonl(lines, languages), path)
    return collected((from_tsv if form == "tsv" else from_csv)(lines, path, languages), path)


def sniffed(text: str, path: str) -> str:
    """The format of standard input or of a file whose name does not tell."""
    start = text.lstrip()[:10]
    if start.startswith("{"):
        return "jsonl"
    if start.startswith("[") and text.rstrip().endswith("]"):
        name = shlex.quote(path)
        hint = f"write one object per line: `jq -c '.[]' {name} > {shlex.quote(Path(path).stem + '.jsonl')}`"
        raise DataError(f"{spoken(path)} is one JSON list, expected JSON lines", hint)
    if path != "-" and start.startswith(("<?xml", "<tmx", "<!DOCTYPE")):
        return "tmx"
    lines = [line for line in lines_of(text[:100_000])[:100] if line.strip()]
    if lines and sum("\t" in line for line in lines) * 2 > len(lines):
        return "tsv"
    known = "TSV or JSON lines" if path == "-" else FORMATS
    hint = "separate source and target with a tab." if path == "-" else "rename the file, or give two with `--source` and `--target`."
    raise DataError(f"cannot tell the format of {spoken(path)}; known are {known}", hint)


def collected(rows: Iterable[Row | Problem], origin: str) -> Pairs:
    """Pairs of the rows that could be read, unless they are the minority."""
    good: list[Row] = []
    bad: list[Problem] = []
    for row in rows:
        if isinstance(row, Problem):
            bad.append(row)
        else:
            good.append((row[0], one_line(row[1]), one_line(row[2])))
    if len(bad) > len(good):
        unit = "unit" if ".tmx" in origin else "line"
        title = f"{spoken(origin)} cannot be used, {len(bad)} of {len(bad) + len(good)} {unit}s cannot be read"
        raise_all([f"{unit} {problem.line} {problem.message}" for problem in bad], DataError, title, HINT)
    if not good:
        raise DataError(f"{spoken(origin)} holds no pairs", "expected one pair per line after the header.")
    lines, sources, targets = zip(*good, strict=True)
    return Pairs(sources, targets, lines, origin, tuple(bad))


def one_line(text: str) -> str:
    return re.sub(r"[\r\n]+", " ", text.strip()) if "\n" in text or "\r" in text else text.strip()


def unequal(sources: list[str], targets: list[str], source: str, target: str) -> DataError:
    """Names the line from which on the two files no longer belong together."""
    message = f"{spoken(source)} has {len(sources)} lines and {spoken(target)} has {len(targets)}"
    longer, shorter, name = (sources, targets, source) if len(sources) > len(targets) else (targets, sources, target)
    n = len(shorter)
    if not any(line.strip() for line in longer[n:]):
        return DataError(f"{message}; the extra lines at the end of {spoken(name)} are empty", f"keep `head -n {n}` of it.")
    place = first_drift(sources, targets)
    if place == n:
        hint = f"if the lines before fit, keep `head -n {n}` of {spoken(name)}; otherwise one of the files was cut short."
        return DataError(f"{message}; the files seem to fit up to line {n}, where the shorter one ends", hint)
    both = [f'{spoken(path)}: "{shown(lines[place])}"' for path, lines in ((source, sources), (target, targets))]
    window = f"{max(1, place - 4)},{place + 6}p"
    look = f"`paste {shlex.quote(source)} {shlex.quote(target)} | sed -n {window}` shows the place; " if not packed(source, target) else ""
    return DataError(
        f"{message}; they seem to drift apart near line {place + 1}:\n  " + "\n  ".join(both),
        f"{look}every line needs its partner on the same line of the other file.",
    )


def packed(*paths: str) -> bool:
    return any(path == "-" or path.endswith(".gz") for path in paths)


def two_languages(text: str | None) -> tuple[str, str] | None:
    """`en,de` as a pair; None stays None."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise UsageError(f"`--languages {text}` should name two languages", "write them like `--languages en,de`.")
    return parts[0], parts[1]
