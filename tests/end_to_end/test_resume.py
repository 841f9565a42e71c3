"""Resume is exact: killed with SIGKILL at any moment, a run ends with the same bits as one that was never killed."""

import hashlib
import json
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.cli import main
from tests.end_to_end.conftest import SMALL

Start = Callable[..., "subprocess.Popen[str]"]


def bits(run: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(run.glob("*.safetensors"))}


def command(corpus: Path, out: Path, steps: int = 60) -> list[str]:
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de"), "--tokens", "bpe", "--bpe-dropout", "0.2"]
    # Checkpoints every second step: a good share of the time is spent inside the saving of one.
    return ["train", "translation", *files, *SMALL, "--steps", str(steps), "--training.validate", "8", "--out", str(out)]


@pytest.fixture(scope="module")
def whole(corpus: Path, tmp_path_factory: pytest.TempPathFactory, headway: Start) -> tuple[dict[str, str], float]:
    out = tmp_path_factory.mktemp("whole") / "run"
    began = time.monotonic()
    process = headway(*command(corpus, out))
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return bits(out), time.monotonic() - began


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_killed_at_random_moments(corpus: Path, tmp_path: Path, headway: Start, whole: tuple[dict[str, str], float], seed: int) -> None:
    expected, seconds = whole
    moments = random.Random(seed)
    out = tmp_path / "run"
    kills = 0
    words = command(corpus, out)
    while True:
        process = headway(*words)
        try:
            _, errors = process.communicate(timeout=moments.uniform(0.3, 0.9) * seconds if kills < 3 else 300)
            assert process.returncode == 0, errors
            if kills:
                break
            shutil.rmtree(out)  # it was through before its moment came: a faster start next time
            seconds, words = seconds / 2, command(corpus, out)
            continue
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
        if (out / "recipe.json").exists():
            words = ["train", "--resume", str(out)]
    assert bits(out) == expected
    steps = [json.loads(line)["step"] for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert steps == sorted(steps), "steps that were done again are recorded once"


def test_interrupt_ends_cleanly_and_resumes(corpus: Path, tmp_path: Path, headway: Start, whole: tuple[dict[str, str], float]) -> None:
    out = tmp_path / "run"
    process = headway(*command(corpus, out))
    while not (out / "checkpoint.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    text, errors = process.communicate(timeout=60)
    if process.returncode != 0:  # it may have been through already on a fast machine
        assert process.returncode == 130 and "usable" in text and not errors
        assert main(["translate", str(out), "The man sleeps."]) == 0
        done = headway("train", "--resume", str(out))
        done.communicate(timeout=300)
        assert done.returncode == 0
    assert bits(out) == whole[0]


def test_changes_are_refused_with_the_difference(corpus: Path, tmp_path: Path, headway: Start, capsys: pytest.CaptureFixture[str]) -> None:
    data = Path(shutil.copytree(corpus, tmp_path / "data"))
    out = tmp_path / "run"
    process = headway(*command(data, out, steps=100_000))
    while not (out / "metrics.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate()

    recipe = json.loads((out / "recipe.json").read_text())
    changed = recipe | {"seed": 99, "training": recipe["training"] | {"clip": 0.5}}
    (out / "recipe.json").write_text(json.dumps(changed))
    before = bits(out)
    assert main(["train", "--resume", str(out)]) == 2
    message = capsys.readouterr().err
    assert "cannot be continued" in message and "`training.clip`: 1.0 -> 0.5" in message and "`seed`: 1 -> 99" in message
    (out / "recipe.json").write_text(json.dumps(recipe))

    plan = json.loads((out / "plan.json").read_text())
    plan["training"]["rate"] = 0.5
    (out / "plan.json").write_text(json.dumps(plan))
    assert main(["train", "--resume", str(out)]) == 2
    assert "training.rate" in capsys.readouterr().err
    plan["training"]["rate"] = 3e-3
    (out / "plan.json").write_text(json.dumps(plan))

    text = (data / "a.de").read_text(encoding="utf-8").split("\n")
    text[5] = "Etwas ganz anderes."
    (data / "a.de").write_text("\n".join(text), encoding="utf-8")
    assert main(["train", "--resume", str(out)]) == 2
    assert "the train data is not what the run began with" in capsys.readouterr().err
    assert bits(out) == before


def test_a_finished_run_says_so_and_is_left_alone(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert main([*command(corpus, out, steps=2), "--quiet"]) == 0
    before = {p.name: p.stat().st_mtime_ns for p in out.iterdir()}
    assert main(["train", "--resume", str(out)]) == 0
    assert "is finished: all 2 steps are done" in capsys.readouterr().out
    assert {p.name: p.stat().st_mtime_ns for p in out.iterdir()} == before


def test_seeds_matter_and_repeat(corpus: Path, tmp_path: Path) -> None:
    for name, seed in (("one", "1"), ("again", "1"), ("two", "2")):
        assert main([*command(corpus, tmp_path / name, steps=3), "--seed", seed, "--quiet"]) == 0
    assert bits(tmp_path / "one") == bits(tmp_path / "again") != bits(tmp_path / "two")
