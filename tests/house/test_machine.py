"""How much memory there is, on computers that are written down as files, and what is refused for want of it."""

import copy
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from torch import nn

from headway.core import machine, waiting
from headway.core.errors import ConfigError
from headway.core.machine import available_memory, expected_memory, require_memory
from headway.core.side_by_side import side_by_side
from headway.core.waiting import Waiting

GB = 10**9
MEMINFO = "MemTotal:       24684100 kB\nMemFree:        1000 kB\nMemAvailable:   16000000 kB\n"
V1 = "9:name=systemd:/\n4:cpu,memory:/docker/abc\n1:cpuset:/\n"


def computer(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def group(folder: str, limit: str, usage: int, cache: int = 0, version: int = 2) -> dict[str, str]:
    names = ("max", "current") if version == 2 else ("limit_in_bytes", "usage_in_bytes")
    top = "sys/fs/cgroup" if version == 2 else "sys/fs/cgroup/memory"
    values = {names[0]: f"{limit}\n", names[1]: f"{usage}\n", "stat": f"anon 5\ninactive_file {cache}\n"}
    return {f"{top}{folder}/memory.{name}": text for name, text in values.items()}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"proc/meminfo": MEMINFO}, 16_384_000_000),
        ({"proc/meminfo": MEMINFO, "proc/self/cgroup": "0::/\n"} | group("", "max", GB), 16_384_000_000),
        ({"proc/meminfo": MEMINFO, "proc/self/cgroup": "0::/\n"} | group("", str(4 * GB), 3 * GB, GB), 2 * GB),
        ({"proc/self/cgroup": "0::/a/b\n"} | group("/a/b", "max", GB) | group("/a", str(3 * GB), GB), 2 * GB),
        ({"proc/self/cgroup": "0::/a\n"} | group("/a", str(GB), 2 * GB), 0),
        ({"proc/meminfo": MEMINFO, "proc/self/cgroup": V1} | group("", str(8 * GB), GB, version=1), 7 * GB),
        ({"proc/self/cgroup": V1} | group("/docker/abc", str(8 * GB), 2 * GB, version=1), 6 * GB),
        ({"proc/self/cgroup": "1:cpuset:/\n"} | group("", str(GB), 0, version=1), None),
    ],
)
def test_available_memory(tmp_path: Path, files: dict[str, str], expected: int | None) -> None:
    assert available_memory(computer(tmp_path, files)) == expected


def test_this_computer_has_memory() -> None:
    there = available_memory()
    assert there is None or 10**7 < there < 10**15


@pytest.mark.parametrize(
    ("optimizer", "moments"), [(torch.optim.AdamW, 2), (torch.optim.Adagrad, 1), (torch.optim.SGD, 0)]
)
def test_training_takes_what_is_expected(optimizer: type[torch.optim.Optimizer], moments: int) -> None:
    """Weights, average, gradients and moments of a real step, added up."""
    model = nn.Linear(300, 500)
    average, update = copy.deepcopy(model), optimizer(model.parameters(), lr=0.1)
    model(torch.randn(2, 300)).sum().backward()
    update.step()
    held = [*model.parameters(), *average.parameters(), *(p.grad for p in model.parameters() if p.grad is not None)]
    held += [t for state in update.state.values() for t in state.values() if isinstance(t, torch.Tensor) and t.dim()]
    assert sum(t.nbytes for t in held) == expected_memory(150_500, moments)


def test_too_large_a_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available_memory", lambda: 2 * GB)
    require_memory(100_000_000)
    sentence = (
        r"of 150,000,000 parameters takes at least 3.0 GB of .*but 2.0 GB are available\nHint: lower `--model.width`"
    )
    with pytest.raises(ConfigError, match=sentence):
        require_memory(150_000_000)
    monkeypatch.setattr(machine, "available_memory", lambda: None)
    require_memory(10**15)  # where nothing is known, nothing is refused


def test_other_programs_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "proc").mkdir()
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    for usable, running, shared in ((4, 1, False), (4, 2, True), (2, 2, False), (2, 3, False), (2, 4, True)):
        monkeypatch.setattr(machine, "cores", lambda usable=usable: usable)
        (tmp_path / "proc" / "loadavg").write_text(f"0.31 0.25 0.20 {running}/345 6789\n")
        assert machine.shares_cores(tmp_path) is shared, (usable, running)
    (tmp_path / "proc" / "loadavg").write_text("nonsense")
    assert machine.shares_cores(tmp_path) is False and machine.shares_cores(tmp_path / "none") is False


def test_threads_stop_spinning_beside_a_program_that_began_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that waits longest for a core counts; a second group of threads comes, sleeps, and goes when the machine is quiet."""
    monkeypatch.setattr(waiting, "EVERY", 0.0)
    clock = iter(range(100))
    monkeypatch.setattr(waiting.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)

    def waited(*seconds: float) -> None:
        for number, each in enumerate(seconds):
            task = tmp_path / "proc/self/task" / str(number)
            task.mkdir(parents=True, exist_ok=True)
            (task / "schedstat").write_text(f"123456 {int(1e9 * each)} 17\n")

    waited(5.0, 5.0)
    before = threading.active_count()
    with Waiting(tmp_path) as looking:
        for total, sleeps in ((5.05, False), (5.3, True), (5.35, True), (5.36, False), (5.9, True)):
            waited(5.0, total)
            looking.look()
            assert (looking.sleepers is not None) is sleeps, total
            assert threading.active_count() == before + sleeps
        (tmp_path / "proc/self/task/0/schedstat").write_text("nonsense")
        (tmp_path / "proc/self/task/1/schedstat").unlink()
        assert looking.seconds() == {}
    assert looking.sleepers is None and threading.active_count() == before
    with Waiting(tmp_path / "none") as looking:
        looking.look()
        assert looking.sleepers is None


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_threads_compute_in_the_mode_of_their_caller(mode: type, monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with mode():
            modes = lambda _=0: (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), threading.get_ident())  # noqa: E731
            expected, found = modes(), side_by_side(modes, range(8))
    finally:
        torch.set_num_threads(before)
    assert {each[:2] for each in found} == {expected[:2]} and expected[2] not in {each[2] for each in found}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep no freed memory")
def test_memory_that_nothing_uses_is_given_back() -> None:
    """In a process of its own: 200 MB of pieces are freed below one that stays."""
    words = """
from headway.core import machine
machine.prepare()
import torch
pieces = [torch.ones(1 << 16) for _ in range(800)]
stays = torch.ones(1 << 16)
before = machine.held_memory()
del pieces
kept = machine.held_memory()
machine.return_memory()
print(before - kept, before - machine.held_memory())
"""
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    freed, returned = map(int, done.stdout.split())
    assert freed < 50e6 and returned > 150e6
