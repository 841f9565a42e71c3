"""CoNLL files: one word and its tag per line, an empty line between sentences.

    Anna    B-PER
    lives   O           columns are separated by tabs, or else by spaces; the word is the first and the tag the last,
                        unless their numbers are given (a CoNLL-U file: word 2, tag 4)

Left out in silence: comments, which are lines that begin with `#` and have not the columns of the others, `-DOCSTART-`
lines, and in CoNLL-U what is no word of its own (`1-2 zum`, `5.1`). A line with too few columns becomes a `Problem`,
and so is its sentence lost: with a word missing, the tags around it would be wrong.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cached_property

from headway.core.errors import DataError
from headway.data.input_file import InputFile
from headway.data.messages import count_noun, excerpt
from headway.data.rows import Problem, raise_unreadable

HINT = "every line needs a word and its tag, with a tab or spaces between them; an empty line ends a sentence."
UNIVERSAL = 10  # columns of CoNLL-U
NO_WORD = re.compile(r"\d+[-.]\d+")  # the number of a CoNLL-U line that holds several words, or one that is not written


@dataclass(frozen=True)
class TaggedSentences:
    """Words and their tags, sentence by sentence; `lines` says where each sentence begins (from 1)."""

    words: tuple[tuple[str, ...], ...]
    tags: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    origin: str
    problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.words)

    @property
    def size(self) -> int:
        """Words of all sentences."""
        return sum(map(len, self.words))

    def select(self, rows: Sequence[int]) -> "TaggedSentences":
        """These sentences alone."""
        words, tags = (tuple(part[i] for i in rows) for part in (self.words, self.tags))
        return TaggedSentences(words, tags, tuple(self.lines[i] for i in rows), self.origin)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the sentences as they are written down."""
        return hashlib.sha256(write_conll(self.words, self.tags).encode("utf-8", "surrogatepass")).hexdigest()


def write_conll(words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> str:
    """One word, a tab and its tag per line; an empty line after each sentence."""
    sentences = (zip(w, t, strict=True) for w, t in zip(words, tags, strict=True))
    return "".join("".join(f"{word}\t{tag}\n" for word, tag in pairs) + "\n" for pairs in sentences)


def read_conll(path: str, word: int = 1, tag: int | None = None) -> TaggedSentences:
    """The sentences of a file. Columns are counted from 1; the tag is the last one unless it is given."""
    file = InputFile(str(path))
    lines = [line.rstrip("\r\n") for line in file.lines()]
    tabs = 2 * sum("\t" in line for line in lines) > sum(bool(line.strip()) for line in lines)
    rows = [line.split("\t") if tabs and line.strip() else line.split() for line in lines]
    widths = Counter(len(row) for row in rows if row and not row[0].startswith("#"))
    if not widths:
        raise file.is_empty()
    width = widths.most_common(1)[0][0]
    last = width if tag is None else tag
    if not (1 <= word <= width and 1 <= last <= width) or word == last:
        hint = "choose two different columns: `--word 1 --tag 2`." if width > 1 else HINT
        sample = excerpt(next(line for line, row in zip(lines, rows, strict=True) if len(row) == width), 40)
        message = f'{file} has {count_noun(width, "column")} ("{sample}"), word {word} and tag {last} were asked for'
        raise DataError(message, hint)
    sentences, problems = sort_lines(rows, width, word - 1, last - 1)
    raise_unreadable(problems, sum(len(words) for _, words, _ in sentences), file.path, HINT)
    starts, words, tags = zip(*sentences, strict=True) if sentences else ((), (), ())
    return TaggedSentences(words, tags, starts, file.path, tuple(problems))


def is_aside(cells: list[str], width: int) -> bool:
    """Whether a line is none of the text: a comment, the mark of a document, a CoNLL-U line without a word of its own."""
    comment = cells[0].startswith("#") and len(cells) != width
    return comment or cells[0] == "-DOCSTART-" or (len(cells) == UNIVERSAL and NO_WORD.fullmatch(cells[0]) is not None)


def sort_lines(
    rows: Sequence[list[str]], width: int, word: int, tag: int
) -> tuple[list[tuple[int, tuple[str, ...], tuple[str, ...]]], list[Problem]]:
    """Where each sentence begins, its words and its tags; and the lines that cannot be read."""
    found: list[tuple[int, tuple[str, ...], tuple[str, ...]]] = []
    problems: list[Problem] = []
    pairs: list[tuple[str, str]] = []
    start, broken = 0, False
    for number, cells in enumerate([*rows, []], 1):
        if not any(cell.strip() for cell in cells):
            if pairs and not broken:
                found.append((start, tuple(w for w, _ in pairs), tuple(t for _, t in pairs)))
            pairs, start, broken = [], 0, False
        elif is_aside(cells, width):
            continue
        elif len(cells) != width:
            problems.append(Problem(number, f"has {count_noun(len(cells), 'column')}, expected {width}"))
            broken = True
        elif not cells[word].strip() or not cells[tag].strip():
            problems.append(Problem(number, f"has no {'word' if not cells[word].strip() else 'tag'}"))
            broken = True
        else:
            start = start or number
            pairs.append(("_".join(cells[word].split()), cells[tag].strip()))  # white space would make it two words
    return found, problems


WORD = re.compile(r"(?:\w\.){2,}|\w+(?:[^\w\s]\w+)*|[^\w\s]")  # `U.N.`, `mother-in-law`, `3.5`; a sign by itself


def split_words(text: str, known: Container[str] = ()) -> tuple[str, ...]:
    """The words of a text as such files have them: signs stand alone, unless the word with its signs is known."""
    return tuple(word for part in text.split() for word in ([part] if part in known else WORD.findall(part)))
