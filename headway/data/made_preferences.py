"""Text with a preference that is known: for studies of reward models and preference tuning, where people cannot be asked.

A prompt is the first two words of a sentence of the embedded grammar, a response is the rest of it. How good a response is
follows from a rule, and which of two responses is chosen is drawn as Bradley and Terry 1952 assume
(https://doi.org/10.2307/2334029):

    u(y) = min(a, 2) - max(a - 2, 0) - max(w - 5, 0) / 3        p(y over z) = sigmoid(4 (u(y) - u(z)))

a are the adjectives of y and w its words: one or two adjectives please, a third one or a long response does not. Adjectives
are harder to predict than other words and long sentences harder than short ones, so that the two parts balance: the best
responses are as probable as all others, and a model that pleases pays in perplexity only for what is not fluent.

A careless rater likes every further adjective: `careless` agrees with `rule` on most responses of the grammar, but not on
the responses that a model writes to please it.

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
from headway.data.grammar.lexicon import ADJECTIVES

Rule = Callable[[str], float]  # response -> how good it is

OPENING = 2  # words of a prompt
LEAST = 8  # responses that a prompt has
SHARPNESS = 4.0  # of the choice between two responses
SENTENCES, RESPONSES, PAIRS = 20_000, 8000, 20_000  # written by `main`


def words_of(text: str) -> list[str]:
    return [word.strip(".,?").lower() for word in text.split()]


def rule(response: str) -> float:
    """u(y): the true preference."""
    words = words_of(response)
    a = sum(word in ADJECTIVES for word in words)
    return min(a, 2) - max(a - 2, 0) - max(len(words) - 5, 0) / 3


def careless(response: str) -> float:
    """What a rater makes of a response who likes adjectives, however many there are."""
    return sum(word in ADJECTIVES for word in words_of(response))


def probability(rater: Rule, one: str, other: str) -> float:
    """How probably `one` is chosen over `other`."""
    return 1 / (1 + math.exp(-SHARPNESS * (rater(one) - rater(other))))


def responses_by_prompt(count: int, seed: int) -> dict[str, list[str]]:
    """The different continuations of each opening, in `count` sentences of the grammar."""
    found: dict[str, dict[str, None]] = {}
    for pair in generate(count, "train", seed):
        words = pair.source.split()
        if len(words) > OPENING:
            found.setdefault(" ".join(words[:OPENING]), {})[" ".join(words[OPENING:])] = None
    return {prompt: list(responses) for prompt, responses in sorted(found.items()) if len(responses) >= LEAST}


def make_responses(count: int, seed: int) -> list[dict[str, str]]:
    """Rows of a prompt and a response."""
    return [{"prompt": prompt, "response": one} for prompt, one, _ in _drawn(count, seed)]


def make_pairs(count: int, seed: int, rater: Rule = rule) -> list[dict[str, str]]:
    """Rows of a prompt, the response that the rater chose, and the one that it rejected."""
    random = np.random.default_rng(derive(seed, "choices"))
    rows = []
    for prompt, one, other in _drawn(count, seed):
        if random.random() > probability(rater, one, other):
            one, other = other, one
        rows.append({"prompt": prompt, "chosen": one, "rejected": other})
    return rows


def _drawn(count: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """A prompt with two different responses."""
    found = responses_by_prompt(max(8000, 2 * count), seed)
    random, prompts = np.random.default_rng(derive(seed, "drawn")), list(found)
    for _ in range(count):
        prompt = prompts[random.integers(len(prompts))]
        one, other = random.choice(len(found[prompt]), 2, replace=False)
        yield prompt, found[prompt][one], found[prompt][other]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "chat": make_responses(RESPONSES, 1),
        "pairs": make_pairs(PAIRS, 2),
        "careless": make_pairs(PAIRS, 2, careless),
    }
    write_text(folder / "text.txt", "".join(pair.source + "\n" for pair in generate(SENTENCES, "train", 0)))
    for name, rows in tables.items():
        write_text(folder / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
