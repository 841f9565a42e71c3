"""How well boxes are found: average precision, as the COCO challenge counts it.

    found, the surest first: a box is right if it overlaps an object of its class, not taken yet, by IoU >= threshold
    precision_k = right among the first k / k        recall_k = right among the first k / objects
    AP = mean over r = 0, 0.01 .. 1 of the largest precision at a recall of at least r        mAP = mean over the classes

AP50 has the threshold 0.5; AP is the mean over the thresholds 0.5, 0.55 .. 0.95. Everingham et al. 2010,
https://doi.org/10.1007/s11263-009-0275-4; Lin et al. 2014, https://arxiv.org/abs/1405.0312.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from headway.data.boxes import iou

THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0, 1, 101)
DRAWS = 200  # of the bootstrap


@dataclass(frozen=True)
class Boxes:
    """Boxes on some pictures, one row each."""

    corners: Float[np.ndarray, "m 4"]  # left, top, right, bottom
    labels: Int[np.ndarray, "m"]  # the class of each
    pictures: Int[np.ndarray, "m"]  # on which picture

    def select(self, rows: Bool[np.ndarray, "m"] | Int[np.ndarray, "_"]) -> "Boxes":
        return Boxes(self.corners[rows], self.labels[rows], self.pictures[rows])


@dataclass(frozen=True)
class Found:
    """The boxes that were found, the surest first, and which of them are right at each threshold."""

    boxes: Boxes  # the surest first
    right: Bool[np.ndarray, "m k"]  # whether each box is right at threshold number k
    objects: Int[np.ndarray, "n c"]  # how many there are of each class on each picture

    @classmethod
    def of(cls, boxes: Boxes, confidence: Float[np.ndarray, "m"], true: Boxes, pictures: int, classes: int) -> "Found":
        """Each box, the surest first, takes the object of its picture and class that it overlaps most and that is left."""
        ordered = boxes.select(np.argsort(-confidence, kind="stable"))
        objects = np.zeros((pictures, classes), dtype=np.int64)
        np.add.at(objects, (true.pictures, true.labels), 1)
        right = np.zeros((len(ordered.labels), len(THRESHOLDS)), dtype=bool)
        for picture, label in np.argwhere(objects).tolist():
            rows = np.flatnonzero((ordered.pictures == picture) & (ordered.labels == label))
            there = true.corners[(true.pictures == picture) & (true.labels == label)]
            shared = iou(torch.from_numpy(ordered.corners[rows])[:, None], torch.from_numpy(there)).numpy()
            for k, threshold in enumerate(THRESHOLDS):
                right[rows, k] = taking(shared, threshold)
        return cls(ordered, right, objects)

    def average_precision(self, k: int, times: Int[np.ndarray, "n"] | None = None) -> float:
        """The mean over the classes that occur, at threshold number k; `times`: how often each picture counts."""
        often = np.ones(len(self.objects), dtype=np.int64) if times is None else times
        objects, weight = often @ self.objects, often[self.boxes.pictures]
        values = [
            average_precision(self.right[rows, k], weight[rows], int(objects[label]))
            for label in np.flatnonzero(objects)
            for rows in [np.flatnonzero(self.boxes.labels == label)]
        ]
        return float(np.mean(values)) if values else float("nan")

    def mean_average_precision(self) -> float:
        """The mean over all thresholds. Also called mAP, COCO AP."""
        return float(np.mean([self.average_precision(k) for k in range(len(THRESHOLDS))]))

    def interval(self, k: int, seed: int = 1) -> tuple[float, float]:
        """The 95 % interval at threshold number k by the bootstrap: pictures are drawn with replacement."""
        random, n = np.random.default_rng(seed), len(self.objects)
        drawn = (np.bincount(random.integers(0, n, n), minlength=n) for _ in range(DRAWS))
        low, high = np.nanpercentile([self.average_precision(k, times) for times in drawn], (2.5, 97.5))
        return float(low), float(high)


def taking(shared: Float[np.ndarray, "m n"], threshold: float) -> Bool[np.ndarray, "m"]:
    """Which boxes (rows, the surest first) get an object (a column) that they overlap by the threshold or more."""
    left = np.ones(shared.shape[1], dtype=bool)
    right = np.zeros(len(shared), dtype=bool)
    for row, values in enumerate(shared):
        best = int(np.where(left, values, -1.0).argmax())
        right[row] = left[best] and values[best] >= threshold
        left[best] &= not right[row]
    return right


def average_precision(right: Bool[np.ndarray, "m"], weight: Int[np.ndarray, "m"], objects: int) -> float:
    """AP of the boxes of one class, the surest first, of which some are right. Also called average precision, AP, AP50.

    right     which of them are
    weight    how often each box counts
    objects   how many there are to be found
    """
    hits, seen = (right * weight).cumsum(), weight.cumsum()
    if not len(hits):
        return 0.0
    recall, precision = hits / objects, hits / np.maximum(seen, 1)
    envelope = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)  # the largest precision from here on
    return float(envelope[np.searchsorted(recall, RECALLS, side="left")].mean())
