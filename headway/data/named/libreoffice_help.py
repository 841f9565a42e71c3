import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser

from headway.data.named.sources import Dataset, Package

EN_US = "8faa840285734d6cfe1ed25537b48f07e74bd6412e3917bf8e5f8a653f7b3712"
GERMAN = "00490b63c509ac96f7f212d6a6e40452d3e0d1f97ccf4b824dd5ec4c01e8277f"
VERSION = "4:7.4.7-1+deb12u14"
PAGE = re.compile(r"usr/share/libreoffice/help/([^/]+)/text/(.+)\.html$")
BLOCKS = ("p", "h1", "h2", "h3", "h4", "h5", "h6")


def libreoffice_help(language: str = "de") -> Dataset:
    """LibreOffice help: the pages of an office program in English and another language as parallel text, some 36,000 pairs.

    Also called parallel text of LibreOffice. The same paragraph has the same identifier in every language; Debian has
    the help in some 25 of them (`--language fr`).
    """
    checksum = GERMAN if language == "de" else ""
    return Dataset(
        name="libreoffice-help",
        summary=f"the help pages of an office program in English and `{language}`, aligned paragraph by paragraph",
        licence="MPL 2.0",
        packages=(
            Package("apt-get", "libreoffice-help-en-us", VERSION, EN_US, 1.8),
            Package("apt-get", f"libreoffice-help-{language.lower()}", VERSION, checksum, 3.3),
        ),
        files=("help.en", f"help.{language.lower()}"),
        make=parallel,
        next_step=f"train translation --source {{folder}}/help.en --target {{folder}}/help.{language.lower()} --out runs/help",
        checked={},
    )


def parallel(members: Iterator[tuple[str, bytes]]) -> Mapping[str, bytes]:
    """Paragraphs that both languages have, in the order of pages; those that were not translated are left out."""
    texts: dict[str, dict[tuple[str, str], str]] = {}
    for name, content in members:
        if found := PAGE.match(name):
            language, page = found.groups()
            blocks = texts.setdefault(language, {})
            blocks |= {(page, key): text for key, text in paragraphs(content.decode("utf-8")).items()}
    if len(texts) != 2 or "en-US" not in texts:
        return {}
    english = texts.pop("en-US")
    ((other, translated),) = texts.items()
    pairs = [(english[key], translated[key]) for key in sorted(english) if key in translated]
    kept = list(dict.fromkeys(pair for pair in pairs if all(pair) and pair[0] != pair[1]))
    files = {"help.en": [a for a, _ in kept], f"help.{other.lower()}": [b for _, b in kept]}
    return {name: "".join(f"{line}\n" for line in lines).encode() for name, lines in files.items()}


def paragraphs(page: str) -> dict[str, str]:
    """The text of every paragraph and heading that has an identifier."""
    reader = Paragraphs()
    reader.feed(page)
    return {key: " ".join("".join(parts).split()) for key, parts in reader.found.items()}


class Paragraphs(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {}
        self.open: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        key = dict(attrs).get("id")
        if tag in BLOCKS:
            self.open = self.found.setdefault(key, []) if key else None

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            self.open = None

    def handle_data(self, data: str) -> None:
        if self.open is not None:
            self.open.append(data)
