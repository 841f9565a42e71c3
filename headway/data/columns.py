"""Pairs from tables: the question which two columns, keys or languages are meant.

They are found by name (`source` and `target`, two languages, or whatever `--languages` names), by number (`--languages
1,2`), or because there are only two. A row becomes `(line, source, target)`, one that cannot be read a `Problem`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from headway.core.errors import DataError
from headway.data.input_file import InputFile
from headway.data.messages import count_noun, list_names
from headway.data.rows import Cells, Problem, csv_rows, jsonl_rows, kind_of, parquet_rows, tsv_rows

Row = tuple[int, str, str]
Languages = tuple[str, str] | None
NAMED = [("source", "target"), ("src", "tgt"), ("src", "trg"), ("input", "output")]
HINT = "name the two, source first: `--languages en,de`, or call them `source` and `target`."
# ISO 639: needed to tell a header `en<tab>de` from a first pair of two short words.
ISO_639 = """
    af am ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id ig is it ja jv
    ka kk km kn ko ku ky la lb lo lt lv mg mi mk ml mn mr ms mt my nb ne nl nn no oc or pa pl ps pt ro ru rw sd si sk sl
    so sq sr sv sw ta te tg th tk tl tr tt uk ur uz vi xh yi yo zh zu eng deu ger fra fre spa ita por nld rus pol ces
    ukr tur ara heb hin zho jpn kor
    """
CODES = frozenset(ISO_639.split())


def same_language(wanted: str, found: str) -> bool:
    """`en` means `en`, `EN`, `en-US` and `en_GB`; `en-US` means only itself."""
    wanted, found = (name.strip().casefold().replace("_", "-") for name in (wanted, found))
    return found == wanted or found.startswith(wanted + "-")


def is_code(name: str) -> bool:
    name = name.strip()
    return re.split("[-_]", name.casefold())[0] in CODES and len(name) <= 11 and " " not in name


def choose(names: Sequence[str], languages: Languages) -> tuple[str, str] | None:
    """The names of the source and of the target column, or None if these names do not show it."""
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


def tsv_pairs(file: InputFile, languages: Languages) -> Iterator[Row | Problem]:
    return table_pairs(tsv_rows(file), file, languages)


def csv_pairs(file: InputFile, languages: Languages) -> Iterator[Row | Problem]:
    return table_pairs(csv_rows(file), file, languages)


def parquet_pairs(file: InputFile, languages: Languages) -> Iterator[Row | Problem]:
    return table_pairs(parquet_rows(file), file, languages)


def table_pairs(rows: Sequence[Cells | Problem], file: InputFile, languages: Languages) -> Iterator[Row | Problem]:
    """The two columns that are meant: by number, by the names in a header, or the only two there are."""
    filled = [cells for row in rows if not isinstance(row, Problem) for cells in [row[1]] if any(cells)]
    header = filled[0] if filled else []
    by_number = languages is not None and languages[0].isdecimal() and languages[1].isdecimal()
    names = choose(header, None if by_number else languages)
    is_header = names is not None or (len(set(header)) == len(header) >= 2 and all(is_code(cell) for cell in header))
    width = len(header) if is_header else Counter(map(len, filled)).most_common(1)[0][0] if filled else 2
    if by_number and languages:
        first, second = column_numbers(languages, width, file)
    elif names:
        first, second = header.index(names[0]), header.index(names[1])
    elif width == 2 and not is_header:
        first, second = 0, 1
    else:
        raise which_columns(filled, width, file, languages)
    for row in rows:
        if isinstance(row, Problem):
            yield row
        elif is_header and row[1] is header:
            continue
        elif not row[1] or row[1] == [""]:
            yield Problem(row[0], "is empty")
        elif len(row[1]) != width:
            yield Problem(row[0], f"has {count_noun(len(row[1]), 'column')}, expected {width}")
        else:
            yield row[0], row[1][first], row[1][second]


def column_numbers(languages: tuple[str, str], width: int, file: InputFile) -> tuple[int, int]:
    first, second = int(languages[0]), int(languages[1])
    if first == second or not (1 <= first <= width and 1 <= second <= width):
        hint = f"name two different columns from 1 to {width}, source first: `--languages 1,2`."
        raise DataError(f"{file} has {count_noun(width, 'column')}, columns {first} and {second} were asked for", hint)
    return first - 1, second - 1


def which_columns(filled: list[list[str]], width: int, file: InputFile, languages: Languages) -> DataError:
    sample = next(cells for cells in filled if len(cells) == width)
    expected = list_names(languages) if languages else "`source` and `target`, or two languages such as `en` and `de`"
    message = (
        f"{file} has {count_noun(width, 'column')}: {list_names(sample)}; expected two, or a header with {expected}"
    )
    if width < 2:
        return DataError(
            message, "separate source and target with a tab, or give two files: `--source` and `--target`."
        )
    names = f'by name, source first: `--languages "{sample[-2].strip()},{sample[-1].strip()}"` or `--languages en,de`'
    return DataError(message, f"choose two columns by number: `--languages {width - 1},{width}`, or {names}.")


def jsonl_pairs(file: InputFile, languages: Languages) -> Iterator[Row | Problem]:
    """`{"source": ..., "target": ...}`, `{"en": ..., "de": ...}`, or either inside `{"translation": ...}`."""
    names: tuple[str, str] | None = None
    for row in jsonl_rows(file):
        if isinstance(row, Problem):
            yield row
            continue
        number, value = row
        if isinstance(inner := value.get("translation"), dict):
            value = inner
        names = names or choose(list(value), languages)
        if names:
            yield pair_of(value, names, number)
        else:
            texts = [name for name, text in value.items() if isinstance(text, str)]
            example = ",".join(texts[:2]) if len(texts) > 1 else "en,de"
            hint = f'name the two keys that hold the texts, source first: `--languages "{example}"`.'
            yield Problem(number, f"has the keys {list_names(value)}", hint)


def pair_of(value: dict[str, object], names: tuple[str, str], number: int) -> Row | Problem:
    missing = [name for name in names if name not in value]
    if missing:
        return Problem(number, f"has no key {list_names(missing)}; its keys are {list_names(value)}")
    source, target = value[names[0]], value[names[1]]
    for name, text in zip(names, (source, target), strict=True):
        if not isinstance(text, str):
            return Problem(number, f"has {kind_of(text)} under `{name}`, expected a string")
        if any("\ud800" <= c <= "\udfff" for c in text):
            return Problem(number, f"has half a character (a lone surrogate) under `{name}`")
    return number, str(source), str(target)
