"""Tokenizers: raw text in, numbers, and exactly the same text out again.

Six kinds, from long pieces to short ones; all of them are trained inside `train` and kept in the run as JSON:

    words        whole words; a rarer one is spelled in characters
    bpe          merges of the most frequent pairs                     (Sennrich et al. 2016, arXiv:1508.07909)
    wordpiece    the longest known piece first                         (Wu et al. 2016, arXiv:1609.08144)
    unigram      the most probable segmentation                        (Kudo 2018, arXiv:1804.10959; see `unigram.py`)
    characters   one token per character
    bytes        the 256 bytes of UTF-8

What can be spelled: bpe, wordpiece, unigram and bytes hold the 256 byte letters (`alphabet.py`), so any Unicode text
comes back. `words` and `characters` hold the characters of the data and nothing else, as a table of characters does in
a lecture: text made of those comes back exactly; any other character becomes the unknown symbol, decodes to `�`, and is
listed by `unknown_characters`.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar, Self

import tokenizers

from headway.core.errors import ConfigError, RunError, UnknownName
from headway.core.files import parse_json
from headway.data import specials
from headway.data.alphabet import BYTE, CONTINUED, FROM_DATA, UNSPACED
from headway.data.specials import SPECIALS, UNKNOWN
from headway.data.vocabulary import LEARNERS, base, require_utf8

KINDS = tuple(LEARNERS)
BLANK = "[MASK]"  # how a person writes a word that is to be filled in


class Tokenizer:
    """A thin wrapper over `tokenizers.Tokenizer` that skips specials, maps tokens to words, and knows its kind."""

    kinds: ClassVar[tuple[str, ...]] = KINDS
    pad: ClassVar[int] = specials.PAD
    bos: ClassVar[int] = specials.BEGIN
    eos: ClassVar[int] = specials.END
    unknown: ClassVar[int] = specials.UNKNOWN
    mask: ClassVar[int] = specials.MASK
    cls: ClassVar[int] = specials.CLASS
    separator: ClassVar[int] = specials.SEPARATOR
    second_separator: ClassVar[int] = specials.SECOND_SEPARATOR
    tags: ClassVar[tuple[tuple[int, int], ...]] = specials.TAGS
    placeholders: ClassVar[tuple[int, ...]] = specials.PLACEHOLDERS
    term: ClassVar[tuple[int, int, int]] = (specials.TERM, specials.TERM_TRANSLATION, specials.TERM_END)
    free: ClassVar[tuple[int, ...]] = specials.FREE

    def __init__(self, kind: str, library: tokenizers.Tokenizer) -> None:
        self.kind = kind
        self.size: int = library.get_vocab_size()
        self._library = library

    def __repr__(self) -> str:
        return f"Tokenizer(kind={self.kind!r}, size={self.size})"

    @cached_property
    def vocabulary(self) -> list[str]:
        """Every token as the library writes it, by its id."""
        return [str(self._library.id_to_token(i)) for i in range(self.size)]

    specials: ClassVar[int] = len(SPECIALS)  # how many ids stand for no text

    def library_json(self) -> str:
        """What `tokenizers.Tokenizer.from_file` reads."""
        return self._library.to_str(pretty=True)

    @property
    def adds_space(self) -> bool:
        """Whether a space is put before every text (and taken away again by `decode`)."""
        return self.kind not in UNSPACED

    def encode(self, texts: list[str]) -> list[list[int]]:
        """The ids of each text, without specials."""
        if self.kind in UNSPACED:  # a table; the library would take a hundred times as long
            return [[i for character in text for i in self._spelling[character]] for text in require_utf8(texts)]
        return [e.ids for e in self._library.encode_batch_fast(require_utf8(texts), add_special_tokens=False)]

    def cut(self, text: str) -> list[str]:
        """The words that pieces never reach over, in the letters of the vocabulary; of the kinds that have pieces of words."""
        library = self._library
        return [word for word, _ in library.pre_tokenizer.pre_tokenize_str(library.normalizer.normalize_str(text))]

    @cached_property
    def _spelling(self) -> dict[str, list[int]]:
        """Character -> its ids, found when it is first met."""
        library = self._library

        class Table(dict[str, list[int]]):
            def __missing__(self, character: str) -> list[int]:
                self[character] = ids = library.encode(character, add_special_tokens=False).ids
                return ids

        return Table()

    def unknown_characters(self, text: str) -> set[str]:
        """The characters of `text` that the vocabulary lacks: each is encoded as the unknown symbol, and lost."""
        return {c for c in set(text) if self._library.token_to_id(c) is None} if self.kind in FROM_DATA else set()

    def decode(self, ids: list[list[int]]) -> list[str]:
        """The text of each row of ids. Specials are skipped; unknown, and bytes that are no character, become `�`."""
        rows = [[i for i in row if i >= len(SPECIALS) or i == UNKNOWN] for row in ids]
        return self._library.decode_batch(rows, skip_special_tokens=False)

    def pieces(self, ids: list[int]) -> list[str]:
        r"""Each id as a readable piece for plots: `▁Mann`, `schaft`; parts of a character and controls as `\xc3`."""
        return [self._piece(i) for i in ids]

    def _piece(self, i: int) -> str:
        token = self._library.id_to_token(i)
        if token is None:
            hint = "was it made by the tokenizer of another run?"
            raise ConfigError(f"token id {i} is not in the vocabulary of {self.size} tokens", hint)
        if i < len(SPECIALS):
            return token
        if self.kind not in FROM_DATA:
            letters = bytes(BYTE[letter] for letter in token.removeprefix(CONTINUED))
            token = letters.decode("utf-8", errors="backslashreplace")
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in token.replace(" ", "▁"))

    def offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids of `text`, and for each the characters that it stands for: the first, and one after the last.

        A token begins with the white space before it. The bytes of one character all stand for that character.
        """
        encoding = self._library.encode(require_utf8([text])[0], add_special_tokens=False)
        return encoding.ids, encoding.offsets

    def words(self, text: str) -> tuple[list[int], list[int]]:
        """The ids of `text`, and for each the index of its word in `text.split()`.

        White space belongs to the word that follows it; after the last word it belongs to none, which is -1.
        """
        ids, places = self.offsets(text)
        owner, word = [-1] * len(text), len(text.split())
        for i in range(len(text) - 1, -1, -1):
            if not text[i].isspace():
                word -= i + 1 == len(text) or text[i + 1].isspace()
                owner[i] = word
            elif i + 1 < len(text):
                owner[i] = owner[i + 1]
        # No token reaches over two words, so its last character decides. The space put before the text lies on the
        # first.
        return ids, [owner[end - 1] for _, end in places]

    def encode_blanks(self, text: str) -> list[int]:
        """The ids of a text in which each `[MASK]` is the mask token, with the space before it, as words have theirs."""
        stand_in = "0" * len(BLANK)  # digits are cut from letters and signs
        blank = rf" ?{re.escape(BLANK)}" if self.adds_space else re.escape(BLANK)
        places = [match.span() for match in re.finditer(blank, text)]
        encoding = self._library.encode(require_utf8([text.replace(BLANK, stand_in)])[0], add_special_tokens=False)
        ids: list[int] = []
        before = None
        for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            place = next((p for p in places if start < p[1] and end > p[0]), None)
            if place is None or place != before:
                ids.append(token if place is None else self.mask)
            before = place
        return ids

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the stored form: two tokenizers with the same one give the same ids."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        return json.dumps({"kind": self.kind, "tokenizer": json.loads(self._library.to_str())}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        hint = "copy the tokenizer again from the run that made it, or train again."
        try:
            stored = parse_json(text)
        except ValueError as problem:
            raise RunError(f"the stored tokenizer is damaged: it is not JSON: {problem}", hint) from problem
        if not isinstance(stored, dict) or not {"kind", "tokenizer"} <= stored.keys():
            expected = "an object with `kind` and `tokenizer` was expected"
            raise RunError(f"the stored tokenizer is damaged: {expected}, not `{json.dumps(stored)[:40]}`", hint)
        kind = stored["kind"]
        if kind not in cls.kinds:
            known = ", ".join(cls.kinds)
            raise RunError(f"the stored tokenizer is of the unknown kind `{kind}`; expected one of {known}", hint)
        try:
            library = tokenizers.Tokenizer.from_str(json.dumps(stored["tokenizer"]))
        except Exception as problem:  # the library raises a bare Exception
            raise RunError(f"the stored tokenizer is damaged: {problem}", hint) from problem
        wrong = [name for i, name in enumerate(SPECIALS) if library.id_to_token(i) != name]
        if wrong:
            begins = f"does not begin with the {len(SPECIALS)} special symbols"
            raise RunError(f"the stored tokenizer {begins}: `{wrong[0]}` is not in its place", hint)
        vocabulary = library.get_vocab()
        if sorted(vocabulary.values()) != list(range(len(vocabulary))) or not vocabulary.keys() >= set(base(kind)):
            raise RunError("the stored tokenizer is damaged: ids or letters of its vocabulary are missing", hint)
        return cls(kind, library)


def train_tokenizer(kind: str, texts: Iterable[str], size: int) -> Tokenizer:
    """A tokenizer of at most `size` tokens, less if the texts have fewer pieces. The same texts give the same JSON.

    Every kind holds at least its letters: `bytes` always has 280 tokens, `characters` one for each character of the
    texts whatever `size` says, and `words` fills with words what these leave of `size`.
    """
    if kind not in KINDS:
        raise UnknownName("tokenizer", kind, KINDS)
    return Tokenizer.from_json(json.dumps({"kind": kind, "tokenizer": LEARNERS[kind](texts, size)}))
