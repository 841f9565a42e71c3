"""Batches of texts of which positions are judged: a tag at the beginning of each word, or where an answer begins and ends."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headway.data.batches import pad
from headway.data.length_buckets import LengthBuckets, Rows

IGNORED = -100  # the tag of a position that has none


@dataclass(frozen=True)
class TaggedBatch:
    ids: Int[Tensor, "b t"]
    keep: Bool[Tensor, "b t"]
    tags: Int[Tensor, "b t"]  # `IGNORED` where no word begins

    def to(self, device: torch.device) -> "TaggedBatch":
        return TaggedBatch(*(tensor.to(device) for tensor in (self.ids, self.keep, self.tags)))


class TaggedBatches(LengthBuckets[TaggedBatch]):
    """Texts as token ids, each with a tag for each position."""

    def __init__(
        self, ids: Sequence[Sequence[int]], tags: Sequence[Sequence[int]], *, budget: int, seed: int, padding: int
    ) -> None:
        super().__init__([len(row) for row in ids], budget=budget, seed=seed)
        self.ids, self.tags, self.padding = ids, tags, padding

    def at(self, rows: Rows) -> TaggedBatch:
        ids, tags = pad([self.ids[i] for i in rows], self.padding), pad([self.tags[i] for i in rows], IGNORED)
        return TaggedBatch(ids, self.keep(rows), tags)


@dataclass(frozen=True)
class SpanBatch:
    ids: Int[Tensor, "b t"]
    keep: Bool[Tensor, "b t"]
    segments: Int[Tensor, "b t"]  # 0 in the question, 1 in the passage
    # where an answer may begin and end: in the passage, or at 0, which says that there is none
    allowed: Bool[Tensor, "b t"]
    ends: Int[Tensor, "b 2"]  # the first and the last token of the answer

    def to(self, device: torch.device) -> "SpanBatch":
        tensors = (self.ids, self.keep, self.segments, self.allowed, self.ends)
        return SpanBatch(*(tensor.to(device) for tensor in tensors))


class SpanBatches(LengthBuckets[SpanBatch]):
    """Questions with passages as token ids.

    passages   where the passage begins in each row
    ends       the first and the last token of each answer
    """

    def __init__(
        self,
        ids: Sequence[Sequence[int]],
        passages: Int[np.ndarray, "n"],
        ends: Int[np.ndarray, "n 2"],
        *,
        budget: int,
        seed: int,
        padding: int,
    ) -> None:
        super().__init__([len(row) for row in ids], budget=budget, seed=seed)
        self.ids, self.passages, self.ends, self.padding = ids, passages, ends, padding

    def at(self, rows: Rows) -> SpanBatch:
        ids, keep = pad([self.ids[i] for i in rows], self.padding), self.keep(rows)
        place, lengths = torch.arange(ids.shape[1]), torch.from_numpy(self.lengths[rows])[:, None]
        passage = (place >= torch.from_numpy(self.passages[rows])[:, None]) & keep
        allowed = (passage & (place < lengths - 1)) | (place == 0)  # the last token is a mark
        return SpanBatch(ids, keep, passage.long(), allowed, torch.from_numpy(self.ends[rows]))
