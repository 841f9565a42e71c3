"""100 of 100: runs that are killed at random moments of every phase end with the bits of the run that was never killed.

    make proofs                                              25 kills of each kind of run
    HEADWAY_KILLS=5 pytest -m slow -s tests/end_to_end/test_kills.py

The phases are taken in turn. A process is killed a random time after the phase has begun, as its output or its files say, at most as long
as the phase took in the run that was never killed. Of two processes that train together both are killed, or one. Every third run is
killed once more while it is continued. The processes are forks of this one, so that no time is spent on starting Python.
"""

import json
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from safetensors.torch import load_file

from headway.cli import main
from tests.end_to_end.conftest import SMALL
from tests.end_to_end.digit_pictures import digits, write_folders
from tests.forked import begin

KILLS = int(os.environ.get("HEADWAY_KILLS", "25"))
LONGEST = 300  # seconds for a run of about one
BUDGET = "--steps 24 --training.validate 8".split()  # a checkpoint every second step


@dataclass(frozen=True)
class Watch:
    """What can be seen of a run from outside."""

    out: Path
    log: Path

    def said(self, text: str) -> bool:
        return self.log.exists() and text in self.log.read_text(errors="replace")

    def has(self, *names: str) -> bool:
        return any((self.out / name).exists() for name in names)

    def written(self) -> int:
        """Changes when a checkpoint is put in its place."""
        return sum(p.stat().st_mtime_ns for name in ("checkpoint.safetensors", "checkpoint.json") if (p := self.out / name).exists())


class Moment:
    """So many seconds after the n-th time that something begins."""

    def __init__(self, phase: str, nth: int, seconds: float) -> None:
        self.phase, self.left, self.seconds = phase, nth, seconds

    def __call__(self, begun: str) -> float | None:
        self.left -= begun == self.phase
        return None if self.left else self.seconds


PHASES: dict[str, Callable[[Watch], bool]] = {  # how it is seen that one has begun; in the order of a run
    "reading": lambda w: w.said("reading the data"),
    "vocabulary": lambda w: w.said("learning what the data holds"),
    "steps": lambda w: w.has("checkpoint.safetensors", "checkpoint.json"),
    "validation": lambda w: w.said("step 1/24"),
    "best weights": lambda w: w.has("weights.safetensors"),
    "judging": lambda w: w.said("judging the run"),
    "report": lambda w: w.has("scores.json"),
}


@pytest.fixture(scope="module")
def commands(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("inputs")
    images, labels = digits()
    write_folders(folder / "digits", images[:80], labels[:80])
    (folder / "text.txt").write_text((corpus / "a.en").read_text())
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]
    text = ["--text", str(folder / "text.txt"), "--model.width", "16", "--model.depth", "1", "--model.dropout", "0.1"]
    translation = ["train", "translation", *files, *SMALL, *BUDGET]
    return {
        "translation": translation,
        "language": ["train", "language", *text, "--tokens", "characters", "--context", "24", "--training.batch", "200", *BUDGET],
        "images": ["train", "images", "--folder", str(folder / "digits"), "--model.filters", "4", "--training.batch", "16", *BUDGET],
        "two processes": translation,
    }


def bits(run: Path) -> dict[str, bytes]:
    """Weights and checkpoint, by the name of each tensor, and the scores."""
    found = {"scores": (run / "scores.json").read_bytes()}
    pointer = run / "checkpoint.json"
    parts = sorted((run / "checkpoint_parts" / json.loads(pointer.read_text())["parts"]).glob("*.safetensors")) if pointer.exists() else []
    for path in [*sorted(run.glob("*.safetensors")), *parts]:
        found |= {f"{path.name} {name}": tensor.numpy().tobytes() for name, tensor in load_file(path).items()}
    return found


def moments(watch: Watch, alive: Callable[[], bool]) -> Iterator[str]:
    """The phases as they begin, and `checkpoint` whenever one was written; ends with the process."""
    waiting, written = list(PHASES), watch.written()
    while alive():
        if watch.written() != written:
            written = watch.written()
            yield "checkpoint"
        if waiting and PHASES[waiting[0]](watch):
            yield waiting.pop(0)
        time.sleep(0.004)


def train(words: list[str], watch: Watch, count: int, kill: Callable[[str], float | None], which: slice) -> bool:
    """Run the command in so many processes; `kill` says for each moment after how many seconds they are killed. True if they were."""
    watch.log.parent.mkdir(parents=True, exist_ok=True)
    watch.log.write_text("")
    started, began, at = begin(count, lambda: main(words), watch.log.parent), time.monotonic(), None
    seen = moments(watch, lambda: started[0].is_alive())
    for moment in seen:
        delay = kill(moment)
        if delay is not None:
            at = time.monotonic() + delay
            break
    while at is not None and time.monotonic() < at and started[0].is_alive():
        time.sleep(0.0005)
    killed = at is not None and all(process.is_alive() for process in started)
    if killed:
        for process in started[which]:
            process.kill()
    for process in started:
        process.join(LONGEST)
        assert not process.is_alive(), (words, time.monotonic() - began)
    assert killed or [process.exitcode for process in started] == [0] * count, (watch.log.with_suffix(".err")).read_text()
    return killed


def measured(words: list[str], watch: Watch, count: int) -> dict[str, float]:
    """A run that is never killed: how long each phase took."""
    begun: dict[str, float] = {}

    def note(moment: str) -> None:
        begun.setdefault(moment, time.monotonic())

    train([*words, "--out", str(watch.out)], watch, count, note, slice(None))
    begun.pop("checkpoint", None)
    ends = [*list(begun.values())[1:], time.monotonic()]
    spans = {phase: end - start for (phase, start), end in zip(begun.items(), ends, strict=True)}
    assert list(spans) == list(PHASES), "each phase was seen, in this order"
    return spans


def what_is_left(run: Path) -> str:
    """Of a killed process, by the files that are there."""
    half = [p.name for p in run.rglob("*.part")] if run.exists() else []
    if half:
        return f"half of {half[0].removesuffix('.part')}"
    order = ("report.html", "scores.json", "weights.safetensors", "checkpoint.json", "checkpoint.safetensors", "plan.json", "recipe.json")
    return next((f"up to {name}" for name in order if (run / name).exists()), "nothing")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["translation", "language", "images", "two processes"])
def test_killed_at_random_moments_of_every_phase(kind: str, commands: dict[str, list[str]], tmp_path: Path) -> None:
    words, count, drawn = commands[kind], 2 if kind == "two processes" else 1, random.Random(kind)
    whole = Watch(tmp_path / "whole", tmp_path / "whole-log" / "0.out")
    spans = measured(words, whole, count)
    expected, kills, left = bits(whole.out), Counter[str](), Counter[str]()
    watch = Watch(tmp_path / "run", tmp_path / "log" / "0.out")
    turns = ["checkpoint", *PHASES]
    for number in range(3 * KILLS):
        if sum(kills.values()) >= KILLS:
            break
        phase = turns[number % len(turns)]
        shutil.rmtree(watch.out, ignore_errors=True)
        command = [*words, "--out", str(watch.out)]
        once = Moment(phase, drawn.randrange(1, 11) if phase == "checkpoint" else 1, drawn.uniform(0, spans.get(phase, 0.05)))
        more = Moment("reading", 1, drawn.uniform(0, sum(spans.values())))
        for moment in (once, more if number % 3 == 2 else None, None):
            which = slice(None) if count == 1 else drawn.choice([slice(None), slice(0, 1), slice(1, 2)])
            if train(command, watch, count, moment or (lambda _: None), which):
                kills[phase if moment is once else "continued"] += 1
                left[what_is_left(watch.out)] += 1
            if (watch.out / "recipe.json").exists():
                command = ["train", "--resume", str(watch.out)]
        assert bits(watch.out) == expected, (number, phase)
        assert (watch.out / "report.html").exists(), (number, phase)
        steps = [json.loads(line)["step"] for line in (watch.out / "metrics.jsonl").read_text().splitlines()]
        assert steps == sorted(steps), "steps that were done again are recorded once"
    print(f"\n{kind}: {sum(kills.values())} kills, each run ended with the same bits; killed in {dict(kills)}; what was left: {dict(left)}")
    assert sum(kills.values()) >= KILLS
