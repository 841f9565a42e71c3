"""What a model chose of some sets of points, and how it is judged.

exact       share of the sets whose whole sequence is right
pointers    share of the single choices that are right, each after the right ones before it
area        of a hull: area inside the chosen corners / area of the true hull, over the sets whose way does not cross itself
tour        of a tour: its length / the length of the shortest one

score = exact - loss / 1000: of weights with as many right sequences the surer ones are kept
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F

from headway.data.point_batches import IGNORED, Scale, SetBatches
from headway.data.point_problems import crosses_itself, length, signed_area
from headway.data.point_sets import PointSets
from headway.decode.pointing import Rule, point
from headway.evaluate.classification import accuracy
from headway.models.pointing import Pointing
from headway.tasks.panels import Mark, Panel, Plot
from headway.tasks.task import Figure, Judgement, Score, Validation

BATCH = 256  # sets that are judged at once
SHOWN = 8  # samples of a judgement
DRAWN = 2  # right and wrong answers, each, that are drawn
FIGURES = (
    Figure("exact", digits=4, scale="0 to 1"),
    Figure("pointers", digits=4, scale="0 to 1"),
    Figure("loss", "nats per pointer", "lower", 4),
)


@dataclass(frozen=True)
class PointAnswers:
    sets: PointSets
    chosen: tuple[tuple[int, ...], ...]  # numbered from 0
    pointers: float
    loss: float

    @classmethod
    def of(cls, model: Pointing, sets: PointSets, scale: Scale, rule: Rule, beam: int) -> "PointAnswers":
        device = next(iter(model.parameters())).device
        chosen: list[tuple[int, ...]] = [()] * len(sets)
        right = count = 0
        loss = 0.0
        with torch.inference_mode():
            for rows, batch in SetBatches(sets, rows=BATCH, seed=0, scale=scale).in_order():
                points, keep = batch.points.to(device), batch.keep.to(device)
                logs = model(points, keep, batch.chosen.to(device)).float().cpu().flatten(0, 1)
                wanted = batch.wanted.flatten()
                loss += float(F.nll_loss(logs, wanted, ignore_index=IGNORED, reduction="sum"))
                right += int((logs.argmax(-1) == wanted).sum())
                count += int((wanted != IGNORED).sum())
                for row, found in zip(rows.tolist(), point(model, points, keep, rule, beam), strict=True):
                    chosen[row] = tuple(number - 1 for number in found.ids)
        return cls(sets, tuple(chosen), right / count, loss / count)

    @cached_property
    def right(self) -> np.ndarray:
        """Whether each sequence is the expected one."""
        return np.array([tuple(o.tolist()) == c for o, c in zip(self.sets.orders, self.chosen, strict=True)])

    def samples(self, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        return tuple((self.sets.names[i], numbered(self.chosen[i]), numbered(self.sets.orders[i])) for i in rows)

    def validation(self) -> Validation:
        exact = float(self.right.mean())
        figures = {"exact": exact, "pointers": self.pointers, "loss": self.loss}
        return Validation(figures, exact - 1e-3 * self.loss, self.samples(range(min(3, len(self.sets)))))

    def judgement(self, part: str, kind: str | None, sizes: dict[str, int], panels: Sequence[Panel]) -> Judgement:
        found = accuracy(self.right.astype(np.int64), np.ones(len(self.right), dtype=np.int64))
        words = f"{len(self.sets):,} sets"
        scores = [
            Score(part, "exact", found.value, found.low, found.high, 4, f"{words}, Wilson's interval"),
            Score(part, "pointers", self.pointers, digits=4),
            Score(part, "loss", self.loss, digits=4),
        ]
        notes = []
        if kind == "convex_hull":
            covered, crossed = self.areas()
            scores.append(
                Score(part, "area covered", covered, digits=4, signature="of those that do not cross themselves")
            )
            notes.append(f"{crossed:.1%} of the chosen hulls cross themselves")
        if kind == "tsp":
            scores.append(Score(part, "tour length", self.lengths(), digits=4, signature="times that of the shortest"))
        wrong = np.flatnonzero(~self.right).tolist()
        first = self.samples(range(min(SHOWN, len(self.sets))))
        verdict = f"{found.value:.1%} of the sequences are right from the first pointer to the last"
        verdict += "." if found.value >= 0.5 else ": train longer, or with fewer points."
        shown = (*self.drawings(closed=kind in ("convex_hull", "tsp")), *panels)
        worst = self.samples(wrong[:SHOWN])
        return Judgement(tuple(scores), first, verdict, sizes, "sets", tuple(notes), worst, panels=shown)

    # -- in the plane --------------------------------------------------------------------------------------------------

    def areas(self) -> tuple[float, float]:
        """The mean share of the hull's area that is covered, and the share of hulls that cross themselves."""
        covered = []
        for points, order, chosen in zip(self.sets.points, self.sets.orders, self.chosen, strict=True):
            corners = points[list(chosen)]
            if not crosses_itself(corners):
                covered.append(abs(signed_area(corners)) / signed_area(points[order]))
        return float(np.mean(covered)) if covered else 0.0, 1 - len(covered) / len(self.chosen)

    def lengths(self) -> float:
        """The mean over all tours of their length, as a multiple of the shortest."""
        triples = zip(self.sets.points, self.sets.orders, self.chosen, strict=True)
        return float(
            np.mean([length(points[list(chosen)]) / length(points[order]) for points, order, chosen in triples])
        )

    def drawings(self, closed: bool) -> list[Plot]:
        """A few answers that are wrong and a few that are right, as ways between points."""
        if self.sets.coordinates != 2:
            return []
        rows = [*np.flatnonzero(~self.right)[:DRAWN].tolist(), *np.flatnonzero(self.right)[:DRAWN].tolist()]
        caption = "The chosen points in their order" + (" and back to the first." if closed else ".")
        plots = []
        for i in rows:
            points, name = self.sets.points[i], f"Set {self.sets.names[i]}: {'right' if self.right[i] else 'wrong'}"
            ways = [way(points, self.sets.orders[i], "expected", closed)] * (not self.right[i])
            marks = (*ways, way(points, self.chosen[i], "chosen", closed), dots(points))
            plots.append(Plot(name, marks, "x", "y", caption, equal=True))
        return plots


def way(points: np.ndarray, order: Sequence[int] | np.ndarray, name: str, closed: bool) -> Mark:
    """A line through these points in their order."""
    corners = points[[*order, *order[:1]]] if closed else points[list(order)]
    return Mark("line", corners[:, 0], corners[:, 1], name)


def dots(points: np.ndarray) -> Mark:
    labels = [f"point {number}" for number in range(1, len(points) + 1)]
    return Mark("points", points[:, 0], points[:, 1], soft=True, labels=labels)


def numbered(order: Sequence[int] | np.ndarray) -> str:
    """`3 1 2`: points count from 1, as they stand in the set."""
    return " ".join(str(int(place) + 1) for place in order)
