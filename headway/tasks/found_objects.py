"""What a detector found on some pictures, and how it is judged.

every query names its most probable class but "nothing", with that probability: all of them count for the average precision,
and those of at least one half are shown

score = AP50 - loss / 10: as long as next to nothing is found, the loss decides which weights are better
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headway.data.annotated_batches import AnnotatedBatches
from headway.data.annotated_pictures import AnnotatedPictures
from headway.data.boxes import to_corners
from headway.evaluate.detection import THRESHOLDS, Boxes, Found
from headway.models.set_predictor import SetPredictor
from headway.tasks.matching import probabilities, set_loss
from headway.tasks.panels import Box, Gallery, Mark, Panel, Picture, Plot
from headway.tasks.task import Figure, Judgement, Score, Validation

SURE = 0.5  # probability from which on a box is shown
SHOWN = 8  # samples and pictures of a judgement
FIGURES = (
    Figure("AP50", digits=4, scale="0 to 1"),
    Figure("AP", digits=4, scale="0 to 1"),
    Figure("loss", "per box", "lower", 4),
)


@dataclass(frozen=True)
class FoundObjects:
    part: AnnotatedPictures
    found: Found
    confidence: Float[np.ndarray, "m"]  # of the boxes in `found`, the surest first
    names: tuple[str, ...]
    loss: float

    @classmethod
    def of(
        cls, model: SetPredictor, part: AnnotatedPictures, batches: AnnotatedBatches, names: tuple[str, ...]
    ) -> "FoundObjects":
        device = next(iter(model.parameters())).device
        corners, labels, confidence, pictures, loss = [], [], [], [], 0.0
        with torch.inference_mode():
            for rows, batch in batches.in_order():
                states = model(batch.pictures.to(device))
                logits, boxes = model.logits(states).float().cpu(), model.boxes(states).float().cpu()
                loss += float(set_loss(logits, boxes, batch.objects))
                likely, label = probabilities(logits.double())[..., :-1].max(-1)
                corners.append(to_corners(boxes).double().flatten(0, 1).numpy())
                labels.append(label.flatten().numpy())
                confidence.append(likely.flatten().numpy())
                pictures.append(np.repeat(rows, boxes.shape[1]))
        boxes_ = Boxes(np.concatenate(corners), np.concatenate(labels), np.concatenate(pictures))
        sure, true = np.concatenate(confidence), Boxes(part.boxes, batches.labels, part.owners)
        found = Found.of(boxes_, sure, true, len(part), len(names))
        mean = loss / max(1, len(part.labels))
        return cls(part, found, -np.sort(-sure, kind="stable"), names, mean)

    @staticmethod
    def boxes_of(
        model: SetPredictor, pictures: Float[Tensor, "b c y x"], names: tuple[str, ...]
    ) -> list[tuple[list[Box], list[float]]]:
        """For each picture the boxes of which the model is sure, the surest first, and how sure it is."""
        with torch.inference_mode():
            states = model(pictures)
            likely, label = probabilities(model.logits(states).double())[..., :-1].max(-1)
            corners = to_corners(model.boxes(states).double()).clamp(0, 1)
        found = []
        for p, c, b in zip(likely.cpu(), label.cpu().tolist(), corners.cpu().tolist(), strict=True):
            order = [int(q) for q in p.argsort(descending=True, stable=True) if p[q] >= SURE]
            found.append(([box(b[q], names[c[q]]) for q in order], [float(p[q]) for q in order]))
        return found

    def validation(self) -> Validation:
        precise, every = self.found.average_precision(0), self.found.mean_average_precision()
        figures = {"AP50": precise, "AP": every, "loss": self.loss}
        return Validation(
            figures, np.nan_to_num(precise) - 0.1 * self.loss, self.samples(range(min(3, len(self.part))))
        )

    def judgement(self, name: str, sizes: dict[str, int]) -> Judgement:
        precise, (low, high) = self.found.average_precision(0), self.found.interval(0)
        signature = f"{len(self.part):,} pictures, {len(self.part.labels):,} objects, 101 recalls"
        scores = (
            Score(name, "AP50", precise, low, high, 4, f"{signature}, bootstrap over pictures"),
            Score(name, "AP", self.found.mean_average_precision(), digits=4, signature="IoU 0.50 to 0.95"),
            Score(name, "loss", self.loss, digits=4),
        )
        worst = self._worst()
        first = range(min(SHOWN, len(self.part)))
        return Judgement(
            scores,
            self.samples(first),
            verdict(precise),
            sizes,
            "pictures",
            worst=self.samples(worst),
            panels=self.panels(),
        )

    # -- what is shown -------------------------------------------------------------------------------------------------

    def _sure(self, picture: int) -> list[int]:
        """The rows of `found` that are shown on this picture."""
        boxes = self.found.boxes
        return np.flatnonzero((boxes.pictures == picture) & (self.confidence >= SURE)).tolist()

    def _mistakes(self, picture: int) -> int:
        """Objects that were missed, and boxes that are wrong."""
        right = int(self.found.right[self._sure(picture), 0].sum())
        return len(self._sure(picture)) + int(self.found.objects[picture].sum()) - 2 * right

    def _worst(self) -> list[int]:
        counts = [self._mistakes(i) for i in range(len(self.part))]
        return [i for i in np.argsort(-np.array(counts), kind="stable").tolist() if counts[i]][:SHOWN]

    def samples(self, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        listed = []
        for i in rows:
            found = [self.names[self.found.boxes.labels[row]] for row in self._sure(i)]
            expected = [self.part.classes[label] for label in self.part.labels[self.part.of(i)]]
            listed.append((self.part.names[i], *(", ".join(sorted(some)) or "nothing" for some in (found, expected))))
        return tuple(listed)

    def panels(self) -> tuple[Panel, ...]:
        """The first pictures and the worst ones with boxes, and the average precision at each threshold."""
        caption = "Full lines: what was found, with its probability. Dashed lines: what should have been found."
        worst = self._worst()
        galleries = [Gallery("Found and expected", self.pictures(range(min(SHOWN, len(self.part)))), caption)]
        galleries += [Gallery("Most mistakes", self.pictures(worst), caption)] if worst else []
        values = [self.found.average_precision(k) for k in range(len(THRESHOLDS))]
        marks = (Mark("line", THRESHOLDS, values), Mark("points", THRESHOLDS, values))
        words = "A box counts as right if it overlaps its object at least so much."
        return (*galleries, Plot("Average precision", marks, "overlap (IoU)", "AP", words))

    def pictures(self, rows: Sequence[int]) -> tuple[Picture, ...]:
        drawn = []
        for i in rows:
            span, boxes = self.part.of(i), list[Box]()
            for corners in self.part.boxes[span].tolist():
                boxes.append(box(corners, "", expected=True))
            for row in self._sure(i):
                name = f"{self.names[self.found.boxes.labels[row]]} {self.confidence[row]:.2f}"
                boxes.append(box(self.found.boxes.corners[row].clip(0, 1).tolist(), name))
            mistakes = self._mistakes(i)
            words = "all right" if not mistakes else f"{mistakes} mistake{'s' * (mistakes != 1)}"
            drawn.append(Picture(self.part.images[i], f"{self.part.names[i]}: {words}", tuple(boxes)))
        return tuple(drawn)


def box(corners: Sequence[float], name: str, expected: bool = False) -> Box:
    left, top, right, bottom = corners
    return Box(left, top, right, bottom, name, expected)


def verdict(precise: float) -> str:
    """What an AP50 means."""
    found = f"AP50 {precise:.3f}"
    if not precise >= 0.1:
        return f"{found}: it finds next to nothing; train longer, or bring more pictures."
    if precise < 0.5:
        return f"{found}: it has learned something, but misses much or finds what is not there."
    if precise < 0.8:
        return f"{found}: most objects are found; each answer needs checking."
    return f"{found}: objects are found reliably on pictures like these."
