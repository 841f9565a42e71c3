"""The training loop: batches in, steps out, with validation, early stopping, rollback and checkpoints.

Step n is a function of (plan, data, n): its batches, its dropout and its learning rate follow from the seed and n alone. A run that
was killed and resumed at any step therefore ends with the same bits as one that was not. The same loop trains a run (`session.py`),
a comparison of mixers (`compare/`) and the benchmarks; without a folder nothing is written.
"""

import copy
import dataclasses
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from torch import Tensor, nn

from headway.core.errors import Diverged
from headway.core.files import write_tensors
from headway.core.machine import return_memory
from headway.core.signals import answered
from headway.core.waiting import Waiting
from headway.models.weights import saved_tensors
from headway.tasks.folder import WEIGHTS
from headway.tasks.task import Batches, Figure, Loss, Planned, Validation
from headway.training.checkpoint import TrainState, find_checkpoint, load_checkpoint, save_checkpoint, save_together
from headway.training.gradients import Gradients, SharedGradients
from headway.training.learner import Learner
from headway.training.memory import divided_message
from headway.training.metrics import Metrics, Record, Validated
from headway.training.plan import Settings, planned_again
from headway.training.precision import Arithmetic, autocast
from headway.training.processes import ALONE, Processes
from headway.training.progress import Progress
from headway.training.schedules import rate_factor

ROLLBACKS = 6
EXPLODED = 5.0  # times the loss of the first step (or 1, if that is less: single batches of a trained model vary)

B = TypeVar("B")


class Loop(Generic[B]):
    """Training from where it stands to its end.

    model       trained in place; its running average is `learner.average`
    batches     batch n of all epochs
    loss        of one batch: `Task.loss`, or any function (model, batch) -> Loss
    settings    steps, rate, schedule ...
    folder      the run, if there is one: checkpoints, weights and metrics go there
    validate    what is called every `settings.validate` steps with the averaged model
    figures     names and units of what a validation finds
    columns     the names of what its samples hold
    plan        JSON that is kept in each checkpoint, to recognise a plan that was changed
    processes   those that train this model together; process 0 writes, validates and decides
    """

    def __init__(
        self,
        model: nn.Module,
        batches: Batches[B],
        loss: Callable[[nn.Module, B], Loss],
        settings: Settings,
        seed: int,
        *,
        folder: Path | None = None,
        validate: Callable[[nn.Module], Validation] | None = None,
        figures: tuple[Figure, ...] = (),
        columns: tuple[str, ...] = (),
        plan: object = None,
        precision: Arithmetic = "float32",
        processes: Processes = ALONE,
    ) -> None:
        self.batches, self.settings, self.processes = batches, settings, processes
        self.folder, self.validate, self.plan = folder, validate, plan
        self.figures, self.columns = figures, columns
        given = (model, batches, loss, seed, precision)
        self.engine: Gradients[B]
        if processes.sharded:
            from headway.training.sharding import ShardedGradients, ShardedLearner  # heavy, and seldom needed

            whole = copy.deepcopy(model)
            self.engine = ShardedGradients(*given, processes)
            self.learner: Learner = ShardedLearner(model, settings, whole, processes)
        else:
            self.engine = SharedGradients(*given, processes) if processes.world > 1 else Gradients(*given)
            self.learner = Learner(model, settings)
        self.state = TrainState(total=settings.steps)
        self._plan_batches()
        self.metrics = Metrics(folder) if folder and processes.first else None
        self.interrupted = False
        self.told = 1  # the number of parts that a person knows of
        self.unsaved = False  # a checkpoint is due; it is written once the next loss shows that the weights are good

    def settle(self, settings: Settings, plan: object) -> None:
        """Exchange provisional settings for the planned ones, before the first step."""
        self.settings, self.plan = settings, plan
        self.state = TrainState(total=settings.steps, parts=self.state.parts)
        self._plan_batches()

    def _plan_batches(self) -> None:
        if isinstance(self.batches, Planned):
            self.batches.plan(self.settings.steps * self.settings.accumulate)

    # -- one step ------------------------------------------------------------------------------------------------------

    def gradients(self, step: int) -> tuple[float, int]:
        """The gradients of step n, from (seed, n) alone; returns the mean loss and what it is a mean over.

        If the memory does not suffice, batches are computed in more parts from now on (`memory.py`).
        """
        loss, units, parts = self.engine.within_memory(step, self.settings.accumulate, self.state.parts)
        self.state = dataclasses.replace(self.state, parts=parts)
        return loss, units

    def try_largest(self) -> None:
        """A model that cannot hold the longest example fails now, not during training."""
        _, parts = self.engine.mean(self.batches.largest(), self.state.parts)
        self.state = dataclasses.replace(self.state, parts=parts)

    def update(self, step: int, norm: Tensor) -> None:
        s = self.settings
        rate = s.rate * self.state.scale * rate_factor(s.schedule, step, self.state.total, s.warmup)
        # The average forgets its random beginning: early on it follows closely.
        with autocast(self.engine.device, self.engine.precision):  # the products of Muon
            self.learner.step(rate, norm, s.clip, min(s.average, (1 + step) / (10 + step)))

    def timed_steps(self, seconds: float) -> list[float]:
        """How long a step takes, measured by real ones, after which everything is put back as it was."""
        before = {name: tensor.detach().clone() for name, tensor in self.learner.tensors().items()}
        times: list[float] = []
        self.learner.model.train()
        while len(times) < 5 or (sum(times) < seconds and len(times) < 200):
            start = time.monotonic()
            self.gradients(len(times))
            self.update(len(times), self.learner.norm())
            times.append(self.processes.agree(time.monotonic() - start))
        self.learner.restore(before)
        return times

    # -- all steps -----------------------------------------------------------------------------------------------------

    def run(self, progress: Progress | None = None, until: Callable[[int], bool] | None = None) -> bool:
        """Train to the end, or until `until(step)`. Returns False if a person interrupted it; the run is usable either way."""
        progress = progress or Progress(quiet=True)
        with answered(self._interrupt), Waiting() as waiting:
            self._begin(progress)
            while not self._finished(progress):
                self._advance(progress)
                waiting.look()
                if until and until(self.state.step):
                    break
            if self.folder and self._is_good():  # whatever ended the loop
                self._save()
        if self.state.best is None and self._is_good():  # stopped before the first validation
            self._save_weights()
        return not self.interrupted

    def _begin(self, progress: Progress) -> None:
        if self.folder and self.processes.agree(find_checkpoint(self.folder) is not None):
            self.state = load_checkpoint(self.folder, self.learner)
            self.told = self.state.parts
            progress.say(f"continuing at step {self.state.step:,} of {self.state.total:,}")
        elif self.folder:
            self._save()  # there are always weights to go back to
        if self.metrics:
            self.metrics.forget_after(self.state.step)
        before = self.metrics.seconds() if self.metrics else 0.0
        self.clock, self.timed = time.monotonic() - before, before > 0 or self.state.step == 0
        self.learner.model.train()

    def _finished(self, progress: Progress) -> bool:
        """Early stopping: true after `patience` validations without a better score, and also after the last step."""
        state, patience = self.state, self.settings.patience
        # whoever was interrupted, all stop at the same step; a signal that comes meanwhile is for the next one
        stop = self.processes.sums([self.interrupted])[0] > 0
        self.interrupted |= stop
        if patience is not None and state.stale >= patience:
            progress.say(
                f"stopping early: no better score in {state.stale} validations; the best was at step {state.best_step:,}"
            )
            return True
        return stop or state.step >= state.total

    def _advance(self, progress: Progress) -> None:
        counts = self.engine.counts()
        loss, units = self.gradients(self.state.step)
        if self.state.parts > self.told:
            self.told, self.unsaved = self.state.parts, True  # whoever continues the run divides the same steps
            progress.say(divided_message(self.state.step + 1, self.told, self.learner.model))
        norm = self.learner.norm()
        highest = EXPLODED * max(self.state.first or loss, 1.0)
        if not (math.isfinite(loss) and math.isfinite(float(norm)) and (self.state.step == 0 or loss <= highest)):
            self._roll_back(progress, f"loss {loss:.4g}, gradient norm {float(norm):.4g}")
            return
        if self.unsaved:  # the loss of the next step has shown that these weights are good; they are not changed yet
            with self.engine.counted_as(counts):  # but batch norm has counted the batch, and will again
                self._save()
        self.update(self.state.step, norm)
        first = loss if self.state.first is None else self.state.first
        self.state = state = dataclasses.replace(self.state, step=self.state.step + 1, first=first)
        progress.step(state.step, state.total, loss, units)
        every = self.settings.validate
        if self.metrics and state.step % max(1, every // 20) == 0:
            self.metrics.add(Record(state.step, self._seconds(), loss, float(norm), units))
        if self.validate and (state.step % every == 0 or state.step == state.total):
            self._validate(progress)
        if state.step % max(1, every // 4) == 0 or state.step == state.total:
            self.unsaved = self.folder is not None

    def _seconds(self) -> float:
        return time.monotonic() - self.clock

    def _interrupt(self) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def _is_good(self) -> bool:
        """Whether the weights give a finite loss that did not explode: what is worth keeping."""
        value, _ = self.engine.mean(self.batches[self.state.step], self.state.parts)
        return math.isfinite(value) and value <= EXPLODED * max(self.state.first or value, 1.0)

    # -- validation ----------------------------------------------------------------------------------------------------

    def _validate(self, progress: Progress) -> None:
        if self.validate is None:
            return
        average = self.learner.whole_average()
        found = self.validate(average) if self.processes.first else Validation({}, 0.0)
        score = self.processes.agree(found.score)
        if not math.isfinite(score):
            self._roll_back(progress, f"a validation score of {score}")
            return
        state = self.state
        if self.metrics:
            kept = Validated(
                {k: v for k, v in found.figures.items() if math.isfinite(v)},
                found.score,
                [list(s) for s in found.samples],
            )
            self.metrics.add(Record(state.step, self._seconds(), validation=kept))
        better = state.best is None or score > state.best
        values = "  ".join(f.format(found.figures[f.name]) for f in self.figures if f.name in found.figures)
        progress.say(f"step {state.step:,}  validation: {values}" + ("" if better else "  (not better)"))
        for row in found.samples[:1]:
            progress.sample(row, self.columns)
        best = (score, state.step, 0) if better else (state.best, state.best_step, state.stale + 1)
        count = state.validations + 1
        self.state = dataclasses.replace(state, best=best[0], best_step=best[1], stale=best[2], validations=count)
        if better:
            self._save_weights()
        return_memory()
        self._replan(progress)

    def _replan(self, progress: Progress) -> None:
        """As many steps as the time allows. Recorded, so resuming repeats it. The curves know the time: without them the plan stays."""
        state, total = self.state, self.state.total
        passed = self.processes.agree(self._seconds() if self.timed else None)
        possible = total if passed is None else planned_again(self.settings, state.step, total, passed)
        if possible != total:
            word = "slower" if possible < total else "faster"
            progress.say(f"the machine is {word} than measured: {possible:,} steps instead of {total:,}")
            self.state, self.unsaved = dataclasses.replace(state, total=possible), self.folder is not None

    # -- divergence ----------------------------------------------------------------------------------------------------

    def _roll_back(self, progress: Progress, what: str) -> None:
        """Training diverged: back to the last checkpoint, at a lower learning rate."""
        at, rollbacks = self.state.step, self.state.rollbacks + 1
        scale = self.state.scale / 2**rollbacks
        self.learner.model.zero_grad(set_to_none=True)
        if self.folder is None or rollbacks > ROLLBACKS:
            times = f"{rollbacks} times" if rollbacks > 1 else "and there is no checkpoint to go back to"
            kept = f"; the weights of step {self.state.best_step:,} are kept" if self.state.best is not None else ""
            hint = "choose a smaller `--training.rate`, or look at the data with `headway data check`."
            raise Diverged(f"training diverged {times} (at step {at + 1:,}: {what}){kept}", hint)
        was, self.state = self.state, load_checkpoint(self.folder, self.learner)
        self.state = dataclasses.replace(self.state, scale=scale, rollbacks=rollbacks, parts=was.parts)
        self.state = dataclasses.replace(self.state, best=was.best, best_step=was.best_step)  # whose weights are kept
        progress.say(
            f"diverged at step {at + 1:,} ({what}): back to step {self.state.step:,} at {scale:g} of the learning rate"
        )
        if self.metrics:
            self.metrics.forget_after(self.state.step)
        self._save()

    # -- files ---------------------------------------------------------------------------------------------------------

    def _save(self) -> None:
        if self.folder and self.processes.world > 1:
            save_together(self.folder, self.learner, self.state, self.plan, self.processes)
        elif self.folder:
            save_checkpoint(self.folder, self.learner, self.state, self.plan)
        self.unsaved = False

    def _save_weights(self) -> None:
        average = self.learner.whole_average()
        if self.folder and self.processes.first:
            write_tensors(self.folder / WEIGHTS, saved_tensors(average))
