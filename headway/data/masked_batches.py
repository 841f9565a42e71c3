"""Batches for masked words and the next sentence, the two lessons of BERT: batch n is a pure function of (seed, n).

Of the tokens of a text 15 % are chosen, never a mark, and each of them must be predicted. It is replaced by `[MASK]`
(80 %), by a random token (10 %), or left as it is (10 %): so the model cannot rely on any word that it reads.

    [CLS] A [SEP] B [SEP]      A: the beginning of a passage, up to a random border between two of its sentences
                               B: the rest of it (half the time), or that of another passage

In both cases B is the end of a passage, so nothing but its content tells whether it follows A.
Devlin et al. 2019, https://arxiv.org/abs/1810.04805, section 3.1 and appendix A; lecture C.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headway.core.errors import DataError
from headway.core.seeds import derive
from headway.data.batches import pad
from headway.data.messages import count_noun
from headway.data.segments import PAIR, SINGLE, mark_pair, mark_text
from headway.data.sentence_files import Sentences
from headway.data.specials import MASK, PAD, SPECIALS

CHOSEN, MASKED, KEPT = 0.15, 0.8, 0.1  # of the tokens; of those that were chosen
UNASKED = -100  # where no word is asked for: the label that `cross_entropy` does not count

Row = Int[np.ndarray, "t"]


@dataclass(frozen=True)
class MaskedBatch:
    """What the model reads, and what should come out."""

    ids: Int[Tensor, "b t"]
    keep: Bool[Tensor, "b t"]  # False at padding
    segments: Int[Tensor, "b t"]
    wanted: Int[Tensor, "b t"]  # the true word where one is asked for, otherwise `UNASKED`
    elsewhere: Int[Tensor, "b"]  # 0 if the second segment follows the first, 1 if it is from another place
    weight: (
        float  # of a word that is asked for: examples per such word, so that words and examples count alike in a batch
    )

    def to(self, device: torch.device) -> "MaskedBatch":
        ids, keep, segments, wanted, elsewhere = (
            tensor.to(device) for tensor in (self.ids, self.keep, self.segments, self.wanted, self.elsewhere)
        )
        return MaskedBatch(ids, keep, segments, wanted, elsewhere, self.weight)


def mask_words(ids: Row, vocabulary: int, random: np.random.Generator) -> tuple[Row, Row]:
    """The ids with some of them masked, and the true words there.

    The number is 15 % rounded up or down at random, so that it is 15 % on average also for short texts.
    """
    words = np.flatnonzero(ids >= len(SPECIALS))
    chosen = random.choice(words, int(CHOSEN * len(words) + random.random()), replace=False)
    wanted, changed = np.full_like(ids, UNASKED), ids.copy()
    wanted[chosen] = ids[chosen]
    fate = random.random(len(chosen))
    changed[chosen[fate < MASKED]] = MASK
    other = chosen[fate >= MASKED + KEPT]
    changed[other] = random.integers(len(SPECIALS), vocabulary, len(other))
    return changed, wanted


class MaskedBatches:
    """Batches of `rows` examples of at most `context` tokens; each passage (or sentence) comes once per epoch.

    rows         examples of a batch
    vocabulary   how many tokens there are, for random ones
    pairs        two segments each; otherwise single sentences, in no order
    """

    def __init__(
        self, sentences: Sentences, *, context: int, rows: int, seed: int, vocabulary: int, pairs: bool
    ) -> None:
        self.sentences, self.context, self.seed = sentences, context, seed
        self.vocabulary, self.pairs = vocabulary, pairs
        self.passages = sentences.passages(context - PAIR) if pairs else [(k, k + 1) for k in range(len(sentences))]
        if pairs and len(self.passages) < 2:
            hint = "bring more text, with neighbouring sentences in lines; `--pairs false` reads single ones."
            found = count_noun(len(self.passages), "passage")
            raise DataError(f"the text has {found} of two or more sentences, and 2 are needed", hint)
        if not self.passages:
            raise DataError("the text has no sentence", "bring more text.")
        self.count = -(-len(self.passages) // rows)
        self._epoch, self._parts = -1, [np.empty(0, dtype=np.int64)]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> MaskedBatch:
        """Batch `number`, counted through all epochs."""
        epoch, index = divmod(number, len(self))
        if epoch != self._epoch:
            order = np.random.default_rng(derive(self.seed, "order", epoch)).permutation(len(self.passages))
            self._epoch, self._parts = epoch, np.array_split(order, self.count)
        random = np.random.default_rng(derive(self.seed, "masks", number))
        made = [self._example(int(passage), random) for passage in self._parts[index]]
        masked = [mask_words(np.array(ids), self.vocabulary, random) for ids, _, _ in made]
        ids = pad([row.tolist() for row, _ in masked], PAD)
        keep = torch.arange(ids.shape[1]) < torch.tensor([len(row) for row, _, _ in made])[:, None]
        wanted = pad([row.tolist() for _, row in masked], UNASKED)
        elsewhere = torch.tensor([place for _, _, place in made])
        weight = len(made) / max(1, int((wanted != UNASKED).sum()))
        return MaskedBatch(ids, keep, pad([segments for _, segments, _ in made], 0), wanted, elsewhere, weight)

    def _example(self, passage: int, random: np.random.Generator) -> tuple[list[int], list[int], int]:
        """Ids with their marks, segments, and whether the second one is from elsewhere."""
        first, stop = self.passages[passage]
        if not self.pairs:
            ids = mark_text(self.sentences.between(first, stop), self.context - SINGLE)
            return ids, [0] * len(ids), 0
        border = int(random.integers(first + 1, stop))
        beginning, elsewhere = self.sentences.between(first, border), int(random.integers(2))
        if elsewhere:
            other = int(random.integers(len(self.passages) - 1))
            first, stop = self.passages[other + (other >= passage)]  # any but this one
            border = int(random.integers(first + 1, stop))
        ids, segments = mark_pair(beginning, self.sentences.between(border, stop), self.context - PAIR)
        return ids, segments, elsewhere

    def largest(self) -> MaskedBatch:
        """As many rows as a batch can have, all of the full context."""
        rows = -(-len(self.passages) // self.count)
        ids = torch.full((rows, self.context), MASK)
        nothing = torch.zeros_like(ids)
        return MaskedBatch(ids, ids == MASK, nothing, nothing + len(SPECIALS), nothing[:, 0], 1 / self.context)
