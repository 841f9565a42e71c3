"""Every ratio of this project to a peer or to the machine, by one command: a table, a plot, and docs/performance.md.

    make performance        (or: .venv-peers/bin/python benchmarks/performance.py --out docs)

It runs the benchmarks of this folder one after the other (about half an hour; nothing else should run), each of which measures both
sides in turns and appends its ratios. Packages of peers are listed in peers.txt. `--only pictures graphs` measures some of them again and
keeps the other rows as they were.

    ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 CT2_FORCE_CPU_ISA=AVX2 .venv-peers/bin/python benchmarks/performance.py --out build

asks torch, oneDNN and CTranslate2 for what a processor without AVX-512 has (MKL does so anyway where the processor is not Intel's).
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from rows import Row, read_rows

HERE = Path(__file__).parent
PROFILED = ("translation_speed", "language_speed")  # they also say where the time of a step goes
SCRIPTS = ("translation_speed", "start_up", "language_speed", "busy", "pictures", "graphs", "scan", "intrinsic_dimension")


def processor() -> str:
    """Its widest vectors decide more than its name: those that torch uses (`ATEN_CPU_CAPABILITY=avx2` asks it for fewer)."""
    import torch

    return f"{len(os.sched_getaffinity(0))} cores, {torch.backends.cpu.get_cpu_capability()}"


def measure(name: str, folder: Path) -> dict[str, object]:
    """The rows of one script and when they were measured."""
    path = folder / f"{name}.jsonl"
    path.unlink(missing_ok=True)
    print(f"-- {name}", flush=True)
    if subprocess.run([sys.executable, HERE / f"{name}.py", "--rows", path]).returncode:
        raise SystemExit(f"{name}.py failed")
    rows = [row.__dict__ for row in read_rows(path)]
    path.unlink()
    found: dict[str, object] = {"date": time.strftime("%Y-%m-%d"), "machine": processor(), "rows": rows}
    if name in PROFILED:
        command = [sys.executable, HERE / f"{name}.py", "--profile"]
        found["profile"] = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return found


def table(found: dict[str, dict]) -> str:
    lines = ["| what | beside | ratio | aim | script, date, machine |", "|---|---|---|---|---|"]
    for name, part in found.items():
        for row in (Row(**r) for r in part["rows"]):
            aim = f"at least {row.least:g}" if row.least is not None else f"at most {row.most:g}" if row.most is not None else ""
            verdict = {True: ", holds", False: ", **missed**", None: ""}[row.holds]
            lines.append(f"| {row.what} | {row.peer} | {row.ratio:.2f} | {aim}{verdict} | `{name}`, {part['date']}, {part['machine']} |")
    return "\n".join(lines)


def profiles(found: dict[str, dict]) -> str:
    return "\n\n".join(f"`{name} --profile`, {p['date']}, {p['machine']}:\n\n{p['profile']}" for name, p in found.items() if "profile" in p)


def page(found: dict[str, dict]) -> str:
    return f"""# Performance

Ratios, each measured in one run on one machine, both sides taking turns; medians. Written by `make performance`
(`benchmarks/performance.py`); the scripts say exactly what is measured. Larger is better, except where the aim is "at most".

{table(found)}

![every ratio against its aim](figures/performance.svg)

## Where the time of a training step goes

Shares of the time that torch's profiler counts, with the operations of one step.

{profiles(found)}
"""


def plot(found: dict[str, dict], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = [Row(**r) for part in found.values() for r in part["rows"]][::-1]
    with plt.rc_context({"svg.hashsalt": "headway", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axis = plt.subplots(figsize=(9, 0.26 * len(rows) + 1), layout="constrained")
        for place, row in enumerate(rows):
            aim = row.least if row.least is not None else row.most
            colour = {True: "#0072b2", False: "#d55e00", None: "#666666"}[row.holds]
            axis.plot([row.ratio], [place], "o", color=colour, ms=5)
            if aim is not None:
                axis.plot([aim], [place], "|", color="black", ms=11)
        axis.set(xscale="log", xlabel="ratio (point) and aim (line); blue: reached, orange: missed, grey: no aim")
        axis.set_yticks(range(len(rows)), [f"{row.what} / {row.peer}" for row in rows])
        axis.grid(axis="x", alpha=0.3)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=SCRIPTS, help="benchmarks to measure")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="where performance.md and figures/performance.* go")
    a = parser.parse_args()
    (a.out / "figures").mkdir(parents=True, exist_ok=True)
    kept = a.out / "figures" / "performance.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    for name in a.only:
        found[name] = measure(name, a.out / "figures")
        found = {script: found[script] for script in SCRIPTS if script in found}
        kept.write_text(json.dumps(found, indent=1) + "\n")
        (a.out / "performance.md").write_text(page(found))
        plot(found, kept.with_suffix(".svg"))
    print(table(found))


if __name__ == "__main__":
    main()
