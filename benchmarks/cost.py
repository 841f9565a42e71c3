"""How cost grows with length: time and memory of forward, backward and one generation step, for every mixer.

    python benchmarks/cost.py --out docs/figures          make cost

One sequence, width 64, 4 heads, lengths 128 to 16,384. Each mixer is a process of its own. Memory is the peak of the process above where
it stood before; then the process is set up as every command of Headway is (`machine.prepare`: memory is kept, so that long sequences do
not wait for the kernel's pages), and times are the best of a few runs. Exponents are slopes of least squares in log-log from 1,024 on
(below, constant costs weigh in). Attention should be about 2, everything that promises to be linear about 1; a generation step should be
constant for a recurrence, and for attention grow with what it looks back at.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

WIDTH, HEADS = 64, 4
LENGTHS = [128, 256, 512, 1024, 2048, 4096, 8192, 16384]
FIT = 1024  # lengths from here on make the exponent


def build(name: str) -> Any:
    import torch

    from headway.core import registry
    from headway.core.errors import ConfigError
    from headway.layers.masks import Causal

    torch.manual_seed(0)
    entry = registry.mixer(name)
    if entry.room == "recurrences":
        return entry.load()(WIDTH, WIDTH)
    long = {"longest": LENGTHS[-1]} if "longest" in entry.facts["arguments"] else {}
    try:
        return entry.load()(WIDTH, HEADS, Causal(), **long)
    except ConfigError:  # cannot be causal
        return entry.load()(WIDTH, HEADS, **long)


def peak() -> float:
    """The most memory this process held since `forget`, in MiB."""
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024


def forget() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def measure(name: str, longest: int) -> dict[str, list[float]]:
    import torch

    from headway.core import machine

    mixer = build(name)
    found: dict[str, list[float]] = {"forward": [], "backward": [], "memory": [], "step": []}
    inputs = [torch.randn(1, length, WIDTH, requires_grad=True) for length in LENGTHS if length <= longest]
    for x in inputs:
        forget()
        before = peak()
        mixer(x).sum().backward()
        found["memory"].append(max(0.1, peak() - before))
    machine.prepare()
    for x in inputs:
        forward, backward = [], []
        for _ in range(5):
            began = time.perf_counter()
            y = mixer(x)
            middle = time.perf_counter()
            y.sum().backward()
            forward.append(middle - began)
            backward.append(time.perf_counter() - middle)
            del y  # or the next pass would have to find room beside this one
        found["forward"].append(min(forward))
        found["backward"].append(min(backward))
    if getattr(mixer, "causal", False):
        with torch.inference_mode():
            state, times, x = mixer.start(1), [], torch.randn(1, WIDTH)
            for position in range(longest):
                began = time.perf_counter()
                _, state = mixer.step(x, state)
                times.append(time.perf_counter() - began)
                if position + 1 in LENGTHS:
                    found["step"].append(float(np.median(times[-32:])))
    return found


def exponent(values: list[float]) -> float | None:
    points = [(n, v) for n, v in zip(LENGTHS, values, strict=False) if n >= FIT]
    return float(np.polyfit(*np.log(np.array(points)).T, 1)[0]) if len(points) >= 3 else None


def table(results: dict[str, dict[str, list[float]]]) -> str:
    lines = [
        "| mixer | forward | backward | memory | generation step | forward at 16,384 (ms) | step at 16,384 (ms) |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, found in sorted(results.items(), key=lambda item: -(exponent(item[1]["forward"]) or 0)):
        slopes = [exponent(found[key]) for key in ("forward", "backward", "memory", "step")]
        cells = [f"{s:.2f}" if s is not None else "-" for s in slopes]
        step = f"{1e3 * found['step'][-1]:.3f}" if found["step"] else "-"
        lines.append(f"| {name} | {' | '.join(cells)} | {1e3 * found['forward'][-1]:.1f} | {step} |")
    return "\n".join(lines)


def plot(results: dict[str, dict[str, list[float]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.hashsalt": "headway", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(1, 4, figsize=(14, 4.4), layout="constrained")
        colours = plt.get_cmap("tab20").colors
        for i, (name, found) in enumerate(sorted(results.items())):
            for axis, key, unit in zip(axes, ("forward", "backward", "memory", "step"), (1e3, 1e3, 1, 1e3), strict=True):
                axis.loglog(LENGTHS[: len(found[key])], np.array(found[key]) * unit, color=colours[i % 20], marker="o", ms=2.5, label=name)
        for axis, title, unit in zip(
            axes, ("forward", "backward", "peak memory", "one generation step"), ("ms", "ms", "MiB", "ms"), strict=True
        ):
            axis.set(title=title, xlabel="length (tokens)", ylabel=unit)
            axis.grid(alpha=0.3)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=10, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mixers", help="by name, with commas between (default: all)")
    parser.add_argument("--longest", type=int, default=LENGTHS[-1])
    parser.add_argument("--out", default=".", help="where cost.json, cost.md and cost.svg go")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.one:
        print(json.dumps(measure(a.one, a.longest)))
        return
    from headway.core import registry

    names = a.mixers.split(",") if a.mixers else list(registry.mixers())
    out = Path(a.out)
    kept = out / "cost.json"  # with --mixers, what else was measured before stays
    results = json.loads(kept.read_text())["results"] if a.mixers and kept.exists() else {}
    for name in names:
        done = subprocess.run([sys.executable, __file__, "--one", name, "--longest", str(a.longest)], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr[-800:]}")
        results[name] = json.loads(done.stdout)
        slopes = {key: exponent(values) for key, values in results[name].items()}
        print(f"{name:16}" + "  ".join(f"{k} {v:.2f}" if v is not None else f"{k} -" for k, v in slopes.items()), flush=True)
        kept.write_text(json.dumps({"lengths": LENGTHS, "results": results}, indent=1))
    (out / "cost.md").write_text(table(results) + "\n")
    plot(results, out / "cost.svg")


if __name__ == "__main__":
    main()
