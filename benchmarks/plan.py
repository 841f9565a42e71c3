"""`headway plan` against real training: the memory of the process and the time of a step, planned and measured.

    OMP_NUM_THREADS=1 python benchmarks/plan.py                          all cases three times
    OMP_NUM_THREADS=1 python benchmarks/plan.py gpt-128 --times 1        one case, once

Each number comes from a fresh process. Planned: `headway plan --json`. Real: a run is trained for a few steps, validated and written
(VmHWM is the most that its process held); then the steps whose batches the plan counts are timed. Time is that of the processor
(`time.process_time`), so that other programs do not count. A planned number is compared with the mean of the real ones.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from headway.core.machine import peak_memory
from headway.inspect.step_cost import SAMPLED

STEPS = 4  # of the run whose memory is measured
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


def words(case: str, folder: Path) -> list[str]:
    """The options of `headway plan`."""
    task, model, batch = CASES[case]
    data = ["--text", text(folder)] if task == "language" else ["--grammar", "5000"]
    options = [word for name, value in model.items() for word in (f"--model.{name}", str(value))]
    return [task, *data, *options, "--training.batch", str(batch), "--steps", str(STEPS)]


def real(case: str, folder: Path) -> dict[str, float]:
    """Train, without the judging at the end; then time the steps that the plan counts, warm."""
    from headway.tasks.asking import ask
    from headway.training import session
    from headway.training.loop import Loop
    from headway.training.progress import Progress

    loops: list[Loop[object]] = []
    made = session.planned_loop

    def noted(*given: Any) -> Loop[object]:
        loops.append(made(*given))
        return loops[-1]

    session.planned_loop = noted
    task, model, batch = CASES[case]
    data: dict[str, object] = {"text": str(folder / "text.txt")} if task == "language" else {"grammar": 5000}
    recipe = ask(task, data, None, model, {"steps": STEPS, "batch": batch, "validate": STEPS}).recipe()
    session.start(recipe, folder / "run", Progress(quiet=True))
    memory = float(peak_memory() or 0)
    loops[0].learner.model.train()
    began = time.process_time()
    for step in range(SAMPLED):
        loops[0].gradients(step)
        loops[0].update(step, loops[0].learner.norm())
    return {"memory": memory, "processor": (time.process_time() - began) / SAMPLED}


def output_of(*command: str) -> str:
    return subprocess.run([sys.executable, "-W", "ignore", *command], capture_output=True, text=True, check=True).stdout


def measure(case: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        given = words(case, Path(folder))
        found = json.loads(output_of("-m", "headway", "plan", *given, "--json"))
        done = json.loads(output_of(__file__, "--real", case, folder).splitlines()[-1])
    planned = {"memory planned": found["memory_of_process"], "processor planned": found["processor_seconds_per_step"]}
    tensors = {"parameters": found["parameters"], "tensors": found["memory"]["one process"]["total"]}
    return {**tensors, **planned, **done}


def main() -> None:
    if sys.argv[1:2] == ["--real"]:
        print(json.dumps(real(sys.argv[2], Path(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--times", type=int, default=3)
    a = parser.parse_args()
    rows: dict[str, list[dict[str, float]]] = {case: [] for case in a.cases or CASES}
    for _ in range(a.times):
        for case, measured in rows.items():
            measured.append(measure(case))
            print(case, json.dumps(measured[-1]), flush=True)
    print(
        "| case | parameters | tensors | memory of the process: real, planned | ratios | seconds of a step: real, planned | ratios |"
    )
    print("|---|---|---|---|---|---|---|")
    for case, measured in rows.items():
        cells = [case, f"{measured[0]['parameters'] / 1e6:.2f} M", f"{measured[0]['tensors'] / 1e6:.0f} MB"]
        for name, size, unit in (("memory", 1e6, " MB"), ("processor", 1.0, "")):
            mean = sum(row[name] for row in measured) / len(measured)
            planned = [row[f"{name} planned"] for row in measured]
            cells.append(f"{mean / size:.3g}{unit}, {sum(planned) / len(planned) / size:.3g}{unit}")
            cells.append(" ".join(f"{value / mean:.2f}" for value in planned))
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
