"""`headway plan` against real training: the memory and the time of a step, planned and measured.

    OMP_NUM_THREADS=1 python benchmarks/plan.py            all cases, each in a process of its own
    OMP_NUM_THREADS=1 python benchmarks/plan.py gpt-128    one case

Memory: the most that a fresh process held during real steps, less what it held after imports, data and a step
of a copy with one block and one example (which loads more than tensors, presumably code of torch).
Time: seconds of one core for a step (`time.process_time`), so that other programs do not count, and seconds by the clock.
"""

import dataclasses
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from headway.core import machine
from headway.inspect.draft import recipe_draft
from headway.inspect.probe import measure_rates, time_steps
from headway.tasks.asking import ask

STEPS = 3
CASES = {
    "gpt-128": ("language", {"width": 128, "depth": 4, "inner": 512, "heads": 2}, 2048),
    "gpt-256": ("language", {"width": 256, "depth": 6, "inner": 1024, "heads": 4}, 2048),
    "gpt-384": ("language", {"width": 384, "depth": 8, "inner": 1536, "heads": 6}, 1024),
    "translation-128": ("translation", {"width": 128, "depth": 3, "inner": 256, "heads": 2}, 1024),
    "translation-256": ("translation", {"width": 256, "depth": 6, "inner": 1024, "heads": 4}, 2048),
}


def text(folder: Path) -> str:
    """A text of 3,000 made-up words."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefgh", k=draw.randint(2, 8))) for _ in range(3000)]
    path = folder / "text.txt"
    path.write_text("\n".join(" ".join(draw.choices(words, k=12)) for _ in range(8_000)), encoding="utf-8")
    return str(path)


def held(name: str) -> int:
    rows = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(row.split()[1]) for row in rows if row.startswith(name))


def measure(case: str) -> dict[str, float]:
    task, options, batch = CASES[case]
    machine.prepare()
    with tempfile.TemporaryDirectory() as folder:
        data = {"text": text(Path(folder))} if task == "language" else {"grammar": 5000}
        recipe = ask(task, data, None, options, {"steps": 100, "batch": batch}).recipe()
        with recipe_draft(recipe) as draft:
            batches = draft.batches(batch)
            first = draft.with_depth(1).loop(1, real=True)  # the pages of torch's code that a step needs count as held
            first.gradients(0)
            first.update(0, first.learner.norm())
            del first
            Path("/proc/self/clear_refs").write_text("5")  # the most so far is what is held now
            before = held("VmRSS:")
            loop = dataclasses.replace(draft, batches=lambda _: batches).loop(batch, real=True)
            loop.learner.model.train()
            processor, clock = [], []
            for step in range(STEPS):
                began, seen = time.process_time(), time.monotonic()
                loop.gradients(step)
                loop.update(step, loop.learner.norm())
                processor.append(time.process_time() - began)
                clock.append(time.monotonic() - seen)
            memory = held("VmHWM:") - before
            del loop
            cost = draft.cost(batch)
            timed = time_steps(draft, cost, measure_rates())
    return {
        "parameters": cost.parameters,
        "memory planned": cost.peak,
        "memory": memory,
        "processor planned": timed.processor,
        "processor": sum(processor[1:]) / (STEPS - 1),
        "clock planned": timed.seconds,
        "clock": sum(clock[1:]) / (STEPS - 1),
        "depth of the copy": timed.depth or 0,
        "batch of the copy": timed.batch,
    }


def main(names: list[str]) -> None:
    if len(names) == 1:
        print(json.dumps(measure(names[0])))
        return
    print(
        "case             parameters   memory MB (planned, ratio)   processor s (planned, ratio)   clock s (planned, ratio)   copy"
    )
    for case in names or CASES:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, case], capture_output=True, text=True, check=True
        )
        found = json.loads(done.stdout.splitlines()[-1])
        cells = [f"{case:16} {found['parameters']:10,}"]
        for name, size in (("memory", 1e6), ("processor", 1), ("clock", 1)):
            real, planned = found[name] / size, found[f"{name} planned"] / size
            cells.append(f"{real:8.4g} ({planned:.4g}, {planned / real:.2f})")
        print(
            "   ".join(cells), f"  {found['depth of the copy']} blocks, batch {found['batch of the copy']}", flush=True
        )


if __name__ == "__main__":
    main(sys.argv[1:])
