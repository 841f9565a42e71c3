"""The doctor of a plain text for a language model: reads along while the text is counted, so that one pass does both.

Reported, never changed: damaged characters, repeated lines and documents, very long lines, nearly empty documents, line
ends of Windows, and too little text. Nothing is dropped: what a text repeats or misspells may be what it is about.
"""

import unicodedata
from typing import Any

from headway.data.findings import MOST_EXAMPLES, MOST_LINES, Finding, Report
from headway.data.input_file import InputFile
from headway.data.messages import count_noun, excerpt
from headway.data.symptoms import SYMPTOMS, Side, Symptom

LEAST_CHARACTERS = 100_000  # with less a model learns the text by heart
LONG_LINE = 10_000  # characters
SHORT_DOCUMENT = 20  # characters
REPEATABLE = 20  # characters; shorter lines (`}`, `* * *`, names of speakers) repeat in any text
MUCH_REPEATED = 0.2  # of the lines
MOST_HELD = 1 << 20  # characters of one line that are examined together
MOST_COMPARED = 500_000  # different lines, and documents, that are remembered, so that memory has a limit

SEVERITY = {"carriage-return": "note", "long-line": "note", "short-document": "note", "not-normalised": "note"}
WORDS = {symptom.kind: symptom.words for symptom in SYMPTOMS} | {
    "carriage-return": r"Windows line ends (`\r\n`): the model will have to write them, too",
    "long-line": f"more than {LONG_LINE:,} characters",
    "not-normalised": "Unicode not in the composed form NFC (the same word in two spellings)",
}
# White space is what it should be in a text: indents, tables and code hold tabs and double spaces.
DAMAGES: tuple[Symptom, ...] = tuple(symptom for symptom in SYMPTOMS if symptom.kind != "white-space")


class TextDoctor:
    """Call `read` with each piece and `end_document` after the last piece of each document, then `report`."""

    def __init__(self) -> None:
        self.lines = self.documents = self.characters = self.longest = 0
        self.alphabet: set[str] = set()
        self._held: list[str] = []  # what was not examined yet of the begun line
        self._before = 0  # the characters of it that were
        self._size = 0  # of the current document
        self._hash = 0
        self._known_lines: set[int] = set()
        self._known_documents: set[int] = set()
        self._found: dict[str, list[tuple[int, int, str]]] = {}  # kind -> the first (line, document, excerpt)
        self._counts: dict[str, int] = {}

    def read(self, piece: str) -> None:
        self._size += len(piece)
        self._hash = hash((self._hash, piece))
        self.alphabet.update(piece)
        first, *rest = piece.split("\n")
        self._held.append(first)
        if rest:
            self._lines(["".join(self._held), *rest[:-1]])
            self._held = [rest[-1]]
        elif sum(map(len, self._held)) > MOST_HELD:
            self._examine(["".join(self._held)], self.lines + 1)
            self._before, self._held = self._before + sum(map(len, self._held)), []

    def end_document(self) -> None:
        line = "".join(self._held)
        if line or self._before:
            self._lines([line])
        if self._size < SHORT_DOCUMENT:
            self._record("short-document", self.lines, "")
        if self._hash in self._known_documents:
            self._record("repeated-document", self.lines, "")
        elif len(self._known_documents) < MOST_COMPARED:
            self._known_documents.add(self._hash)
        self.documents, self.characters = self.documents + 1, self.characters + self._size
        self._held, self._size, self._hash = [], 0, 0

    def _lines(self, lines: list[str]) -> None:
        begin, self.lines = self.lines + 1, self.lines + len(lines)
        self._examine(lines, begin)
        for number, line in enumerate(lines, begin):
            length, self._before = self._before + len(line), 0
            self.longest = max(self.longest, length)
            if length > LONG_LINE:
                self._record("long-line", number, excerpt(line))
            if line.endswith("\r"):
                self._record("carriage-return", number, excerpt(line[-60:]))
            if len(line) == length >= REPEATABLE:
                self._compare(number, line)

    def _examine(self, lines: list[str], begin: int) -> None:
        """Damages of characters. `begin` is the number of the first line."""
        side = Side(lines)
        alphabet = set(side.joined)
        for symptom in DAMAGES:
            if symptom.possible(alphabet):
                for sighting in side.sightings(symptom.pattern):
                    self._record(symptom.kind, begin + sighting.index, sighting.excerpt)
        if not unicodedata.is_normalized("NFC", side.joined):
            for sighting in side.decomposed():
                self._record("not-normalised", begin + sighting.index, sighting.excerpt)

    def _compare(self, number: int, line: str) -> None:
        key = hash(line)
        if key in self._known_lines:
            self._record("repeated-line", number, excerpt(line))
        elif len(self._known_lines) < MOST_COMPARED:
            self._known_lines.add(key)

    def _record(self, kind: str, line: int, example: str) -> None:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        found = self._found.setdefault(kind, [])
        if len(found) < MOST_LINES:
            found.append((line, self.documents + 1, example))

    def report(self, origin: str, statistics: dict[str, Any], skipped: dict[str, str]) -> Report:
        kinds = [kind for kind in self._counts if kind != "short-document" or self.documents > 1]
        findings = [self._finding(kind) for kind in kinds]
        if skipped:
            message = f"{count_noun(len(skipped), 'file')} left out, not text"
            examples = tuple(f"{InputFile(name)} is {why}" for name, why in list(skipped.items())[:MOST_EXAMPLES])
            findings.append(Finding("not-text", len(skipped), (), examples, "note", "dropped", message))
        if self.characters < LEAST_CHARACTERS:
            message = f"too little text: {count_noun(self.characters, 'character')}; a model needs at least about"
            message += f" {LEAST_CHARACTERS:,} to learn more than these"
            findings.append(Finding("little-data", self.characters, (), (), "warning", "kept", message))
        findings.sort(key=lambda finding: finding.severity != "warning")
        statistics = statistics | {
            "lines": self.lines,
            "longest_line": self.longest,
            "different_characters": len(self.alphabet),
        }
        summary = (
            f"{count_noun(self.characters, 'character')} ({len(self.alphabet):,} different), "
            f"{count_noun(self.lines, 'line')}, the longest of {count_noun(self.longest, 'character')}",
        )
        return Report(origin, self.documents, self.documents, tuple(findings), statistics, "document", summary)

    def _finding(self, kind: str) -> Finding:
        count, found = self._counts[kind], self._found[kind]
        place = "line" if self.documents == 1 else "document"
        severity = SEVERITY.get(kind, "warning")
        message = f"{count_noun(count, 'line')} with {WORDS.get(kind, '')}"
        if kind == "repeated-line":
            share = count / max(1, self.lines)
            severity = "warning" if share > MUCH_REPEATED else "note"
            message = (
                f"{count_noun(count, 'line')} of {REPEATABLE} characters or more seen before ({share:.1%} of all lines)"
            )
        elif kind == "repeated-document":
            message = (
                f"{count_noun(count, 'document')} seen before, word for word; held-out text may be known from training"
            )
        elif kind == "short-document":
            message = f"{count_noun(count, 'document')} of less than {SHORT_DOCUMENT} characters"
        lines = tuple(dict.fromkeys(line if place == "line" else document for line, document, _ in found))
        examples = tuple(example for _, _, example in found[:MOST_EXAMPLES] if example)
        return Finding(kind, count, lines, examples, severity, "kept", message, place)
