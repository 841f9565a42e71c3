"""Learning a vocabulary: one function per kind of tokenizer, (texts, size) -> the library's JSON as a dictionary.

Every function is deterministic: the same texts give the same vocabulary with the same ids.
"""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tokenizers
from tokenizers import models, trainers

from headway.core.errors import ConfigError, DataError
from headway.data.alphabet import ALPHABET, CONTINUED, FROM_DATA, INSIDE, pipeline
from headway.data.specials import SPECIALS, UNKNOWN
from headway.data.unigram import train_unigram

Learned = dict[str, Any]
LONGEST_WORD = 64  # characters of a word of the vocabulary


def base(kind: str) -> list[str]:
    """The tokens that every vocabulary of this kind begins with."""
    if kind in FROM_DATA:
        return [*SPECIALS, *([" "] if kind == "words" else [])]  # the space that is put before a text
    return [*SPECIALS, *ALPHABET, *((CONTINUED + letter for letter in ALPHABET) if kind == "wordpiece" else ())]


def learn_bpe(texts: Iterable[str], size: int) -> Learned:
    # The alphabet goes in as "special" tokens: these get the first ids in the given order.
    first = require_room("bpe", size)
    bpe = trainers.BpeTrainer(vocab_size=size, special_tokens=first, min_frequency=2, show_progress=False)
    return train("bpe", models.BPE(), bpe, nonempty(texts))


def learn_wordpiece(texts: Iterable[str], size: int) -> Learned:
    # Left to itself the trainer numbers continued letters in the order of a hash table (huggingface/tokenizers#1794).
    wordpiece = trainers.WordPieceTrainer(
        vocab_size=size,
        special_tokens=require_room("wordpiece", size),
        min_frequency=2,
        continuing_subword_prefix=CONTINUED,
        show_progress=False,
    )
    made = train("wordpiece", models.WordPiece(), wordpiece, nonempty(texts))
    made["model"] |= {
        "unk_token": SPECIALS[UNKNOWN],
        "continuing_subword_prefix": CONTINUED,
        "max_input_chars_per_word": 1000,
    }
    return made


def learn_unigram(texts: Iterable[str], size: int) -> Learned:
    require_room("unigram", size)
    library, seen = pipeline("unigram", models.BPE()), Counter[str]()
    for text in nonempty(texts):
        cut = library.pre_tokenizer.pre_tokenize_str(library.normalizer.normalize_str(text))
        seen.update(word for word, _ in cut)
    scored = [(name, 0.0) for name in SPECIALS] + train_unigram(seen, ALPHABET, INSIDE, size - len(SPECIALS))
    return as_dict(pipeline("unigram", models.Unigram(scored, UNKNOWN, False)))


def learn_words(texts: Iterable[str], size: int) -> Learned:
    """Every character, then as many words as there is room for, the most frequent first."""
    seen = Counter[str]()

    def count_characters() -> Iterator[str]:
        for text in nonempty(texts):
            seen.update(text)
            yield text

    every = trainers.WordLevelTrainer(vocab_size=2**31 - 1, show_progress=False)
    ranks = train("words", models.WordLevel(), every, count_characters())["model"]["vocab"]
    characters = by_frequency(seen)
    words = [word for word in sorted(ranks, key=ranks.__getitem__) if 1 < len(word) <= LONGEST_WORD]
    room = max(0, size - len({*base("words"), *characters}))
    return without_merges("words", characters + words[:room])


def learn_characters(texts: Iterable[str], size: int) -> Learned:
    """Every character, whatever `size` says."""
    seen = Counter[str]()
    for text in nonempty(texts):
        seen.update(text)
    return without_merges("characters", by_frequency(seen))


def learn_bytes(texts: Iterable[str], size: int) -> Learned:
    """Bytes are given; the texts are read only because no text at all is an error."""
    deque(nonempty(texts), maxlen=0)
    return without_merges("bytes", [])


LEARNERS: dict[str, Callable[[Iterable[str], int], Learned]] = {
    "bpe": learn_bpe,
    "wordpiece": learn_wordpiece,
    "unigram": learn_unigram,
    "words": learn_words,
    "characters": learn_characters,
    "bytes": learn_bytes,
}


def require_room(kind: str, size: int) -> list[str]:
    """The first tokens of the vocabulary, if `size` has room for them."""
    first = base(kind)
    if size < len(first):
        raise ConfigError(
            f"a `{kind}` tokenizer of {size} tokens is too small: special tokens and bytes alone are {len(first)}",
            f"ask for {len(first)} or more, or use the tokenizer `bytes`.",
        )
    return first


def by_frequency(seen: Counter[str]) -> list[str]:
    """The most frequent first; ties in the order of the alphabet."""
    return sorted(seen, key=lambda c: (-seen[c], c))


def without_merges(kind: str, learned: list[str]) -> Learned:
    """BPE without merges: what is in the vocabulary is one token (`ignore_merges`), all else falls into its letters."""
    vocabulary = {token: i for i, token in enumerate(dict.fromkeys([*base(kind), *learned]))}
    model = models.BPE(vocab=vocabulary, merges=[], ignore_merges=True, unk_token=SPECIALS[UNKNOWN])
    return as_dict(pipeline(kind, model))


def train(kind: str, model: models.Model, trainer: trainers.Trainer, texts: Iterator[str]) -> Learned:
    library = pipeline(kind, model)
    library.train_from_iterator(texts, trainer)
    return as_dict(library)


def as_dict(library: tokenizers.Tokenizer) -> Learned:
    """The library's JSON without `added_tokens`: it would look for those in the text, and find what a person wrote."""
    stored: Learned = json.loads(library.to_str())
    return stored | {"added_tokens": []}


def nonempty(texts: Iterable[str]) -> Iterator[str]:
    """The texts one by one; a DataError at the end if none of them held anything."""
    some = False
    for text in texts:
        some = some or bool(text.strip())
        yield require_utf8([text])[0]
    if not some:
        raise DataError(
            "there is no text to train a tokenizer on", "give a file with at least one line that is not empty."
        )


def require_utf8(texts: list[str]) -> list[str]:
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
