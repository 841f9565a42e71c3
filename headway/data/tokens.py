"""Tokenizers: raw text in, numbers, and exactly the same text out again, for any Unicode.

Six kinds, from long pieces to short ones; all of them are trained inside `train` and kept in the run as JSON:

    words        whole words; an unseen word is spelled in bytes
    bpe          merges of the most frequent pairs                     (Sennrich et al. 2016, arXiv:1508.07909)
    wordpiece    the longest known piece first                         (Wu et al. 2016, arXiv:1609.08144)
    unigram      the most probable segmentation                        (Kudo 2018, arXiv:1804.10959; see `unigram.py`)
    characters   one token per seen character; an unseen one is spelled in bytes
    bytes        the 256 bytes of UTF-8

Why nothing is lost: text is cut into words (spaces stay, in front of their word), then every byte is written as one of the 256
printable letters of the GPT-2 alphabet (Radford et al. 2019), and every kind keeps all 256 letters in its vocabulary. The names
of the special tokens and the mark of a continued WordPiece hold characters that this alphabet lacks, so no text can spell them.
"""

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers

from headway.core.errors import ConfigError, DataError, RunError, UnknownName
from headway.data.unigram import train_unigram

KINDS = ("bpe", "wordpiece", "unigram", "words", "characters", "bytes")
SPECIALS = ("⟨pad⟩", "⟨s⟩", "⟨/s⟩", "⟨unk⟩")
CONTINUED = "￭"  # a WordPiece that continues a word; "##" would clash with text that contains "##"


def gpt2_alphabet() -> dict[str, int]:
    """Letter -> byte. Printable Latin-1 stands for itself, the other bytes are counted up from U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(0x100 + i): b for i, b in enumerate(others)}


BYTE = gpt2_alphabet()
ALPHABET = tuple(sorted(BYTE, key=BYTE.__getitem__))
INSIDE = frozenset(letter for letter, byte in BYTE.items() if 0x80 <= byte < 0xC0)  # the second to fourth byte of a character

# A word is letters with their combining marks and joiners (so Hindi and decomposed accents stay whole), or up to three digits, or
# a run of other signs (an emoji with its joiners), each with the one space before it. White space is what `str.split` takes for
# it. Lengths are bounded because WordPiece takes quadratic time in the length of a word.
SPACE = r"\s\x1c-\x1f"
WORD = (
    r" ?[\p{L}\p{M}\x{200c}\x{200d}]{1,64}"
    r"| ?\p{N}{1,3}"
    rf"| ?[^{SPACE}\p{{L}}\p{{M}}\p{{N}}][^{SPACE}\p{{L}}\p{{N}}]{{0,63}}"
    rf"|[{SPACE}]{{1,64}}(?![^{SPACE}])|[{SPACE}]"
)
CHARACTER = r"[\s\S]"


class Tokenizer:
    """A thin wrapper over `tokenizers.Tokenizer` that skips specials, maps tokens to words, and knows its kind."""

    pad: ClassVar[int] = 0
    bos: ClassVar[int] = 1
    eos: ClassVar[int] = 2
    unknown: ClassVar[int] = 3  # reserved: no text is ever unknown

    def __init__(self, kind: str, library: tokenizers.Tokenizer) -> None:
        self.kind = kind
        self.size: int = library.get_vocab_size()
        self._library = library

    def __repr__(self) -> str:
        return f"Tokenizer(kind={self.kind!r}, size={self.size})"

    def encode(self, texts: list[str]) -> list[list[int]]:
        """The ids of each text, without specials."""
        if self.kind in ("characters", "bytes"):  # a table; the library would take a hundred times as long
            return [[i for character in text for i in self._spelt[character]] for text in sound(texts)]
        return [e.ids for e in self._library.encode_batch_fast(sound(texts), add_special_tokens=False)]

    @cached_property
    def _spelt(self) -> dict[str, list[int]]:
        """Character -> its ids, found when it is first met."""
        library = self._library

        class Table(dict[str, list[int]]):
            def __missing__(self, character: str) -> list[int]:
                self[character] = ids = library.encode(character, add_special_tokens=False).ids
                return ids

        return Table()

    def decode(self, ids: list[list[int]]) -> list[str]:
        """The text of each row of ids; specials are skipped, bytes that are no character become `�`."""
        return self._library.decode_batch([[i for i in row if i >= len(SPECIALS)] for row in ids], skip_special_tokens=False)

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
        text = bytes(BYTE[letter] for letter in token.removeprefix(CONTINUED)).decode("utf-8", errors="backslashreplace")
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text.replace(" ", "▁"))

    def words(self, text: str) -> tuple[list[int], list[int]]:
        """The ids of `text`, and for each the index of its word in `text.split()`.

        White space belongs to the word that follows it; after the last word it belongs to none, which is -1.
        """
        encoding = self._library.encode(sound([text])[0], add_special_tokens=False)
        owner, word = [-1] * len(text), len(text.split())
        for i in range(len(text) - 1, -1, -1):
            if not text[i].isspace():
                word -= i + 1 == len(text) or text[i + 1].isspace()
                owner[i] = word
            elif i + 1 < len(text):
                owner[i] = owner[i + 1]
        # No token reaches over two words, so its last character decides. The space put before the text lies on the first.
        return encoding.ids, [owner[end - 1] for _, end in encoding.offsets]

    def to_json(self) -> str:
        return json.dumps({"kind": self.kind, "tokenizer": json.loads(self._library.to_str())}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Tokenizer":
        hint = "copy the tokenizer again from the run that made it, or train again."
        try:
            stored = json.loads(text)
            kind, library = stored["kind"], tokenizers.Tokenizer.from_str(json.dumps(stored["tokenizer"]))
        except Exception as problem:  # the library raises a bare Exception
            raise RunError(f"the stored tokenizer is damaged: {type(problem).__name__}: {problem}", hint) from problem
        if kind not in KINDS:
            raise RunError(f"the stored tokenizer is of the unknown kind `{kind}`; expected one of {', '.join(KINDS)}", hint)
        specials = tuple(library.id_to_token(i) for i in range(len(SPECIALS)))
        if specials != SPECIALS:
            raise RunError(f"the stored tokenizer begins with {specials}; expected the special tokens {SPECIALS}", hint)
        vocabulary = library.get_vocab()
        if sorted(vocabulary.values()) != list(range(len(vocabulary))) or not vocabulary.keys() >= set(base(kind)):
            raise RunError("the stored tokenizer is damaged: ids or letters of its vocabulary are missing", hint)
        return cls(kind, library)


def train_tokenizer(kind: str, texts: Iterable[str], size: int) -> Tokenizer:
    """A tokenizer of at most `size` tokens (less if the texts have fewer pieces; `bytes` always has 260).

    The same texts give the same JSON, byte for byte.
    """
    if kind not in KINDS:
        raise UnknownName("tokenizer", kind, KINDS)
    first = base(kind)
    if size < len(first) and kind != "bytes":
        raise ConfigError(
            f"a `{kind}` tokenizer of {size} tokens is too small: special tokens and bytes alone are {len(first)}",
            f"ask for {len(first)} or more, or use the tokenizer `bytes`.",
        )
    lines, seen = nonempty(texts), Counter[str]()
    if kind == "bpe":
        # The alphabet goes in as "special" tokens: these get the first ids in the given order.
        bpe = trainers.BpeTrainer(vocab_size=size, special_tokens=first, min_frequency=2, show_progress=False)
        made = train(kind, models.BPE(), bpe, lines)
    elif kind == "wordpiece":
        # Left to itself the trainer numbers continued letters in the order of a hash table (huggingface/tokenizers#1794).
        wordpiece = trainers.WordPieceTrainer(
            vocab_size=size, special_tokens=first, min_frequency=2, continuing_subword_prefix=CONTINUED, show_progress=False
        )
        made = train(kind, models.WordPiece(), wordpiece, lines)
        made["model"] |= {"unk_token": SPECIALS[3], "continuing_subword_prefix": CONTINUED, "max_input_chars_per_word": 1000}
    elif kind == "unigram":
        library = pipeline(kind, models.BPE())
        for line in lines:
            seen.update(word for word, _ in library.pre_tokenizer.pre_tokenize_str(library.normalizer.normalize_str(line)))
        scored = [(name, 0.0) for name in SPECIALS] + train_unigram(seen, ALPHABET, INSIDE, size - len(SPECIALS))
        made = as_dict(pipeline(kind, models.Unigram(scored, Tokenizer.unknown, False)))
    else:
        # A word that is in the vocabulary is one token (`ignore_merges`); without merges every other one falls into its bytes.
        learned: list[str] = []
        if kind == "bytes":
            deque(lines, maxlen=0)  # nothing to learn, but no text is still an error
        else:
            level = trainers.WordLevelTrainer(vocab_size=size + len(ALPHABET), show_progress=False)
            ranks = train(kind, models.WordLevel(), level, lines)["model"]["vocab"]  # most frequent first, then alphabetical
            learned = [word for word in sorted(ranks, key=ranks.__getitem__) if word not in BYTE][: size - len(first)]
        vocabulary = {token: i for i, token in enumerate([*first, *learned])}
        made = as_dict(pipeline(kind, models.BPE(vocab=vocabulary, merges=[], ignore_merges=True)))
    return Tokenizer.from_json(json.dumps({"kind": kind, "tokenizer": made}))


def base(kind: str) -> list[str]:
    """The tokens that every vocabulary of this kind begins with."""
    return [*SPECIALS, *ALPHABET, *((CONTINUED + letter for letter in ALPHABET) if kind == "wordpiece" else ())]


def pipeline(kind: str, model: models.Model) -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer(model)
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    if kind == "bytes":
        library.pre_tokenizer, library.decoder = letters, decoders.ByteLevel()
    elif kind == "characters":
        library.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CHARACTER), "isolated"), letters])
        library.decoder = decoders.ByteLevel()
    else:
        # One space before the text makes its first word look like every other word; the decoder takes it away again.
        library.normalizer = normalizers.Prepend(" ")
        library.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(WORD), "isolated"), letters])
        library.decoder = decoders.Sequence([decoders.Replace(CONTINUED, ""), decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])
    return library


def train(kind: str, model: models.Model, trainer: trainers.Trainer, lines: Iterator[str]) -> dict[str, Any]:
    library = pipeline(kind, model)
    library.train_from_iterator(lines, trainer)
    return as_dict(library)


def as_dict(library: tokenizers.Tokenizer) -> dict[str, Any]:
    """The library's JSON without `added_tokens`: it would look for those in the text, and find them where a person wrote them."""
    stored: dict[str, Any] = json.loads(library.to_str())
    return stored | {"added_tokens": []}


def nonempty(texts: Iterable[str]) -> Iterator[str]:
    """The texts one by one; a DataError at the end if none of them held anything."""
    some = False
    for text in texts:
        some = some or bool(text.strip())
        yield sound([text])[0]
    if not some:
        raise DataError("there is no text to train a tokenizer on", "give a file with at least one line that is not empty.")


def sound(texts: list[str]) -> list[str]:
    """The texts, if UTF-8 can write them."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as problem:
            raise DataError(
                f"the text {text[:40]!r} holds half a character (a lone surrogate at position {problem.start})",
                "read the file as UTF-8 without `surrogateescape`.",
            ) from problem
    return texts
