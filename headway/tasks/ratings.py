"""Ratings of responses by a model, and how well they agree with choices between two: what `reward` and `preferences` share.

    r(x, y) = w . h_T        h_T: what the language model makes of prompt x and response y at its last token

w is the row of the output matrix that belongs to a reserved symbol, which no text contains: a linear head of one number
that every language model has already. Two ratings of a pair give a margin, and the margin a probability (Bradley and
Terry 1952, https://doi.org/10.2307/2334029):

    m = r(x, chosen) - r(x, rejected)        p(chosen over rejected) = sigmoid(m)        loss = -log sigmoid(m)
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import expit
from torch import Tensor

from headway.data.labelled_batches import LabelledBatch
from headway.data.specials import FREE
from headway.evaluate.classification import Accuracy, accuracy, calibration
from headway.models.decoder import LanguageModel
from headway.tasks.panels import Mark, Plot

RATING = FREE[0]  # the symbol whose row of the output matrix is w


def ratings(model: LanguageModel, batch: LabelledBatch) -> Float[Tensor, "b"]:
    """r(x, y) of each row, read at its last real token."""
    ids, keep = batch.inputs
    rows = torch.arange(len(ids), device=ids.device)
    return model.logits(model(ids)[rows, keep.sum(1) - 1])[:, RATING]


@dataclass(frozen=True)
class Margins:
    """The margins of some pairs: positive where the chosen response is rated higher."""

    values: Float[np.ndarray, "n"]

    @property
    def accuracy(self) -> Accuracy:
        """How often the chosen response is rated higher, with Wilson's interval."""
        return accuracy((self.values > 0).astype(np.int64), np.ones(len(self.values), dtype=np.int64))

    @property
    def loss(self) -> float:
        """Nats per pair: the mean of -log sigmoid(m)."""
        return float(np.logaddexp(0, -self.values.astype(np.float64)).mean())

    @property
    def probabilities(self) -> Float[np.ndarray, "n 2"]:
        p = expit(self.values.astype(np.float64))
        return np.stack([1 - p, p], 1)

    @property
    def calibration_error(self) -> float:
        return calibration(self.probabilities, np.ones(len(self.values), dtype=np.int64)).error

    def panel(self) -> Plot:
        """How often the response that is rated higher was chosen, by how sure the ratings are."""
        bins = calibration(self.probabilities, np.ones(len(self.values), dtype=np.int64)).bins
        sure, right = [b.confidence for b in bins], [b.accuracy for b in bins]
        labels = [f"{b.count:,} pairs, {b.accuracy:.1%} right" for b in bins]
        diagonal = Mark("line", (0.5, 1.0), (0.5, 1.0), soft=True)
        marks = (diagonal, Mark("line", sure, right), Mark("points", sure, right, labels=labels))
        caption = "On the diagonal, of pairs with a probability of 90 % the higher rating is right in 90 %; below it the model is too sure."
        return Plot(
            "Calibration of the margins", marks, "probability of the choice", "share right", caption, equal=True
        )
