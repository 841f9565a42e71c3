"""The training loop: batches in, steps out, with validation, early stopping, rollback and checkpoints.

Step n is a function of (recipe, data, n): its batches, its dropout and its learning rate follow from the seed and n alone. A run that
was killed and resumed at any step therefore ends with the same bits as one that was not.
"""

import dataclasses
import math
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from headway.core.config import to_json
from headway.core.errors import RunError
from headway.core.files import write_tensors
from headway.core.recipe import Recipe
from headway.core.seeds import derive
from headway.train.checkpoint import FILE, Learner, Note, stored
from headway.train.metrics import Metrics
from headway.train.progress import Progress
from headway.train.schedules import share

ROLLBACKS = 6


class Loop:
    """One run from where it stands to its end. `folder` is the run; `task`, `batches` and `validation` come from its data."""

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        task: Any,
        batches: Any,
        validation: Callable[[Any], dict[str, Any]],
        build: Callable[[], Any],
    ) -> None:
        self.recipe, self.training = recipe, recipe.training
        self.folder, self.task, self.batches, self.validation, self.build = folder, task, batches, validation, build
        self.learner = Learner(build(), recipe.training)
        self.note = Note(total=recipe.training.steps or 1)
        self.every = self.training.validate or 1
        self.metrics = Metrics(folder)
        self.interrupted = False

    def gradients(self, step: int) -> tuple[float, int]:
        """Gradients of step n, from (seed, n) alone; returns nats per token and the tokens."""
        torch.manual_seed(derive(self.recipe.seed, "dropout", step))
        count = self.training.accumulate
        micro = [self.batches[step * count + i] for i in range(count)]
        tokens = sum(self.task.tokens(batch) for batch in micro)
        nll_sum = 0.0
        for batch in micro:
            loss, nll, _ = self.task.loss(self.learner.model, batch, self.training.smoothing or 0.0)
            (loss / tokens).backward()
            nll_sum += float(nll)
        return nll_sum / tokens, tokens

    def update(self, step: int, scale: float) -> tuple[float, float, int]:
        """One whole step; returns nats per token, the norm of the gradient and the tokens."""
        nats, tokens = self.gradients(step)
        rate = (self.training.rate or 0) * scale * share(self.training.schedule, step, self.note.total, self.training.warmup or 1)
        # The average forgets its random beginning: early on it follows closely.
        average = min(self.training.average or 0, (1 + step) / (10 + step))
        norm = self.learner.step(rate, self.training.clip, average)
        return nats, norm, tokens

    def run(self, progress: Progress) -> bool:
        """Train to the end. Returns False if a person interrupted it; the run is usable either way."""
        if (self.folder / FILE).exists():
            self.note = self.learner.load(self.folder)
            progress.say(f"continuing at step {self.note.step:,} of {self.note.total:,}")
        self.metrics.forget_after(self.note.step)
        before = signal.signal(signal.SIGINT, self._interrupt)
        self.learner.model.train()
        self.clock = time.monotonic() - self.metrics.seconds()
        try:
            while self.note.step < self.note.total and not self.interrupted and not self._patience_is_over(progress):
                self._advance(progress)
        finally:
            signal.signal(signal.SIGINT, before)
        if self.note.best is None:  # stopped before the first validation: what there is, is usable
            self._save_weights()
        self._save()
        return not self.interrupted

    def _interrupt(self, *_: object) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def _patience_is_over(self, progress: Progress) -> bool:
        over = self.training.patience is not None and self.note.stale >= self.training.patience
        if over:
            progress.say(f"stopping early: no better score in {self.note.stale} validations; the best was at step {self.note.best_step:,}")
        return over

    def _advance(self, progress: Progress) -> None:
        note = self.note
        nats, norm, tokens = self.update(note.step, note.scale)
        if not (math.isfinite(nats) and math.isfinite(norm)):
            self._roll_back(progress, nats, norm)
            return
        self.note = note = dataclasses.replace(note, step=note.step + 1)
        seconds = time.monotonic() - self.clock
        progress.step(note.step, note.total, nats, tokens)
        if note.step % max(1, self.every // 20) == 0:
            self.metrics.add({"step": note.step, "loss": nats, "norm": norm, "tokens": tokens, "seconds": seconds})
        if note.step % self.every == 0 or note.step == note.total:
            self._validate(progress)
            self._save()
        elif note.step % max(1, self.every // 4) == 0:
            self._save()

    def _validate(self, progress: Progress) -> None:
        figures = self.validation(self.learner.average)
        seconds = time.monotonic() - self.clock
        self.metrics.add({"step": self.note.step, "seconds": seconds, "validation": figures})
        progress.say(f"step {self.note.step:,}  validation: {self.task.said(figures)}")
        # fewer nats win a tie
        if self.note.best is None or (figures["rank"], -figures["nats"]) > (self.note.best, -self.note.best_nats):
            self.note = dataclasses.replace(self.note, best=figures["rank"], best_nats=figures["nats"], best_step=self.note.step, stale=0)
            self._save_weights()
        else:
            self.note = dataclasses.replace(self.note, stale=self.note.stale + 1)
        self._replan(progress, seconds)

    def _replan(self, progress: Progress, seconds: float) -> None:
        """If the machine turned out slower than measured, a budget in minutes gets fewer steps. Recorded, so that resuming repeats it."""
        if self.training.minutes is None or self.note.step == self.note.total:
            return
        left = self.training.minutes * 60 - seconds
        possible = self.note.step + int(left / (seconds / self.note.step))
        if possible < 0.93 * self.note.total:
            total = max(self.note.step + 1, possible)
            progress.say(f"the machine is slower than measured at the start: {total:,} steps instead of {self.note.total:,}")
            self.note = dataclasses.replace(self.note, total=total)

    def _roll_back(self, progress: Progress, nats: float, norm: float) -> None:
        """A loss or gradient that is not finite: back to the last checkpoint, at half the learning rate."""
        at, scale, rollbacks = self.note.step, self.note.scale / 2, self.note.rollbacks + 1
        if rollbacks > ROLLBACKS:
            raise RunError(
                f"training diverged {rollbacks} times (loss {nats}, gradient norm {norm} at step {at:,})",
                "choose a smaller `--training.rate`, or look at the data with `headway data check`.",
            )
        if (self.folder / FILE).exists():
            self.note = self.learner.load(self.folder)
        else:
            self.learner, self.note = Learner(self.build(), self.training), Note(total=self.note.total)
            self.learner.model.train()
        self.note = dataclasses.replace(self.note, scale=scale, rollbacks=rollbacks)
        progress.say(f"loss {nats} at step {at:,}: back to step {self.note.step:,} at {scale:g} of the learning rate")
        self.metrics.forget_after(self.note.step)
        self._save()

    def _save(self) -> None:
        self.learner.save(self.folder, self.note, to_json(self.recipe))

    def _save_weights(self) -> None:
        write_tensors(self.folder / "weights.safetensors", stored(self.learner.average))
