"""Translation memories: TMX, read as a stream, so that a memory of gigabytes costs only the texts that are kept.

    <tu> <tuv xml:lang="en"><seg>Click <bpt i="1">&lt;b&gt;</bpt>here<ept i="1">&lt;/b&gt;</ept>.</seg></tuv> <tuv ...>
    </tu>

The codes inside `bpt`, `ept`, `ph`, `it` and `ut` are formatting of another program and dropped; the text of `hi` is
text. An external DTD may be named (most memories name `tmx14.dtd`) and is never fetched. Entity declarations are
refused, because nested ones grow a few lines into gigabytes.
"""

from collections import Counter
from collections.abc import Iterator
from typing import cast
from xml.etree import ElementTree
from xml.parsers import expat

from headway.core.errors import DataError
from headway.data.columns import HINT, Languages, Row, same_language
from headway.data.input_file import InputFile
from headway.data.messages import excerpt, list_names
from headway.data.rows import Problem

CODES = {"bpt", "ept", "ph", "it", "ut"}
CHUNK = 1 << 16


def tmx_pairs(file: InputFile, languages: Languages) -> list[Row | Problem]:
    """Every translation unit that has both languages; the number of a unit stands for the line."""
    counts: Counter[str] = Counter()
    units: list[tuple[int, dict[str, str]]] = []
    origin = ""
    number = 0
    for element in elements(file):
        if element.tag == "header":
            origin = element.get("srclang", "")
            continue
        number += 1
        texts = variants(element)
        counts.update(texts.keys())
        if languages:
            texts = {n: text for n, text in texts.items() if any(same_language(wanted, n) for wanted in languages)}
        if languages or len(counts) <= 2:  # a third language ends in an error below, so nothing needs to be kept for it
            units.append((number, texts))
    if not number:
        raise DataError(f"{file} has no translation units", "expected `<tu>` elements inside `<tmx><body>`.")
    source, target = languages or from_header(origin, counts, file)
    if not all(any(same_language(wanted, name) for name in counts) for wanted in (source, target)):
        found = describe_counts(counts)
        raise DataError(f"{file} has no {list_names([source, target])} pairs; its languages are {found}", HINT)
    return [pair_of(number, texts, source, target) for number, texts in units]


def from_header(origin: str, counts: Counter[str], file: InputFile) -> tuple[str, str]:
    """The language that the header calls the source, and the only other one."""
    sources = [name for name in counts if same_language(origin, name)]
    if len(counts) == 2 and len(sources) == 1:
        return sources[0], next(name for name in counts if name != sources[0])
    found = describe_counts(counts)
    source = f"calls `{excerpt(origin, 30)}` the source" if origin else "does not say which is the source"
    raise DataError(f"{file} has the languages {found} and {source}; expected a source and one other language", HINT)


def describe_counts(counts: Counter[str]) -> str:
    """The most frequent languages, each with how often it occurs."""
    rest = f" and {len(counts) - 8} more" if len(counts) > 8 else ""
    return ", ".join(f"`{excerpt(name, 30)}` ({count})" for name, count in counts.most_common(8)) + rest


def pair_of(number: int, texts: dict[str, str], source: str, target: str) -> Row | Problem:
    found = []
    for wanted in (source, target):
        names = sorted((name for name in texts if same_language(wanted, name)), key=len)
        if not names:
            return Problem(number, f"has no `{wanted}`")
        found.append(texts[names[0]])
    return number, found[0], found[1]


def variants(unit: ElementTree.Element) -> dict[str, str]:
    """Language -> text; of two variants in one language the first counts."""
    texts: dict[str, str] = {}
    for variant in unit.iter("tuv"):
        language = variant.get("{http://www.w3.org/XML/1998/namespace}lang") or variant.get("lang") or ""
        segment = variant.find("seg")
        if segment is not None:
            texts.setdefault(language, text_of(segment))
    return texts


def text_of(segment: ElementTree.Element) -> str:
    for element in list(segment.iter()):
        if element.tag in CODES:
            after = element.tail  # belongs to the sentence, although ElementTree keeps it with the code
            element.clear()
            element.tail = after
    return "".join(segment.itertext())


def elements(file: InputFile) -> Iterator[ElementTree.Element]:
    """The header and the units, each forgotten once the next is asked for."""
    body: ElementTree.Element | None = None
    guard = EntityGuard(file)
    parser: ElementTree.XMLPullParser[ElementTree.Element] = ElementTree.XMLPullParser(("start", "end"))
    try:
        with file.open() as data:
            chunk = data.read(CHUNK)
            if not chunk:
                raise file.is_empty()
            while chunk:
                guard.feed(chunk)
                parser.feed(chunk)
                for event, element in cast(Iterator[tuple[str, ElementTree.Element]], parser.read_events()):
                    if event == "start":
                        body = element if element.tag == "body" else body
                    elif element.tag in ("header", "tu"):
                        yield element
                        if body is not None:
                            body.clear()
                chunk = data.read(CHUNK)
            parser.close()
    except (ElementTree.ParseError, expat.ExpatError) as problem:
        hint = "the file is damaged or was only half copied; `xmllint --noout` shows every error."
        raise DataError(f"{file} is not well-formed XML: {problem}", hint) from problem
    except (LookupError, ValueError) as problem:
        raise DataError(
            f"{file} has an encoding that cannot be read: {problem}", "save the memory as UTF-8."
        ) from problem


class EntityGuard:
    """Reads along until the root element begins and refuses entity declarations, which can only stand before it."""

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.parser = expat.ParserCreate()
        self.parser.EntityDeclHandler = self.refuse
        self.parser.StartElementHandler = self.root_begins
        self.done = False

    def feed(self, chunk: bytes) -> None:
        if not self.done:
            self.parser.Parse(chunk, False)

    def refuse(self, name: str, *_: object) -> None:
        hint = "remove the `<!ENTITY ...>` lines from the DOCTYPE and write the texts out."
        raise DataError(f"{self.file} declares an XML entity (`{name}`), which is refused", hint)

    def root_begins(self, *_: object) -> None:
        self.done = True
