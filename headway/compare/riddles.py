"""One small model on one riddle, trained from scratch: does this mixer solve it at this length?

    skill = (accuracy - blind) / (1 - blind)        solved: skill >= 0.95

`blind` is the accuracy of a table that knows the position and the token before and nothing else (counted on some data
and judged on other): it repeats the last answer when digits are sorted, and closes a bracket that was opened just
before. Skill is 0 for such an answer and 1 for a perfect one, and it is never greater than the accuracy. "Does not solve"
means: not within this budget and at this size.
"""

import dataclasses
import functools
import json
import time

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor, nn

from headway.core.errors import RunError
from headway.core.seeds import derive
from headway.data.riddles import RIDDLES, VOCABULARY
from headway.models.build import build_named
from headway.tasks.task import Loss
from headway.training.loop import Loop
from headway.training.plan import Settings

SIZES = {"width": "64", "depth": "2", "heads": "4", "inner": "128"}
SOLVED, ENOUGH = 0.95, 0.99  # skill that counts as solved; skill at which training stops
ROWS, LOOK, RATE = 64, 50, 3e-3  # rows of a batch; steps between looks at fresh data; the highest rate of Muon


@dataclasses.dataclass(frozen=True)
class Cell:
    """One training: what was asked, and what came out."""

    riddle: str
    mixer: str
    length: int
    seed: int
    steps: int  # the budget
    options: dict[str, str]  # of the model
    taken: int = 0  # steps until it was stopped
    accuracy: float = 0.0  # on 1,024 rows that were never trained on
    blind: float = 0.0
    parameters: int = 0
    seconds: float = 0.0

    @property
    def solved(self) -> bool:
        return skill(self.accuracy, self.blind) >= SOLVED

    def asks(self) -> str:
        return json.dumps([self.riddle, self.mixer, self.length, self.seed, self.steps, self.options], sort_keys=True)

    def line(self) -> str:
        place = f"{self.riddle:10} {self.mixer:10} length {self.length:4}  seed {self.seed}"
        verdict = "solved" if self.solved else "not solved"
        found = f"accuracy {self.accuracy:.3f} (blind {self.blind:.3f})"
        return f"{place}  {found}  {self.taken:5} steps  {self.seconds:6.1f} s  {verdict}"


def skill(accuracy: float, blind: float) -> float:
    return (accuracy - blind) / (1 - blind)


@functools.cache
def blind_level(riddle: str, length: int) -> float:
    """The accuracy of a table of the most frequent answer after each (position, token before)."""

    def seen(purpose: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
        ids, wanted = RIDDLES[riddle](np.random.default_rng(derive(0, "blind", purpose)), rows, length)
        row, t = wanted.nonzero()
        return t * len(VOCABULARY) + ids[row, t - 1], ids[row, t]

    (places, answers), (asked, right) = seen("count", 2048), seen("judge", 1024)
    counts = np.zeros((max(places.max(), asked.max()) + 1, len(VOCABULARY)), np.int64)
    np.add.at(counts, (places, answers), 1)
    return float((counts.argmax(1)[asked] == right).mean())


@dataclasses.dataclass(frozen=True)
class Rows:
    """A batch of riddles."""

    ids: Int[Tensor, "b t"]
    wanted: Bool[Tensor, "b t"]  # which tokens follow from those before them


class RiddleBatches:
    """Batches of new riddles without end: batch n is a function of (seed, n)."""

    def __init__(self, riddle: str, length: int, seed: int) -> None:
        self.riddle, self.length, self.seed = riddle, length, seed

    def __len__(self) -> int:
        return 1  # there are no epochs: no riddle comes twice

    def __getitem__(self, number: int) -> Rows:
        return draw(self.riddle, self.length, ROWS, derive(self.seed, "batch", number))

    def largest(self) -> Rows:
        return self[0]


def draw(riddle: str, length: int, rows: int, seed: int) -> Rows:
    ids, wanted = RIDDLES[riddle](np.random.default_rng(seed), rows, length)
    return Rows(torch.from_numpy(ids), torch.from_numpy(wanted))


def answers(model: nn.Module, batch: Rows) -> tuple[Tensor, Tensor]:
    """The scores at the places that are asked, "n v", and the right answers, "n"."""
    asked = batch.wanted[:, 1:]
    return model.logits(model(batch.ids[:, :-1])[asked]), batch.ids[:, 1:][asked]  # type: ignore[operator]


def riddle_loss(model: nn.Module, batch: Rows) -> Loss:
    """Cross-entropy of the answers; nothing is learned from the questions."""
    scores, right = answers(model, batch)
    total = F.cross_entropy(scores, right, reduction="sum")
    return Loss(total, total, len(right))


@torch.no_grad()
def judge(model: nn.Module, riddle: str, length: int, rows: int, seed: int) -> float:
    """The share of right answers in rows that are drawn from this seed."""
    drawn = draw(riddle, length, rows, seed)
    model.eval()
    parts = [answers(model, Rows(*part)) for part in zip(drawn.ids.split(128), drawn.wanted.split(128), strict=True)]
    model.train()
    return float(torch.cat([scores.argmax(-1) == right for scores, right in parts]).float().mean())


def train(cell: Cell) -> Cell:
    """Train for the budget, or until fresh rows are answered; then judge on rows that were never seen."""
    began = time.monotonic()
    torch.manual_seed(derive(cell.seed, "weights"))
    model = build_named(cell.mixer, cell.options, {"vocabulary": len(VOCABULARY)})
    batches = RiddleBatches(cell.riddle, cell.length, cell.seed)
    settings = Settings(cell.steps, ROWS, RATE, warmup=max(1, min(50, cell.steps // 4)))
    loop = Loop(model, batches, riddle_loss, settings, cell.seed)
    blind = blind_level(cell.riddle, cell.length)

    def solved(step: int) -> bool:
        fresh = derive(cell.seed, "look", step)
        return step % LOOK == 0 and skill(judge(model, cell.riddle, cell.length, 256, fresh), blind) >= ENOUGH

    try:
        if not loop.run(until=solved):
            raise KeyboardInterrupt  # a cell that was interrupted must not be kept as one that failed
    except RunError:
        pass  # it diverged, so it does not solve the riddle within this budget: judged as it stands
    return dataclasses.replace(
        cell,
        taken=loop.state.step,
        accuracy=round(judge(model, cell.riddle, cell.length, 1024, derive(cell.seed, "held out")), 4),
        blind=round(blind, 4),
        parameters=sum(p.numel() for p in model.parameters()),
        seconds=round(time.monotonic() - began, 1),
    )
