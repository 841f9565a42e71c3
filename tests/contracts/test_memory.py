"""Memory that does not suffice: a batch is computed in parts with the same gradients, and a resumed run divides what the run divided."""

import copy
import resource
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from torch import Tensor, nn

from headway.core.files import read_tensors
from headway.core.machine import is_out_of_memory
from headway.layers.norms.batch_norm import BatchNorm
from headway.tasks.task import Loss
from headway.training.checkpoint import FILE, read_header
from headway.training.gradients import Gradients
from headway.training.loop import Loop
from headway.training.memory import divided
from headway.training.plan import Settings
from headway.training.progress import Progress
from tests.forked import together

REFUSED = (
    MemoryError(),
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
    RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
)


class Rows:
    rows, width = 7, 5

    def __len__(self) -> int:
        return 4

    def __getitem__(self, number: int) -> tuple[Tensor, Tensor]:
        drawn = torch.Generator().manual_seed(number)
        rows = self.rows - number % 2
        return torch.randn(rows, self.width, generator=drawn), torch.randint(0, 3, (rows,), generator=drawn)

    def largest(self) -> tuple[Tensor, Tensor]:
        return self[0]


def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Loss:
    total = nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="sum")
    return Loss(total, total.detach(), len(batch[1]))


class Limited:
    """The loss on a machine that can hold so many rows from its n-th batch with gradients on; in the backward pass, if it is told so."""

    def __init__(self, rows: int, first: int = 1, problem: BaseException = REFUSED[2], backward: bool = False) -> None:
        self.rows, self.first, self.problem, self.backward, self.calls = rows, first, problem, backward, 0

    def __call__(self, model: nn.Module, batch: tuple[Tensor, Tensor]) -> Loss:
        self.calls += torch.is_grad_enabled()
        found = loss(model, batch)
        if len(batch[1]) <= self.rows or self.calls < self.first:
            return found
        if not self.backward:
            raise copy.copy(self.problem)
        next(model.parameters()).register_hook(self.refuse)  # the first weight comes last: all others have their gradients already
        return found

    def refuse(self, gradient: Tensor) -> None:
        if self.rows < 10**9:
            self.rows = 10**9
            raise copy.copy(self.problem)


def net(dropout: float = 0.0, norm: bool = False) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 8), BatchNorm(8) if norm else nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 3)).double()


class Doubles(Rows):
    def __getitem__(self, number: int) -> tuple[Tensor, Tensor]:
        x, y = super().__getitem__(number)
        return x.double(), y


def engine(of: Callable[..., Loss], model: nn.Module | None = None) -> Gradients[tuple[Tensor, Tensor]]:
    return Gradients(model or net(), Doubles(), of, 1, "float32")


def gradients_of(made: Gradients[tuple[Tensor, Tensor]]) -> list[Tensor]:
    return [p.grad for p in made.model.parameters() if p.grad is not None]


@pytest.mark.parametrize("problem", REFUSED, ids=lambda problem: f"{type(problem).__name__} {str(problem)[:12]}")
@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("rows, parts", [(6, 2), (3, 4), (1, 7)])
def test_gradients_are_those_of_the_whole_batch(problem: BaseException, accumulate: int, rows: int, parts: int) -> None:
    whole, made = engine(loss), engine(Limited(rows, problem=problem))
    expected = whole.of(2, accumulate)
    *found, count = made.within_memory(2, accumulate, 1)
    assert count == parts and found == pytest.approx(expected, rel=1e-12)
    for mine, other in zip(gradients_of(made), gradients_of(whole), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-12, atol=1e-14)


def test_a_backward_pass_that_fails_leaves_nothing_behind() -> None:
    whole, made = engine(loss), engine(Limited(6, backward=True))
    whole.of(0, 2)
    assert made.within_memory(0, 2, 1)[2] == 2
    for mine, other in zip(gradients_of(made), gradients_of(whole), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-12, atol=1e-14)


def test_running_averages_count_no_attempt_that_failed() -> None:
    once, again = engine(loss, net(norm=True)), engine(Limited(4, backward=True), net(norm=True))
    once.of(0, 1, parts=2)
    assert again.within_memory(0, 1, 1)[2] == 2
    assert all(torch.equal(a, b) for a, b in zip(once.model.buffers(), again.model.buffers(), strict=True))


class Graph(tuple[Tensor, Tensor]):
    couples_rows: ClassVar[bool] = True


@pytest.mark.parametrize("limit, norm", [(0, False), (1, True)])
def test_what_cannot_be_divided_further_is_an_error(limit: int, norm: bool) -> None:
    """One row that does not fit; batch norm, which needs two rows."""
    with pytest.raises(RuntimeError, match="can't allocate"):
        engine(Limited(limit), net(norm=norm)).within_memory(0, 1, 1)


def test_a_batch_whose_rows_depend_on_each_other_stays_whole() -> None:
    graph = Graph(Rows()[0])
    assert [part is graph for part in divided(graph, 4)] == [True]


def test_other_errors_are_not_tried_again() -> None:
    limited = Limited(1, problem=RuntimeError("the size of tensor a (3) must match"))
    with pytest.raises(RuntimeError, match="must match"):
        engine(limited).within_memory(0, 1, 1)
    assert limited.calls == 1 and not is_out_of_memory(OSError(12, "Cannot allocate memory"))


# -- a whole training ------------------------------------------------------------------------------------------------------


class Spy(Progress):
    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def train(folder: Path, of: Callable[..., Loss], until: int = 10, dropout: float = 0.3, norm: bool = False, rate: float = 0.02) -> Spy:
    folder.mkdir(exist_ok=True)
    settings = Settings(10, 7, rate, average=0.9, validate=16, optimizer="adamw")  # a checkpoint every fourth step
    spy = Spy()
    Loop(net(dropout, norm), Doubles(), of, settings, 1, folder=folder).run(spy, until=lambda step: step == until)
    return spy


def same_bits(one: Path, other: Path) -> bool:
    a, b = (read_tensors(folder / FILE) for folder in (one, other))
    return a.keys() == b.keys() and all(torch.equal(tensor, b[name]) for name, tensor in a.items())


def test_a_person_is_told_once_and_the_result_is_the_same(tmp_path: Path) -> None:
    said = [train(tmp_path / str(rows), Limited(rows), dropout=0).lines for rows in (7, 2)]
    divisions = [line for line in said[1] if "memory" in line]
    told = "a batch does not fit into memory: from step 1 on each is computed in 4 parts; the gradients are the same up to rounding"
    assert divisions == [told]
    assert not said[0]
    a, b = (read_tensors(tmp_path / name / FILE) for name in ("7", "2"))
    for name, tensor in a.items():
        torch.testing.assert_close(b[name], tensor, rtol=1e-9, atol=1e-12, msg=name)
    assert "batch norm sees each part alone" in train(tmp_path / "norm", Limited(4), norm=True).lines[0]


@pytest.mark.parametrize("stop", [5, 6, 7, 9])
def test_a_resumed_run_divides_what_the_run_divided(tmp_path: Path, stop: int) -> None:
    """Memory is short in step 6 alone, and not when the run is continued; dropout draws other numbers for parts."""
    train(tmp_path / "whole", Limited(4, first=6))
    assert read_header(tmp_path / "whole" / FILE)[0].parts == 2

    class Killed(BaseException):
        pass

    short = Limited(4, first=6)

    def dying(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Loss:
        if short.calls >= stop + 2:  # beyond a step that was computed twice
            raise Killed
        return short(model, batch)

    with pytest.raises(Killed):
        train(tmp_path / "killed", dying)
    assert read_header(tmp_path / "killed" / FILE)[0].step >= (5 if stop > 5 else 4)
    train(tmp_path / "killed", loss if stop > 5 else Limited(4, first=2))
    assert same_bits(tmp_path / "whole", tmp_path / "killed")
    train(tmp_path / "never", loss)
    assert not same_bits(tmp_path / "whole", tmp_path / "never"), "other numbers were drawn, so the checkpoint had to say so"


def test_a_rollback_keeps_the_parts(tmp_path: Path) -> None:
    limited, spoiled = Limited(4, first=6), []

    def of(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Loss:
        found = limited(model, batch)
        if limited.calls > 6 and not spoiled:
            spoiled.append(True)
            limited.rows = 7  # nothing is short any more
            return Loss(found.total * float("nan"), found.plain * float("nan"), found.count)
        return found

    said = train(tmp_path / "run", of).lines
    assert any("diverged at step 6" in line for line in said)
    assert read_header(tmp_path / "run" / FILE)[0].parts == 2 and sum("does not fit" in line for line in said) == 1


def test_memory_that_the_system_refuses(tmp_path: Path) -> None:
    """A real limit of the address space, in a process of its own: activations of 480 MB, and 200 MB for them."""

    class Large(Rows):
        rows, width = 6_000, 5

    torch.manual_seed(0)
    wide = nn.Sequential(nn.Linear(5, 10_000), nn.Tanh(), nn.Linear(10_000, 3))

    def work() -> int:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + 200 * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        parts = Gradients(wide, Large(), loss, 1, "float32").within_memory(0, 1, 1)[2]
        return 0 if parts > 1 else 5

    codes, _, errors = together(1, work, tmp_path)
    assert codes == [0], errors
