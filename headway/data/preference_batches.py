"""Batches of pairs of responses: one that was chosen, and one that was rejected.

The chosen responses are the first half of a batch, the rejected ones of the same pairs the second, so that a model reads
both at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.data.equal_parts import EqualParts
from headway.data.labelled_batches import LabelledBatch, Rows, TextBatches


@dataclass(frozen=True)
class PreferenceBatch:
    """`texts`: ids, which of them are real, and where each response begins; `reference`: log-probabilities under a frozen model."""

    texts: LabelledBatch  # the chosen ones, then the rejected ones
    reference: Float[Tensor, "2b"]

    def __len__(self) -> int:
        return len(self.texts.labels) // 2

    def take(self, rows: Int[Tensor, "k"]) -> "PreferenceBatch":
        """Some of the pairs."""
        both = torch.cat([rows, rows + len(self)])
        inputs = tuple(tensor[both] for tensor in self.texts.inputs)
        return PreferenceBatch(LabelledBatch(inputs, self.texts.labels[both]), self.reference[both])


class PreferenceBatches(EqualParts[PreferenceBatch]):
    """Pairs from texts of which the first half was chosen, the second half rejected: text i and text n + i are a pair."""

    def __init__(self, texts: TextBatches, *, pairs: int, seed: int) -> None:
        super().__init__(len(texts.ids) // 2, rows=pairs, seed=seed)
        self.texts = texts
        self.reference: Float[np.ndarray, "2n"] = np.zeros(2 * self.examples, dtype=np.float32)

    def at(self, rows: Rows) -> PreferenceBatch:
        both = np.concatenate([rows, rows + self.examples])
        return PreferenceBatch(self.texts.at(both), torch.from_numpy(self.reference[both]))

    def largest(self) -> PreferenceBatch:
        """The pairs with the longest texts, as many as the largest batch has."""
        longest = self.texts.lengths.reshape(2, -1).max(0)
        return self.at(np.argsort(-longest, kind="stable")[: self.most])


def value_of_each(
    texts: TextBatches, device: torch.device, value: Callable[[LabelledBatch], Float[Tensor, "b"]]
) -> Float[np.ndarray, "n"]:
    """A number for each text, in the order of the texts; no gradients.

    device   where the model is
    value    the numbers of a batch
    """
    found = np.zeros(len(texts.ids), dtype=np.float32)
    with torch.no_grad():
        for rows, batch in texts.in_order():
            found[rows] = value(batch.to(device)).float().cpu().numpy()
    return found
