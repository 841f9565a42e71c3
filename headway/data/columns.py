"""Tables of pairs: TSV, CSV and JSON lines, and the question which two columns (keys, languages) are meant.

A row becomes `(line, source, target)`; a row that cannot be read becomes a `Problem`, so that one bad line of a million is told
and does not end the reading. TSV has no quoting and no escapes: a cell is what stands between two tabs.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from headway.core.errors import DataError
from headway.data.plaintext import shown, spoken

Row = tuple[int, str, str]
Languages = tuple[str, str] | None
NAMED = [("source", "target"), ("src", "tgt"), ("src", "trg")]
HINT = "name the two, source first: `--languages en,de`, or call them `source` and `target`."
# ISO 639: needed to tell a header `en<tab>de` from a first pair of two short words.
ISO_639 = """
    af am ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id ig is it ja jv ka kk
    km kn ko ku ky la lb lo lt lv mg mi mk ml mn mr ms mt my nb ne nl nn no oc or pa pl ps pt ro ru rw sd si sk sl so sq sr sv
    sw ta te tg th tk tl tr tt uk ur uz vi xh yi yo zh zu eng deu ger fra fre spa ita por nld rus pol ces ukr tur ara heb hin
    zho jpn kor
    """
CODES = frozenset(ISO_639.split())


@dataclass(frozen=True)
class Problem:
    """A row that was not read: where, and why."""

    line: int
    message: str


def same_language(wanted: str, found: str) -> bool:
    """`en` means `en`, `EN`, `en-US` and `en_GB`; `en-US` means only itself."""
    wanted, found = (name.strip().casefold().replace("_", "-") for name in (wanted, found))
    return found == wanted or found.startswith(wanted + "-")


def is_code(name: str) -> bool:
    return re.split("[-_]", name.strip().casefold())[0] in CODES and len(name.strip()) <= 11 and " " not in name.strip()


def choose(names: Sequence[str], languages: Languages) -> tuple[str, str] | None:
    """The names of the source and of the target column, or None if these names do not tell."""
    if languages:
        # An exact name goes before a relative: `en` before `en-US`.
        found = [sorted((n for n in names if same_language(wanted, n)), key=len)[:1] for wanted in languages]
        if found[0] and found[1] and found[0] != found[1]:
            return found[0][0], found[1][0]
    folded = {name.strip().casefold(): name for name in names}
    for source, target in NAMED:
        if source in folded and target in folded:
            return folded[source], folded[target]
    codes = [name for name in names if is_code(name)]
    if not languages and len(codes) == 2 and codes[0] != codes[1]:
        return codes[0], codes[1]
    return None


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{shown(name, 30)}`" for name in names)


def from_tsv(lines: list[str], origin: str, languages: Languages) -> Iterator[Row | Problem]:
    return from_table([(number, line.split("\t")) for number, line in enumerate(lines, 1)], origin, languages)


def from_csv(lines: list[str], origin: str, languages: Languages) -> Iterator[Row | Problem]:
    lines = [line.replace("\r", " ") for line in lines]
    return from_table(list(csv_rows(lines, delimiter(lines))), origin, languages)


def delimiter(lines: list[str]) -> str:
    """Comma, semicolon (spreadsheets of half of Europe) or tab: the one that cuts the first rows most evenly into columns."""

    def evenness(candidate: str) -> int:
        widths = Counter(len(row) for row in csv.reader((line + "\n" for line in lines[:50]), delimiter=candidate) if row)
        return max((count for width, count in widths.items() if width >= 2), default=0)

    return max(",;\t", key=evenness)


def csv_rows(lines: list[str], delimiter: str) -> Iterator[tuple[int, list[str]] | Problem]:
    """Rows with the line they begin in. Strict: a stray quote must not swallow the lines up to the next one in silence."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            yield start, next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            if "end of data" in str(problem):
                yield Problem(start, f"a quote is opened and never closed; lines {start} to {len(lines)} are lost")
            else:
                span = f" (the row reaches to line {reader.line_num})" if reader.line_num > start else ""
                yield Problem(start, f"is not CSV: {problem}{span}")


def from_table(rows: Sequence[tuple[int, list[str]] | Problem], origin: str, languages: Languages) -> Iterator[Row | Problem]:
    """The two columns that are meant: by the names in a header, or the only two there are."""
    filled = [cells for row in rows if not isinstance(row, Problem) for cells in [row[1]] if any(cells)]
    header = filled[0] if filled else []
    names = choose(header, languages)
    width = len(header) if names else Counter(map(len, filled)).most_common(1)[0][0] if filled else 2
    looks_like_header = len(header) >= 2 and all(is_code(cell) for cell in header) and len(set(header)) == len(header)
    if not names and (width != 2 or looks_like_header):
        sample = next(cells for cells in filled if len(cells) == width)
        wanted = listed(languages) if languages else "`source` and `target`, or two languages such as `en` and `de`"
        plural = "column" if width == 1 else "columns"
        raise DataError(f"{spoken(origin)} has {width} {plural}: {listed(sample)}; expected two, or a header with {wanted}", HINT)
    first, second = (header.index(names[0]), header.index(names[1])) if names else (0, 1)
    for row in rows:
        if isinstance(row, Problem):
            yield row
        elif names and row[1] is header:
            continue
        elif not row[1] or row[1] == [""]:
            yield Problem(row[0], "is empty")
        elif len(row[1]) != width:
            yield Problem(row[0], f"has {len(row[1])} column{'s' * (len(row[1]) != 1)}, expected {width}")
        else:
            yield row[0], row[1][first], row[1][second]


def from_jsonl(lines: list[str], languages: Languages) -> Iterator[Row | Problem]:
    """`{"source": ..., "target": ...}`, `{"en": ..., "de": ...}`, or either inside `{"translation": ...}`."""
    names: tuple[str, str] | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            yield Problem(number, "is empty")
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as problem:
            yield Problem(number, f"is not JSON: {str(problem).lower()}")
            continue
        if isinstance(value, dict) and isinstance(value.get("translation"), dict):
            value = value["translation"]
        if not isinstance(value, dict):
            yield Problem(number, f"is {kind_of(value)}, expected an object in braces")
            continue
        names = names or choose(list(value), languages)
        yield pair_of(value, names, number) if names else Problem(number, f"has the keys {listed(value)}")


def pair_of(value: dict[str, object], names: tuple[str, str], number: int) -> Row | Problem:
    missing = [name for name in names if name not in value]
    if missing:
        return Problem(number, f"has no key {listed(missing)}; its keys are {listed(value)}")
    source, target = value[names[0]], value[names[1]]
    for name, text in zip(names, (source, target), strict=True):
        if not isinstance(text, str):
            return Problem(number, f"has {kind_of(text)} under `{name}`, expected a string")
        if any("\ud800" <= c <= "\udfff" for c in text):
            return Problem(number, f"has half a character (a lone surrogate) under `{name}`")
    return number, str(source), str(target)


def kind_of(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")
