"""Several real processes on the loopback network: losses and weights of one process, and every decision taken by all alike."""

import copy
import dataclasses
import gc
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule

from headway.contracts.check import kinds_of
from headway.contracts.examples import Examples
from headway.contracts.models import Case, loss_of
from headway.core import registry
from headway.core.errors import Diverged
from headway.core.files import read_tensors
from headway.core.seeds import derive
from headway.layers.norms.batch_norm import BatchNorm
from headway.tasks.task import Loss
from headway.training import shared_checkpoint
from headway.training.checkpoint import FILE, find_checkpoint, read_header
from headway.training.gradients import Gradients
from headway.training.loop import Loop
from headway.training.plan import Settings
from headway.training.processes import ALONE, Processes, join, leave
from headway.training.sharding import (  # with all of fully_shard: imported once, before the processes are forked
    DTensor,
    ShardedGradients,
)
from headway.training.shared_checkpoint import PARTS, POINTER
from tests.forked import together

STEPS = 8
Batch = tuple[Tensor, Tensor]


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.narrow(torch.relu(self.wide(x)))


class Net(nn.Module):
    """Sizes that no number of processes divides, a weight that is read without a call, and one that no loss uses."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.first = nn.Embedding(11, 7), nn.Linear(7, 5)
        self.blocks, self.output = nn.ModuleList(Block(5) for _ in range(2)), nn.Linear(5, 6)
        self.unused = nn.Linear(3, 3)

    def states(self, ids: Tensor) -> Tensor:
        x = self.first(self.table(ids))
        for block in self.blocks:
            x = block(x)
        return x


class Rows:
    def __len__(self) -> int:
        return 4

    def __getitem__(self, number: int) -> Batch:
        drawn = torch.Generator().manual_seed(number)
        rows = 7 - number % 6  # at last fewer than there are processes
        return torch.randint(0, 11, (rows,), generator=drawn), torch.randint(0, 6, (rows,), generator=drawn)

    def largest(self) -> Batch:
        return self[0]


def loss(model: nn.Module, batch: Batch) -> Loss:
    logits = F.linear(model.states(batch[0]), model.output.weight, model.output.bias)  # type: ignore[operator, union-attr, arg-type]
    total = F.cross_entropy(logits, batch[1], reduction="sum")
    return Loss(total, total.detach(), len(batch[1]))


def loop(
    folder: Path,
    processes: Processes,
    accumulate: int = 2,
    optimizer: str = "muon",
    of: Callable[..., Loss] = loss,
    net: type[nn.Module] = Net,
) -> Loop[Batch]:
    torch.manual_seed(0)
    settings = Settings(STEPS, 7, 0.02, average=0.9, validate=4, accumulate=accumulate, optimizer=optimizer, l1=1e-4, l2=1e-4)
    return Loop(net(), Rows(), of, settings, 1, folder=folder, processes=processes)


def train(folder: Path, count: int, sharded: bool = False, until: int = STEPS, parts: int = 1, **options: object) -> Path:
    """Train a run, or the rest of it, up to a step; each batch in so many parts."""
    folder.mkdir(exist_ok=True)

    def work() -> None:
        made = loop(folder, join(sharded) if count > 1 else ALONE, **options)  # type: ignore[arg-type]
        kept = made.learner.tensors()["model/blocks.0.wide.weight"]
        assert isinstance(kept, DTensor) == sharded and (not sharded or len(kept.to_local()) < len(kept)), "a part of the rows"
        made.state = dataclasses.replace(made.state, parts=parts)
        made.run(until=lambda step: step == until)
        leave()

    if count == 1:
        work()
    else:
        codes, _, errors = together(count, work, folder.with_name(f"{folder.name}-texts"))
        assert codes == [0] * count, errors
    return folder


def losses(folder: Path) -> np.ndarray:
    found = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [r["step"] for r in found] == list(range(1, len(found) + 1)), "each step is recorded once"
    return np.array([(r["loss"], r["norm"], r["count"]) for r in found])


def assert_same(one: Path, other: Path) -> None:
    np.testing.assert_allclose(losses(one), losses(other), rtol=1e-5)
    expected, found = (read_tensors(folder / "weights.safetensors") for folder in (one, other))
    assert expected.keys() == found.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("count, sharded, accumulate", [(2, False, 1), (3, False, 2), (2, True, 1), (3, True, 2)])
def test_any_number_gives_the_same(tmp_path: Path, count: int, sharded: bool, accumulate: int) -> None:
    one, many = (train(tmp_path / str(n), n, sharded and n > 1, accumulate=accumulate) for n in (1, count))
    assert len(losses(one)) == STEPS
    assert_same(one, many)
    assert not (many / FILE).exists() and len(list((many / PARTS).iterdir())) == 1, "old parts are removed"


@pytest.mark.parametrize("count, sharded, parts", [(2, False, 3), (3, True, 2)])
def test_batches_in_parts(tmp_path: Path, count: int, sharded: bool, parts: int) -> None:
    """What did not fit into the memory of one process stays divided in many; some have fewer rows than there are parts."""
    one, many = train(tmp_path / "1", 1), train(tmp_path / "many", count, sharded, parts=parts)
    assert_same(one, many)
    assert read_header(many / POINTER)[0].parts == parts


@pytest.mark.parametrize("optimizer", registry.entries("optimizers"))
def test_every_optimizer_works_in_parts(tmp_path: Path, optimizer: str) -> None:
    one, many = (train(tmp_path / str(n), n, n > 1, optimizer=optimizer) for n in (1, 2))
    assert_same(one, many)


ONE, THREE, PARTS_OF_2, PARTS_OF_3 = (1, False), (3, False), (2, True), (3, True)  # how many processes, and whether sharded
CHANGES = [(ONE, THREE), (THREE, ONE), (PARTS_OF_2, PARTS_OF_3), (PARTS_OF_3, ONE), (ONE, PARTS_OF_2)]


@pytest.mark.parametrize("before, after", CHANGES)
def test_another_number_continues(tmp_path: Path, before: tuple[int, bool], after: tuple[int, bool]) -> None:
    expected, out = train(tmp_path / "whole", 1), tmp_path / "parts"
    train(out, *before, until=5)
    path = find_checkpoint(out)
    assert path is not None and path.name == (FILE if before[0] == 1 else POINTER) and read_header(path)[0].step == 5
    train(out, *after)
    assert_same(expected, out)
    assert (out / FILE).exists() != (out / POINTER).exists(), "one kind of checkpoint"


def test_a_kill_while_a_checkpoint_is_written_loses_nothing(tmp_path: Path) -> None:
    expected, out = train(tmp_path / "whole", 2), tmp_path / "killed"
    out.mkdir()

    def work() -> None:
        write = shared_checkpoint.write_json

        def dying(path: Path, value: dict[str, dict[str, int]]) -> None:
            if value["state"]["step"] == 5:
                os._exit(9)
            write(path, value)

        shared_checkpoint.write_json = dying  # type: ignore[assignment]
        loop(out, join()).run()

    codes, _, _ = together(2, work, tmp_path / "texts")
    assert codes[0] == 9 and read_header(out / POINTER)[0].step == 4
    assert len(list((out / PARTS).iterdir())) == 2, "the new parts are there, but nothing names them yet"
    train(out, 2)
    assert_same(expected, out)


def test_both_kinds_of_checkpoint_the_later_one_counts(tmp_path: Path) -> None:
    one, two = train(tmp_path / "one", 1, until=3), train(tmp_path / "two", 2, until=5)
    shutil.copy(one / FILE, two / FILE)
    assert find_checkpoint(two) == two / POINTER
    shutil.copy(train(tmp_path / "six", 1, until=6) / FILE, two / FILE)
    assert find_checkpoint(two) == two / FILE


def test_all_stop_at_the_same_step_whoever_was_interrupted(tmp_path: Path) -> None:
    def work() -> int:
        processes = join()
        mine = loop(tmp_path, processes)

        def interrupt(step: int) -> bool:
            mine.interrupted = mine.interrupted or (processes.rank == 1 and step == 3)
            return False

        return 0 if not mine.run(until=interrupt) and mine.state.step == 3 else 1

    codes, _, errors = together(2, work, tmp_path / "texts")
    assert codes == [0, 0], errors
    assert read_header(tmp_path / POINTER)[0].step == 3 and (tmp_path / "weights.safetensors").exists()


def test_all_roll_back_when_the_share_of_one_diverges(tmp_path: Path) -> None:
    def spoiled(model: nn.Module, batch: Batch) -> Loss:
        found = loss(model, batch)
        bad = bool(((batch[0] == worst[0]) & (batch[1] == worst[1])).any())
        return Loss(found.total * float("nan"), found.plain * float("nan"), found.count) if bad else found

    worst = Rows()[4][0][1], Rows()[4][1][1]  # row 1 of a batch of the fifth step: it belongs to process 1

    def work() -> int:
        mine = loop(tmp_path, join(), accumulate=1, of=spoiled)
        try:
            mine.run()
        except Diverged as problem:
            return 0 if "diverged 7 times" in str(problem) else 1
        return 2

    codes, _, errors = together(2, work, tmp_path / "texts")
    assert codes == [0, 0], errors
    assert read_header(tmp_path / POINTER)[0].rollbacks == 6


def test_each_process_draws_its_own_dropout(tmp_path: Path) -> None:
    def drawn(model: nn.Module, batch: Batch) -> Loss:
        return Loss(loss(model, batch).total, torch.rand(()), len(batch[1]))

    train(tmp_path / "run", 2, accumulate=1, of=drawn)
    for step, (found, _, units) in enumerate(losses(tmp_path / "run")):
        each = [torch.rand((), generator=torch.Generator().manual_seed(derive(1, "dropout", step, rank))) for rank in (0, 1)]
        weights = (1, 1) if units > 1 else (1, 0)
        assert found == pytest.approx(sum(w * float(r) for w, r in zip(weights, each, strict=True)) / units)


class Normed(Net):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.dropout = BatchNorm(5), nn.Dropout(0.3)

    def states(self, ids: Tensor) -> Tensor:
        return self.dropout(self.norm(super().states(ids.repeat(2))))[: len(ids)]


def test_batch_norm_sees_the_whole_batch(tmp_path: Path) -> None:
    one, many = (train(tmp_path / str(n), n, net=Normed) for n in (1, 2))
    assert_same(one, many)


@dataclass(frozen=True)
class Whole:
    """Examples that all processes compute."""

    examples: Examples
    couples_rows: ClassVar[bool] = True

    def __getitem__(self, number: int) -> "Whole":
        return self

    def __len__(self) -> int:
        return 1

    def largest(self) -> "Whole":
        return self


def test_every_model_can_be_kept_in_parts(tmp_path: Path) -> None:
    """Gradients of every registered model, for all it reads and gives, in one process and in parts; and how many parts were found."""

    def work() -> None:
        processes = join(sharded=True)
        for entry in registry.entries("models").values():
            for case in (Case(entry, kind) for kind in kinds_of(entry.load())):
                torch.manual_seed(3)
                alone, batch = case.build(), Whole(case.examples)
                divided = copy.deepcopy(alone)

                def loss(model: nn.Module, batch: Whole, case: Case = case) -> Loss:
                    total = loss_of(case, model, batch.examples) + case.further(model, batch.examples.inputs)
                    return Loss(total, total.detach(), 1)

                expected = Gradients(alone.train(), batch, loss, 1, "float32")
                engine = ShardedGradients(divided.train(), batch, loss, 1, "float32", processes)
                name = f"{entry.name} {case.kind}"
                assert engine.of(0, 1)[0] == pytest.approx(expected.of(0, 1)[0], rel=1e-5), name
                for found, wanted in zip(divided.parameters(), alone.parameters(), strict=True):
                    assert (found.grad is None) == (wanted.grad is None), name
                    if found.grad is not None:
                        torch.testing.assert_close(found.grad.full_tensor(), wanted.grad, rtol=1e-3, atol=1e-5, msg=name)
                print(f"{entry.name}: {sum(isinstance(m, FSDPModule) for m in divided.modules())}")
        leave()

    codes, texts, errors = together(2, work, tmp_path)
    assert codes == [0, 0], errors[0]
    parts = {name: int(count) for name, count in (line.split(": ") for line in texts[0].splitlines())}
    assert parts["gpt"] == 2 and parts["transformer"] >= 2 and parts["bert"] == 2, "blocks are gathered one after the other"


def test_a_model_does_not_destroy_the_group_that_it_was_trained_in(tmp_path: Path) -> None:
    """It would wait for the group's threads with Python's lock in its hands, and now and then for ever."""

    def work() -> None:
        def train_and_forget() -> None:
            made = loop(tmp_path, join())
            made.run(until=lambda step: step == 1)
            leave()  # the model, and DDP with it, are still there

        train_and_forget()
        gc.collect()
        assert "pt_gloo_runloop" in [task.read_text().strip() for task in Path("/proc/self/task").glob("*/comm")]

    codes, _, errors = together(2, work, tmp_path / "texts")
    assert codes == [0, 0], errors
