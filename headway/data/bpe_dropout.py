"""BPE-dropout: the pieces of a word are drawn anew in every epoch, so that a model meets each word in several spellings.

Byte-pair encoding joins neighbouring pieces, always the pair that was learned first, until no pair is left that can be joined. Here

    at every step each pair that could be joined is left out with probability p; of the others the one learned first is joined;
    a word is finished when none is left.

p = 0 gives the usual pieces, p = 1 single letters. Only training text is treated so, not what is validated or translated.
Provilkov, Emelianenko & Voita 2020, https://arxiv.org/abs/1910.13267, algorithm 1 (p = 0.1 there).

Drawing all words of a corpus in every epoch would take longer than it is worth. So each different word has a list of drawn spellings, made
once from the seed: as many as the word occurs, but no fewer than `FEWEST` and no more than `MOST`. An epoch draws one of the list for each
occurrence, from (seed, epoch) alone, with a few operations on arrays.
"""

import json
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from headway.core.errors import ConfigError
from headway.core.seeds import derive
from headway.data.batches import PairBatches
from headway.data.tokens import Tokenizer

FEWEST, MOST = 8, 64  # spellings of a word

Merges = dict[tuple[int, int], tuple[int, int]]  # two pieces -> how early they were joined, and the piece they make


class BpeDropout:
    """Byte-pair encoding of words that leaves out merges at random.

    tokenizer     of the kind `bpe`
    probability   p, that of leaving a merge out
    """

    def __init__(self, tokenizer: Tokenizer, probability: float) -> None:
        if tokenizer.kind != "bpe":
            raise ConfigError(
                f"`--bpe-dropout` leaves out merges of the tokenizer `bpe`; `{tokenizer.kind}` has none",
                "use `--tokens bpe`, or `--bpe-dropout 0`.",
            )
        self.cut, self.probability = tokenizer.cut, probability
        model = json.loads(tokenizer.library_json())["model"]
        self.ids: dict[str, int] = model["vocab"]
        self.merges: Merges = {
            (self.ids[a], self.ids[b]): (rank, self.ids[a + b]) for rank, (a, b) in enumerate(model["merges"])
        }

    def encode(self, word: str, draw: random.Random) -> list[int]:
        """The pieces of one word, which is written in byte letters."""
        pieces = [self.ids[letter] for letter in word]
        while True:
            candidates = [(*self.merges[p], i) for i, p in enumerate(pairwise(pieces)) if p in self.merges]
            for _, made, i in sorted(candidates):
                if draw.random() >= self.probability:
                    pieces[i : i + 2] = [made]
                    break
            else:
                return pieces


class Spellings:
    """Texts whose words are spelled anew in every epoch.

    dropout   how the words are spelled
    seed      what chance follows from
    """

    def __init__(self, texts: Sequence[str], dropout: BpeDropout, seed: int) -> None:
        self.seed = seed
        cut = [dropout.cut(text) for text in texts]
        counts = Counter(word for words in cut for word in words)
        draw = random.Random(derive(seed, "spellings"))
        lists = [[dropout.encode(w, draw) for _ in range(min(MOST, max(FEWEST, n)))] for w, n in counts.items()]
        number = {word: i for i, word in enumerate(counts)}
        self.words = np.array([number[word] for words in cut for word in words], dtype=np.int64)  # of all texts
        self.ends = np.cumsum([len(words) for words in cut], dtype=np.int64)  # of each text, in `words`
        self.count = np.array([len(spellings) for spellings in lists], dtype=np.int64)  # of spellings of a word
        self.first = np.cumsum(self.count) - self.count
        spelled = [pieces for spellings in lists for pieces in spellings]
        self.length = np.array([len(pieces) for pieces in spelled], dtype=np.int64)
        self.start = np.cumsum(self.length) - self.length
        self.pieces = np.array([piece for pieces in spelled for piece in pieces], dtype=np.int64)

    def of(self, epoch: int) -> list[list[int]]:
        """The ids of each text in this epoch."""
        chance = np.random.default_rng(derive(self.seed, "spelling", epoch)).random(len(self.words))
        chosen = self.first[self.words] + (chance * self.count[self.words]).astype(np.int64)
        length = self.length[chosen]
        ends = np.cumsum(length)
        within = np.arange(length.sum()) - np.repeat(ends - length, length)
        ids = self.pieces[np.repeat(self.start[chosen], length) + within].tolist()
        stops = np.concatenate([[0], ends])[self.ends].tolist()
        return [ids[start:stop] for start, stop in pairwise([0, *stops])]


class RespelledBatches(PairBatches):
    """Pairs with the spellings of the epoch, sorted by their lengths in it.

    The cuts are those of the first epoch, so every epoch has the same number of batches. The sorted lengths of the others are hardly
    different: batches are within the budget on average, and the few with a pair that is much longer on one side exceed it.
    """

    def __init__(
        self,
        source: Spellings,
        target: Spellings,
        *,
        budget: int,
        seed: int,
        special: tuple[int, int, int],
        both_ways: float = 0.0,
    ) -> None:
        self.spellings = source, target
        super().__init__(source.of(0), target.of(0), budget=budget, seed=seed, special=special, both_ways=both_ways)

    def begin(self, epoch: int) -> None:
        source, target = self.spellings
        self.take(source.of(epoch), target.of(epoch))
        super().begin(epoch)
