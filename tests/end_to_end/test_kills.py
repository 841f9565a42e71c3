"""100 of 100: runs that are killed at random moments of every phase end with the bits of the run that was never killed.

    make proofs                                              25 kills of each kind of run
    HEADWAY_KILLS=5 pytest -m slow -s tests/end_to_end/test_kills.py

The phases are taken in turn. A process is killed a random time after the phase has begun, as its output or its files say, at most as long
as the phase took in the run that was never killed; both are seconds of its own computing. Of two processes that train together both are
killed, or one. Every third run is killed once more while it is continued. The processes are forks of this one, which has trained once: no
time is spent on imports.
"""

import json
import math
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.context import ForkProcess
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

    def is_reached(self, begun: str) -> bool:
        self.left -= begun == self.phase
        return begun == self.phase and self.left == 0


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
    # The shortest sentences: what has learned little writes as much as it may, and that is a multiple of what it read.
    texts = [(corpus / name).read_text().splitlines() for name in ("a.en", "a.de")]
    pairs = sorted(zip(*texts, strict=True), key=lambda pair: len(pair[0]))[:100]
    for name, lines in zip(("a.en", "a.de"), zip(*pairs, strict=True), strict=True):
        (folder / name).write_text("".join(line + "\n" for line in lines))
    files = ["--source", str(folder / "a.en"), "--target", str(folder / "a.de")]
    text = ["--text", str(folder / "a.en"), "--model.width", "16", "--model.depth", "1", "--model.dropout", "0.1"]
    translation = ["train", "translation", *files, *SMALL, *BUDGET]
    return {
        "translation": translation,
        "language": ["train", "language", *text, "--tokens", "characters", "--context", "24", "--training.batch", "200", *BUDGET],
        "images": ["train", "images", "--folder", str(folder / "digits"), "--model.filters", "4", "--training.batch", "16", *BUDGET],
        "two processes": translation,
    }


def bits(run: Path) -> dict[str, bytes]:
    """Weights and checkpoint, by the name of each tensor, and the scores. Which of two processes writes a tensor is torch's choice."""
    found = {"scores": (run / "scores.json").read_bytes()}
    files = [("weights", run / "weights.safetensors")]
    if (pointer := run / "checkpoint.json").exists():
        parts = run / "checkpoint_parts" / json.loads(pointer.read_text())["parts"]
        files += [("checkpoint", path) for path in parts.glob("*.safetensors")]
    else:
        files.append(("checkpoint", run / "checkpoint.safetensors"))
    for kind, path in files:
        found |= {f"{kind} {name}": tensor.numpy().tobytes() for name, tensor in load_file(path).items()}
    return found


def moments(watch: Watch, alive: Callable[[], bool]) -> Iterator[str]:
    """The phases as they begin, `checkpoint` whenever one was written, and nothing in between; ends with the process."""
    waiting, written = list(PHASES), watch.written()
    while alive():
        if watch.written() != written:
            written = watch.written()
            yield "checkpoint"
        while waiting and PHASES[waiting[0]](watch):
            yield waiting.pop(0)
        yield ""
        time.sleep(0.002)


def used(process: ForkProcess) -> float:
    """The seconds that a process has computed; those in which it waited for others do not count, so a busy machine changes nothing."""
    try:
        return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9
    except (OSError, IndexError):
        return 0.0


def train(words: list[str], watch: Watch, count: int, moment: Moment | None, which: slice) -> tuple[bool, dict[str, float]]:
    """Run the command in so many processes and kill them at a moment. Returns whether they were, and when each phase began."""
    watch.log.parent.mkdir(parents=True, exist_ok=True)
    watch.log.write_text("")
    started, begun, at, now = begin(count, lambda: main(words), watch.log.parent), dict[str, float](), math.inf, 0.0
    for phase in moments(watch, started[0].is_alive):
        now = max(now, used(started[0]))
        begun.setdefault(phase, now)
        if moment and moment.is_reached(phase):
            at = now + moment.seconds
        if now >= at:
            break
    killed = now >= at and all(process.is_alive() for process in started)
    if killed:
        for process in started[which]:
            process.kill()
    for process in started:
        process.join(LONGEST)
        assert not process.is_alive(), words
    assert killed or [process.exitcode for process in started] == [0] * count, watch.log.with_suffix(".err").read_text()
    return killed, begun | {"end": now}


def measured(words: list[str], watch: Watch, count: int) -> dict[str, float]:
    """A run that is never killed: how long each phase took."""
    _, begun = train([*words, "--out", str(watch.out)], watch, count, None, slice(None))
    times = [begun[phase] for phase in (*PHASES, "end")]
    assert times == sorted(times), begun
    return {phase: end - start for phase, start, end in zip(PHASES, times, times[1:], strict=False)}


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
    assert main([*words, "--out", str(tmp_path / "first"), "--quiet"]) == 0  # whatever is imported late is there for all forks
    whole = Watch(tmp_path / "whole", tmp_path / "whole-log" / "0.out")
    spans = measured(words, whole, count)
    expected, kills, left = bits(whole.out), Counter[str](), Counter[str]()
    assert count > 1 or bits(tmp_path / "first") == expected
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
            if train(command, watch, count, moment, which)[0]:
                kills[phase if moment is once else "continued"] += 1
                left[what_is_left(watch.out)] += 1
            if (watch.out / "recipe.json").exists():
                command = ["train", "--resume", str(watch.out)]
        assert bits(watch.out) == expected, (number, phase)
        assert (watch.out / "report.html").exists(), (number, phase)
        print(f"{kind}: {sum(kills.values())} of {KILLS}", flush=True)
        steps = [json.loads(line)["step"] for line in (watch.out / "metrics.jsonl").read_text().splitlines()]
        assert steps == sorted(steps), "steps that were done again are recorded once"
    print(f"\n{kind}: {sum(kills.values())} kills, each run ended with the same bits; killed in {dict(kills)}; what was left: {dict(left)}")
    assert sum(kills.values()) >= KILLS
