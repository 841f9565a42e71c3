"""The gradients of one step, from (seed, step) alone, computed by one process or by several.

A step is made of `accumulate` batches. With L_i the summed loss of batch i and n_i what it counts (tokens, examples ...):

    g = (sum over i of grad L_i) / (sum over i of n_i)

Several processes compute a share of each batch (`shares.py`). torch's DistributedDataParallel gives all of them the mean of their
gradients while the last backward pass still runs; times the number of processes, that is the sum above, so their number changes nothing but
the order of additions. Li et al. 2020, https://arxiv.org/abs/2006.15704.
"""

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from headway.core.seeds import derive
from headway.models.weights import saved_tensors
from headway.tasks.task import Batches, Loss
from headway.training.memory import divided, in_fewest_parts, most_parts
from headway.training.precision import Arithmetic, autocast
from headway.training.processes import Processes
from headway.training.shares import moved, share, share_of

B = TypeVar("B")


class LossOf(nn.Module, Generic[B]):
    """A model with its loss as `forward`: losses call more than one method of a model, and torch synchronises around one call."""

    def __init__(self, model: nn.Module, loss: Callable[[nn.Module, B], Loss]) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, batch: B) -> tuple[Tensor, Tensor, int]:
        """The parts of the loss; torch looks for tensors in tuples."""
        found = self.loss(self.model, batch)
        return found.total, found.plain, found.count

    def trial(self) -> "LossOf[B]":
        """The same with a copy of the model, to see what it computes."""
        return LossOf(copy.deepcopy(self.model), self.loss).train()


class Gradients(Generic[B]):
    """Computed by this process alone.

    model     whose parameters get the gradients
    batches   batch n of all epochs
    loss      of one batch
    """

    def __init__(
        self,
        model: nn.Module,
        batches: Batches[B],
        loss: Callable[[nn.Module, B], Loss],
        seed: int,
        precision: Arithmetic,
    ) -> None:
        self.model, self.batches, self.seed, self.precision = model, batches, seed, precision
        self.device = next(model.parameters()).device
        self.compute: nn.Module = LossOf(model, loss)
        named = saved_tensors(model).keys() - dict(model.named_parameters()).keys()
        self.counted = [buffer for name, buffer in model.named_buffers() if name in named]

    def of(self, step: int, accumulate: int, parts: int = 1) -> tuple[float, int]:
        """Leave the gradients of step n in the parameters; returns the mean loss and what it is a mean over.

        parts   how many each batch is computed in, one after the other
        """
        torch.manual_seed(derive(self.seed, "dropout", step))
        losses: list[Loss] = []
        units = 0
        for i in range(accumulate):
            for part in divided(self.batches[step * accumulate + i], parts):
                found = self.loss(part)
                if accumulate > 1 or parts > 1:
                    found.total.backward()  # divided below, when the number of units is known
                losses.append(found)
                units += found.count
        units = max(1, units)  # pictures without objects count none
        if accumulate > 1 or parts > 1:
            self.divide(units)
        else:
            (losses[0].total / units).backward()
        return sum(float(found.plain.detach()) for found in losses) / units, units

    def within_memory(self, step: int, accumulate: int, parts: int) -> tuple[float, int, int]:
        """The same in as many parts as the memory asks for, but no fewer than `parts`; their number is returned, too."""
        before = self.counts()

        def undo() -> None:
            self.model.zero_grad(set_to_none=True)
            self._put_back(before)

        def most() -> int:
            return max(self.most_parts(self.batches[step * accumulate + i]) for i in range(accumulate))

        found, parts = in_fewest_parts(lambda count: self.of(step, accumulate, count), parts, most, undo)
        return *found, parts

    def most_parts(self, batch: B) -> int:
        return most_parts(batch, self.model)

    def counts(self) -> list[Tensor]:
        """What a forward pass changes: the running means of batch norm."""
        return [buffer.clone() for buffer in self.counted]

    @contextlib.contextmanager
    def counted_as(self, counts: Sequence[Tensor]) -> Iterator[None]:
        """As `counts` were, for as long as this lasts."""
        now = self.counts()
        self._put_back(counts)
        try:
            yield
        finally:
            self._put_back(now)

    def _put_back(self, counts: Sequence[Tensor]) -> None:
        for mine, kept in zip(self.counted, counts, strict=True):
            mine.copy_(kept)

    def mean(self, batch: B, parts: int) -> tuple[float, int]:
        """The mean loss of a batch, without gradients or dropout; and the number of parts that the memory asks for."""

        def work(count: int) -> float:
            found = [self.loss(part) for part in divided(batch, count)]
            return sum(float(part.plain) for part in found) / max(1, sum(part.count for part in found))

        self.model.eval()
        with torch.no_grad():
            found = in_fewest_parts(work, parts, lambda: self.most_parts(batch), lambda: None)
        self.model.train()
        return found

    def loss(self, batch: B) -> Loss:
        with autocast(self.device, self.precision):
            return Loss(*self.compute(moved(batch, self.device)))

    def divide(self, by: float) -> None:
        torch._foreach_div_([p.grad for p in self.model.parameters() if p.grad is not None], float(by))


class SharedGradients(Gradients[B]):
    """Computed by several processes together; all of them have the same gradients afterwards."""

    def __init__(
        self,
        model: nn.Module,
        batches: Batches[B],
        loss: Callable[[nn.Module, B], Loss],
        seed: int,
        precision: Arithmetic,
        processes: Processes,
    ) -> None:
        super().__init__(model, batches, loss, seed, precision)
        self.processes = processes
        self.compute = self.wrapped(LossOf(model, loss))

    def wrapped(self, computed: LossOf[B]) -> nn.Module:
        """The computation with the exchange of gradients around it."""
        unused = self.processes.sums([self._has_unused(computed)])[0] > 0
        return DistributedDataParallel(computed, find_unused_parameters=unused, forward_sync_buffers=False)

    def _has_unused(self, computed: LossOf[B]) -> bool:
        """Whether there are parameters that the loss does not depend on: torch must look for them then, in every step."""
        trial = computed.trial()
        trial(moved(self.batches.largest(), self.device))[0].backward()
        return any(p.grad is None for p in trial.parameters() if p.requires_grad)

    def of(self, step: int, accumulate: int, parts: int = 1) -> tuple[float, int]:
        p = self.processes
        plain = counted = 0.0
        for i in range(accumulate):
            mine = share_of(self.batches, step * accumulate + i, p.rank, p.world, self.model)
            if i == 0:  # all of a batch: all processes drop the same; shares of it: each drops something else
                torch.manual_seed(derive(self.seed, "dropout", step, *([] if mine.whole else [p.rank])))
            for n in range(parts):  # as many in all processes, also if one has fewer rows
                part = share(mine.batch, n, parts)
                weight = mine.weight * part.weight
                with self._sum_up(last=i == accumulate - 1 and n == parts - 1):
                    found = self.loss(part.batch)
                    (found.total * weight).backward()
                plain += weight * float(found.plain.detach())
                counted += weight * found.count
        plain, counted = p.sums([plain, counted])
        units = max(1, round(counted))
        self.divide(units / p.world)
        return plain / units, units

    def most_parts(self, batch: B) -> int:
        return 1  # the others would wait for the one that tries again

    def _sum_up(self, last: bool) -> contextlib.AbstractContextManager[object]:
        """Gradients are exchanged once for each step, in its last backward pass; parts of them in every one, to keep no more than that."""
        wait = isinstance(self.compute, DistributedDataParallel) and not last
        return self.compute.no_sync() if wait else contextlib.nullcontext()  # type: ignore[operator]
