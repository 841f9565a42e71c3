"""Several models on one text, with as many parameters and as many minutes each: one table and one page.

Every run is a process of its own (so that its memory can be told) in a directory of its own, made by `headway train` with options that
are printed: nothing here trains. A comparison that was interrupted continues with the runs that are missing.
"""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from headway.inspect.comparison_page import page, table
from headway.inspect.outcome import Outcome, outcome
from headway.train.session import construct

from headway.core import machine
from headway.core.config import Choice, choose
from headway.core.errors import ConfigError, RunError
from headway.core.files import disk_errors, write_json, write_text

NEAR = 0.05  # parameters may differ by this share


def equal_sizes(names: list[str], options: dict[str, str], vocabulary: int) -> dict[str, dict[str, Any]]:
    """Options for each model such that all have as many parameters as the first, within 5 %.

    The width stays; the feed-forward network gives or takes. A mixer that is too large for that gets a narrower model.
    """
    wanted: dict[str, dict[str, Any]] = {}
    target = 0
    for name in names:
        choice = choose("language", name, options)
        width, depth = int(options.get("width", 128)), int(options.get("depth", 4))
        while True:
            sizes: dict[str, Any] = {"width": width, "depth": depth, "inner": 4 * width, "heads": max(1, width // 32)}
            count = parameters(choice.name, choice.options | sizes, vocabulary)
            target = target or count
            per_unit = (parameters(choice.name, choice.options | sizes | {"inner": 4 * width + 1}, vocabulary)) - count
            sizes["inner"] += round((target - count) / per_unit)
            if sizes["inner"] >= width // 2:
                break
            width -= 32
            if width < 32:
                raise ConfigError(f"`{name}` cannot be made as small as {target:,} parameters", "choose a larger `--model.width`.")
        count = parameters(choice.name, choice.options | sizes, vocabulary)
        if abs(count / target - 1) > NEAR:
            raise ConfigError(f"`{name}` has {count:,} parameters where {target:,} were wanted", "choose another `--model.width`.")
        wanted[name] = sizes
    return wanted


def parameters(model: str, options: dict[str, Any], vocabulary: int) -> int:
    return sum(p.numel() for p in construct(Choice(model, options), (vocabulary,)).parameters())


def train(text: str, name: str, options: dict[str, Any], seed: int, budget: list[str], extra: list[str], folder: Path) -> float:
    """One run, or the rest of it; returns the peak of its memory in MiB."""
    words = [sys.executable, "-m", "headway.cli", "train"]
    if (folder / "plan.json").exists():
        words += ["--resume", str(folder)]
    else:
        chosen = [word for key, value in options.items() for word in (f"--model.{key}", str(value))]
        words += ["language", "--text", text, "--model", name, *chosen, *budget, "--seed", str(seed), "--out", str(folder), *extra]
    child = subprocess.Popen(words)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        hint = f"see `{folder}`; the same command goes on from there."
        raise RunError(f"training `{name}` with seed {seed} ended with code {child.returncode}", hint)
    return usage.ru_maxrss / 1024


def compare(text: str, names: list[str], seeds: int, budget: list[str], options: dict[str, str], extra: list[str], out: Path) -> str:
    """Train what is missing, judge, write `comparison.json` and `comparison.html`; returns the table."""
    machine.prepare()
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    sizes = equal_sizes(names, options, 260)  # the vocabulary counts the same for all
    outcomes: list[Outcome] = []
    for name in names:
        for seed in range(1, seeds + 1):
            folder, kept = out / f"{name}-{seed}", out / f"{name}-{seed}" / "outcome.json"
            if not kept.exists():
                print(f"== {name}, seed {seed}: " + " ".join(f"{k} {v}" for k, v in sizes[name].items()), flush=True)
                memory = train(text, name, {**options, **sizes[name]}, seed, budget, extra, folder)
                write_json(kept, dataclasses.asdict(outcome(name, seed, folder, memory)))
            value = json.loads(kept.read_text())
            outcomes.append(Outcome(**{**value, "curve": [tuple(point) for point in value["curve"]]}))
    write_json(out / "comparison.json", [dataclasses.asdict(o) for o in outcomes])
    write_text(out / "comparison.html", page(text, outcomes))
    return table(outcomes) + f"\n\ncurves and samples: {out / 'comparison.html'}"
