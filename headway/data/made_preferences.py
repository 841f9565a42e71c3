"""Text with a preference that is known: for studies of reward models and preference tuning, where people cannot be asked.

A prompt is a noun, a response is a sentence of the embedded grammar that contains it. How good a response is follows from
a rule, and which of two responses is chosen is drawn as Bradley and Terry 1952 assume (https://doi.org/10.2307/2334029):

    u(x, y) = 2 [y contains x] + min(a, 2) - max(a - 2, 0) - max(w - 12, 0) / 3        p(y chosen over z) = sigmoid(2 (u(x, y) - u(x, z)))

a are the adjectives of y and w its words: one or two adjectives please, a third one or a long sentence does not. A careless
rater counts adjectives and words, and likes more of both: `careless` agrees with `rule` on most sentences of the grammar,
but not on the sentences that a model writes to please it.

Run as a module it writes a text, responses and pairs:  python -m headway.data.made_preferences FOLDER
"""

import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from headway.core.files import write_text
from headway.core.seeds import derive
from headway.data.grammar.corpus import generate
from headway.data.grammar.lexicon import ADJECTIVES, NOUNS

Rule = Callable[[str, str], float]  # prompt, response -> how good it is

SHARPNESS = 2.0  # of the choice between two responses
SENTENCES, RESPONSES, PAIRS = 20_000, 8000, 6000  # written by `main`


def words_of(text: str) -> list[str]:
    return [word.strip(".,?").lower() for word in text.split()]


def rule(prompt: str, response: str) -> float:
    """u(x, y): the true preference."""
    words = words_of(response)
    a = sum(word in ADJECTIVES for word in words)
    return 2.0 * (prompt in words) + min(a, 2) - max(a - 2, 0) - max(len(words) - 12, 0) / 3


def careless(prompt: str, response: str) -> float:
    """A rater who likes adjectives and long sentences, and does not look at the prompt."""
    words = words_of(response)
    return sum(word in ADJECTIVES for word in words) + len(words) / 6


def probability(rater: Rule, prompt: str, one: str, other: str) -> float:
    """How probably `one` is chosen over `other`."""
    return 1 / (1 + math.exp(-SHARPNESS * (rater(prompt, one) - rater(prompt, other))))


def sentences_by_noun(count: int, seed: int) -> dict[str, list[str]]:
    """Sentences of the grammar by the nouns they contain; nouns of a single sentence are left out."""
    found: dict[str, list[str]] = {}
    for pair in generate(count, "train", seed):
        for noun in dict.fromkeys(word for word in words_of(pair.source) if word in NOUNS):
            found.setdefault(noun, []).append(pair.source)
    return {noun: sentences for noun, sentences in sorted(found.items()) if len(sentences) > 1}


def make_responses(count: int, seed: int) -> list[dict[str, str]]:
    """Rows of a prompt and a response."""
    return [{"prompt": noun, "response": one} for noun, one, _ in _drawn(count, seed, "responses")]


def make_pairs(count: int, seed: int, rater: Rule = rule) -> list[dict[str, str]]:
    """Rows of a prompt, the response that the rater chose, and the one that it rejected."""
    random = np.random.default_rng(derive(seed, "choices"))
    rows = []
    for noun, one, other in _drawn(count, seed, "pairs"):
        if random.random() > probability(rater, noun, one, other):
            one, other = other, one
        rows.append({"prompt": noun, "chosen": one, "rejected": other})
    return rows


def _drawn(count: int, seed: int, words: str) -> Iterator[tuple[str, str, str]]:
    """A noun with two different sentences about other things as often as about it: else every response would fit its prompt."""
    found = sentences_by_noun(max(2000, 2 * count), seed)
    random, nouns = np.random.default_rng(derive(seed, words)), list(found)
    for _ in range(count):
        noun = nouns[random.integers(len(nouns))]
        one, other = random.choice(len(found[noun]), 2, replace=False)
        strange = found[nouns[random.integers(len(nouns))]]
        second = found[noun][other] if random.random() < 0.7 else strange[random.integers(len(strange))]
        yield noun, found[noun][one], second


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "responses": make_responses(RESPONSES, 1),
        "pairs": make_pairs(PAIRS, 2),
        "careless": make_pairs(PAIRS, 2, careless),
    }
    write_text(folder / "text.txt", "".join(pair.source + "\n" for pair in generate(SENTENCES, "train", 0)))
    for name, rows in tables.items():
        write_text(folder / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
