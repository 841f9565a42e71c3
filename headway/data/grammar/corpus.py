"""The corpus: any number of distinct pairs with gold alignments, a pure function of (count, split, seed).

A sentence belongs to one split for ever, whatever the seed. If it contains a held-out combination (an adjective with a noun, a
verb with an object; one pair in ten, by a hash of the two lemmas), it belongs to `combinations`. Otherwise a hash of the German
text sends it to `train` (80 %), `validation` or `test` (10 % each). Two English sentences may share a German one (her dog, their
dog: ihr Hund), never the other way round; so hashing the German side keeps the splits apart on both.

Run as a module it prints ten samples:  python -m headway.data.grammar.corpus
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

from headway.core.errors import DataError, UnknownName
from headway.data.grammar import english, german
from headway.data.grammar.sampler import Sampler
from headway.data.grammar.tree import Sentence, Token, combinations

SPLITS = ("train", "validation", "test", "combinations")
LARGEST = 1_000_000  # pairs of one split; the grammar has more, but memory would be the first to notice
LONGEST = 20  # words
PATIENCE = 20_000  # derivations in a row without a new sentence before the grammar counts as exhausted


@dataclass(frozen=True)
class GoldPair:
    """An English sentence, its German translation, and the word pairs (source index, target index) that belong together."""

    source: str
    target: str
    alignment: tuple[tuple[int, int], ...]


def generate(count: int, split: str = "train", seed: int = 0) -> list[GoldPair]:
    """`count` distinct pairs of a split. A larger count continues a smaller one of the same seed."""
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    if not 0 <= count <= LARGEST:
        raise DataError(
            f"the grammar was asked for {count:,} pairs of `{split}`, it gives between 0 and {LARGEST:,}",
            f"ask for at most {LARGEST:,} pairs; other seeds give other ones.",
        )
    found = [pair for _, pair in islice(derivations(split, seed), count)]
    if len(found) < count:
        raise DataError(
            f"the grammar was asked for {count:,} pairs of `{split}` and has only {len(found):,}",
            f"ask for at most {len(found):,} pairs.",
        )
    return found


def derivations(split: str, seed: int) -> Iterator[tuple[Sentence, GoldPair]]:
    """Distinct sentences of a split with the trees they come from; ends when no new one turns up for a long time."""
    sampler = Sampler(number(f"{split} {seed}"))
    seen: set[str] = set()
    barren = 0
    while barren < PATIENCE:
        barren += 1
        tree = sampler.sentence()
        held_out = any(is_held_out(*pair) for pair in combinations(tree))
        if held_out != (split == "combinations"):
            continue
        german_words = german.sentence(tree)
        target = write_sentence(german_words, tree)
        if not held_out and split_of(target) != split:
            continue
        english_words = english.sentence(tree)
        source = write_sentence(english_words, tree)
        if source not in seen and max(len(english_words), len(german_words)) <= LONGEST:
            seen.add(source)
            barren = 0
            yield tree, GoldPair(source, target, align(english_words, german_words))


def number(text: str) -> int:
    """A number that depends on the text alone; Python's own hash changes from run to run."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


@cache
def is_held_out(one: str, other: str) -> bool:
    """Whether this combination of lemmas is kept from training."""
    return number(f"combination {one} {other}") % 10 == 0


def split_of(target: str) -> str:
    """The split of a German sentence without held-out combinations."""
    return ("validation", "test", *["train"] * 8)[number(target) % 10]


def write_sentence(words: list[Token], tree: Sentence) -> str:
    """The text: capital letter first, punctuation attached to its word, and a comma swallowed by a stronger mark."""
    parts: list[str] = []
    for text, _ in words:
        if text != ",":
            parts.append(text)
        elif not parts[-1].endswith(","):
            parts[-1] += ","
    joined = " ".join(parts).rstrip(",")
    return joined[0].upper() + joined[1:] + ("?" if tree.main.question else ".")


def align(source: list[Token], target: list[Token]) -> tuple[tuple[int, int], ...]:
    """Links between words that come from the same node; both sides name their nodes by address."""
    places: dict[str, list[int]] = {}
    for place, (_, addresses) in enumerate(word for word in target if word[0] != ","):
        for address in addresses:
            places.setdefault(address, []).append(place)
    links = {
        (place, other)
        for place, (_, addresses) in enumerate(word for word in source if word[0] != ",")
        for address in addresses
        for other in places.get(address, ())
    }
    return tuple(sorted(links))


def read_out(tree: Sentence) -> GoldPair:
    """The pair of one derivation: the tree read in English and in German."""
    source, target = english.sentence(tree), german.sentence(tree)
    return GoldPair(write_sentence(source, tree), write_sentence(target, tree), align(source, target))


def main() -> None:
    for pair in generate(10):
        links = " ".join(f"{source}-{target}" for source, target in pair.alignment)
        print(f"{pair.source}\n{pair.target}\n{links}\n")


if __name__ == "__main__":
    main()
