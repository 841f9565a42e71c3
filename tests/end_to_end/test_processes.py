"""Several processes train one model through the command: the same losses as one, files and progress once, also after a kill."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headway.cli import main
from headway.training.processes import is_loss_of_peer
from tests.end_to_end.conftest import SMALL
from tests.end_to_end.digit_pictures import digits, write_folders
from tests.forked import free_port, together

STEPS = 50
Start = Callable[..., "subprocess.Popen[str]"]


def records(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def losses(run: Path) -> np.ndarray:
    found = [(r["step"], r["loss"], r["count"]) for r in records(run) if "loss" in r]
    assert [step for step, _, _ in found] == list(range(1, len(found) + 1)), "each step is recorded once"
    return np.array(found)


def validations(run: Path) -> np.ndarray:
    """The loss of the averaged weights, at each validation."""
    return np.array([(r["step"], r["validation"]["figures"]["loss"]) for r in records(run) if "validation" in r])


def assert_same_losses(one: Path, other: Path) -> None:
    expected, found = losses(one), losses(other)
    assert len(expected) == STEPS and (expected[:, 2] == found[:, 2]).all(), "the same tokens or examples in each step"
    np.testing.assert_allclose(found[:, 1], expected[:, 1], rtol=2e-5)
    np.testing.assert_allclose(validations(other), validations(one), rtol=2e-5)


def trained(words: list[str], out: Path, count: int) -> Path:
    """A run that so many processes trained."""
    words = [*words, "--steps", str(STEPS), "--training.validate", "20", "--out", str(out)]
    if count == 1:
        assert main([*words, "--quiet"]) == 0
        return out
    codes, texts, errors = together(count, lambda: main(words), out.with_name(out.name + "-texts"))
    assert codes == [0] * count and not any(errors), errors
    assert texts[1:] == [""] * (count - 1) and texts[0].count(f"step {STEPS}/{STEPS}") == 1, "process 0 alone reports"
    return out


@pytest.fixture(scope="module")
def commands(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("inputs")
    images, labels = digits()
    write_folders(folder / "digits", images[:120], labels[:120])
    (folder / "text.txt").write_text((corpus / "a.en").read_text() * 2)
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]
    text = ["--text", str(folder / "text.txt"), "--model.width", "16", "--model.depth", "1", "--model.dropout", "0"]
    pictures = ["--folder", str(folder / "digits"), "--model.filters", "4", "--model.dropout", "0"]
    return {
        "translation": ["train", "translation", *files, *SMALL, "--model.dropout", "0"],
        "language": ["train", "language", *text, "--tokens", "characters", "--context", "24", "--training.batch", "200"],
        "masked": ["train", "masked", *text, "--context", "24", "--training.batch", "8", "--vocabulary", "600"],
        "images": ["train", "images", *pictures, "--training.batch", "16", "--augment", "shift=1"],
        "graphs": ["train", "graphs", "--kind", "communities", "--size", "60", "--model.width", "8"],
    }


CASES = [("translation", 2, 1), ("translation", 3, 2), ("language", 3, 1), ("images", 2, 2), ("masked", 2, 1), ("graphs", 2, 1)]


@pytest.mark.parametrize("task, count, accumulate", CASES)
def test_losses_equal_those_of_one_process(commands: dict[str, list[str]], tmp_path: Path, task: str, count: int, accumulate: int) -> None:
    words = [*commands[task], "--training.accumulate", str(accumulate)]
    one, many = (trained(words, tmp_path / str(n), n) for n in (1, count))
    assert_same_losses(one, many)
    wanted = {p.name for p in one.iterdir()} - {"checkpoint.safetensors"} | {"checkpoint.json", "checkpoint_parts"}
    assert {p.name for p in many.iterdir()} == wanted, "the same files, each once"


def test_parts_of_a_model_learn_the_same(commands: dict[str, list[str]], tmp_path: Path) -> None:
    one, parts = trained(commands["translation"], tmp_path / "1", 1), trained([*commands["translation"], "--shard"], tmp_path / "2", 2)
    assert_same_losses(one, parts)
    assert main(["translate", str(parts), "The man sleeps."]) == 0


def test_an_ensemble_is_trained_member_by_member(commands: dict[str, list[str]], tmp_path: Path) -> None:
    words = [*commands["images"], "--ensemble", "2", "--steps", "4", "--out", str(tmp_path / "run")]
    codes, _, errors = together(2, lambda: main(words), tmp_path / "texts")
    assert codes == [0, 0], errors
    assert len(list((tmp_path / "run" / "members").glob("*/checkpoint.json"))) == 2 and (tmp_path / "run" / "report.html").exists()


def test_minutes_are_planned_by_one_process(commands: dict[str, list[str]], tmp_path: Path) -> None:
    words = [*commands["images"], "--minutes", "0.05", "--out", str(tmp_path / "run")]
    codes, texts, errors = together(2, lambda: main(words), tmp_path / "texts")
    assert codes == [0, 0] and "0.05 minutes = " in texts[0], errors


def test_other_verbs_are_the_work_of_one_process(tmp_path: Path) -> None:
    codes, _, errors = together(2, lambda: main(["list"]), tmp_path)
    assert codes == [2, 2] and "`headway list` is the work of one process, not of 2" in errors[0]


# -- the launcher: processes that are started, watched and started again --------------------------------------------------


def command(commands: dict[str, list[str]], out: Path) -> list[str]:
    return [*commands["translation"], "--steps", str(STEPS), "--training.validate", "8", "--out", str(out)]


@pytest.fixture(scope="module")
def whole(commands: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one process comes to."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert main([*command(commands, out), "--quiet"]) == 0
    return out


def rank_of(started: list[int], rank: int) -> int:
    """The process with this number, by its environment."""
    return next(pid for pid in started if f"\0RANK={rank}\0".encode() in Path(f"/proc/{pid}/environ").read_bytes())


def workers(launcher: int) -> list[int]:
    """The processes that the launcher started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent, words = int(stat.read_text().rpartition(")")[2].split()[1]), (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue  # it ended meanwhile
        if parent == launcher and b"headway" in words:
            found.append(int(stat.parent.name))
    return found


def wait_for(path: Path, process: "subprocess.Popen[str]", step: int) -> None:
    """Until there is a checkpoint of this step or a later one; that of step 0 has nothing to lose yet."""
    while not path.exists() or json.loads(path.read_text())["state"]["step"] < step:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="the processes are found in /proc")
@pytest.mark.parametrize("rank, options", [(1, []), (0, ["--shard"])])
def test_a_killed_process_is_started_again(
    commands: dict[str, list[str]], tmp_path: Path, headway: Start, whole: Path, rank: int, options: list[str]
) -> None:
    """One that computes, and the one that writes; with the model in each process, and in parts."""
    out = tmp_path / "run"
    process = headway(*command(commands, out), "--processes", "2", *options)
    wait_for(out / "checkpoint.json", process, step=10)
    os.kill(rank_of(workers(process.pid), rank), signal.SIGKILL)
    text, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors
    assert "a process ended: all were started again (1 of 3 times)" in text and text.count("continuing at step") == 1
    assert_same_losses(whole, out)
    assert text.count("what to type next") == 1 and not list(out.glob("*.part")) and "Warning" not in errors, errors


def test_interrupted_and_continued_by_one_process(commands: dict[str, list[str]], tmp_path: Path, headway: Start, whole: Path) -> None:
    out = tmp_path / "run"
    process = headway(*command(commands, out), "--processes", "2")
    wait_for(out / "checkpoint.json", process, step=10)
    process.send_signal(signal.SIGINT)
    text, errors = process.communicate(timeout=500)
    assert process.returncode == 130 and text.count("The run is usable as it is") == 1 and "Traceback" not in errors, errors
    assert main(["translate", str(out), "The man sleeps."]) == 0
    assert main(["train", "--resume", str(out), "--quiet"]) == 0
    assert_same_losses(whole, out)


def test_an_error_is_reported_once_and_not_tried_again(tmp_path: Path, headway: Start) -> None:
    (tmp_path / "a.en").write_text("")
    files = ["--source", str(tmp_path / "a.en"), "--target", str(tmp_path / "missing.de")]
    process = headway("train", "translation", *files, "--steps", "2", "--out", str(tmp_path / "run"), "--processes", "2")
    text, errors = process.communicate(timeout=500)
    assert process.returncode == 2 and text.count("reading the data") <= 1
    assert errors.count("headway: error") == 1 and "Traceback" not in errors, errors


def test_only_the_run_that_was_asked_for_is_continued(
    commands: dict[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`torchrun --max-restarts` starts a command again that was refused because its `--out` holds another run."""
    words = [*commands["language"], "--steps", "2", "--out", str(tmp_path / "run")]
    assert main([*words, "--seed", "1", "--quiet"]) == 0
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    assert main([*words, "--seed", "2"]) == 2
    assert "already holds a run" in capsys.readouterr().err
    assert main([*words, "--seed", "1"]) == 0
    assert "all were started again" in (said := capsys.readouterr().out) and "is finished" in said


@pytest.mark.parametrize("gone", [BrokenPipeError(32, "Broken pipe"), ConnectionResetError(104, "Connection reset by peer")])
def test_a_screen_that_is_gone_is_no_process_that_is_gone(gone: OSError) -> None:
    assert not is_loss_of_peer(gone) and is_loss_of_peer(RuntimeError(f"[gloo] {gone}"))


@pytest.mark.parametrize("words, code", [(["--version"], 0), (["list"], 2)])
def test_a_process_among_several_ends_without_the_end_of_the_interpreter(words: list[str], code: int) -> None:
    """There, threads of torch that ask for Python's lock abort it (one of four runs with `--shard`)."""
    script = f"import atexit, os, sys; atexit.register(os.abort); sys.argv[1:] = {words}; from headway.cli import entry; entry()"
    alone, among = ({**os.environ, "WORLD_SIZE": str(n), "RANK": "0"} for n in (1, 2))
    codes = [subprocess.run([sys.executable, "-c", script], env=e, capture_output=True).returncode for e in (alone, among)]
    assert codes == [-signal.SIGABRT, code]


def test_parts_need_several_processes(commands: dict[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command(commands, tmp_path / "run"), "--shard"]) == 2
    assert "`--shard` divides a model between several processes\nHint: add `--processes 2` or more." in capsys.readouterr().err


# -- two hosts -------------------------------------------------------------------------------------------------------------

HOSTS = {"headway-a": "10.77.0.1", "headway-b": "10.77.0.2"}


@pytest.fixture
def hosts() -> Iterator[dict[str, str]]:
    """Two network namespaces with a cable between them: each sees only its own end, as two machines do."""
    if not shutil.which("ip"):
        pytest.skip("`ip` is not installed")
    made = [["ip", "netns", "add", name] for name in HOSTS]
    made.append(["ip", "link", "add", "cable-a", "netns", "headway-a", "type", "veth", "peer", "cable-b", "netns", "headway-b"])
    for name, address in HOSTS.items():
        inside, cable = ["ip", "-n", name], f"cable-{name[-1]}"
        made.append([*inside, "addr", "add", f"{address}/24", "dev", cable])
        made += [[*inside, "link", "set", device, "up"] for device in (cable, "lo")]
    try:
        for words in made:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"no network namespaces here: {done.stderr.strip()}")
        yield HOSTS
    finally:
        for name in HOSTS:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@pytest.mark.slow
def test_two_hosts(commands: dict[str, list[str]], tmp_path: Path, hosts: dict[str, str], whole: Path) -> None:
    out, meeting = tmp_path / "run", f"10.77.0.1:{free_port()}"
    started = []
    for rank, (name, address) in enumerate(hosts.items()):
        rendezvous = f"--nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint {meeting} --rdzv-id test"
        rendezvous += f" --rdzv-conf is_host={1 - rank}"  # both have the name of this machine
        inside = ["ip", "netns", "exec", name, "env", f"GLOO_SOCKET_IFNAME=cable-{name[-1]}", "OMP_NUM_THREADS=1"]
        torchrun = [sys.executable, "-m", "torch.distributed.run", *rendezvous.split(), "--local-addr", address, "-m", "headway"]
        words = [*inside, *torchrun, *command(commands, out)]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    texts = [process.communicate(timeout=600) for process in started]
    assert [process.returncode for process in started] == [0, 0], texts
    assert sum(text.count("what to type next") for text, _ in texts) == 1
    assert_same_losses(whole, out)
