"""Which mixer solves which riddle, and up to which length: small models that differ in nothing but the mixer.

A longer length is tried only after the shorter one was solved. Every training (`riddles.py`) is a line of
`cells.jsonl`, written as soon as it is done, so that a comparison that was interrupted continues with what is missing.
"""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from headway.compare.riddles import RATE, ROWS, SIZES, SOLVED, Cell, train
from headway.core import machine
from headway.core.config import from_json
from headway.core.errors import ConfigError, RunError, raise_all
from headway.core.files import disk_errors, read_bytes, write_json, write_text
from headway.core.lock import locked
from headway.data.riddles import RIDDLES

MIXERS = (
    "elman", "lstm", "gru", "min_gru", "lru", "s4", "mamba", "linear_attention", "performer", "longformer", "multihead",
)  # fmt: skip


def read_cells(path: Path) -> list[Cell]:
    """What was trained before. Lines that cannot be read are reported, all at once, before anything is trained."""
    cells, problems, bad = [], [], []
    for number, line in enumerate(read_bytes(path).splitlines() if path.exists() else [], 1):
        try:
            record = json.loads(line)
            cell = from_json(Cell, record, f"{path.name}:{number}")
            missing = [f"`{f.name}`" for f in dataclasses.fields(Cell) if f.name not in record]
            if missing or not (0 <= cell.accuracy <= 1 and 0 <= cell.blind < 1):
                wrong = f"accuracy {cell.accuracy:g} and blind {cell.blind:g} should lie between 0 and 1"
                found = f"{', '.join(missing)} missing" if missing else wrong
                raise ConfigError(f"`{path.name}:{number}` does not fit: {found}")
            cells.append(cell)
        except (ValueError, RecursionError, ConfigError) as problem:
            unread = f"`{path.name}:{number}` is not JSON: {problem}"
            problems.append(problem.message if isinstance(problem, ConfigError) else unread)
            bad.append(str(number))
    several = "s" * (len(bad) > 1)
    hint = f"delete line{several} {', '.join(bad)} of `{path}`; what stood there is trained again."
    raise_all(problems, RunError, f"`{path}` has {len(bad)} line{several} that cannot be read", hint)
    return cells


def compare_mixers(
    mixers: Iterable[str],
    riddles: Iterable[str],
    lengths: Iterable[int],
    seeds: int,
    steps: int,
    options: dict[str, str],
    out: Path,
) -> str:
    """Train what is missing in `cells.jsonl`, write `table.md` and `table.json`; returns the table."""
    machine.prepare()
    mixers, riddles, lengths = list(mixers), list(riddles), sorted(lengths)
    for riddle in riddles:
        for length in lengths:
            RIDDLES[riddle](np.random.default_rng(0), 1, length)  # a length that a riddle cannot have raises now
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    with locked(out):
        kept = out / "cells.jsonl"
        done = {cell.asks(): cell for cell in read_cells(kept)}
        shown = []
        for riddle, mixer, seed in ((r, m, s) for r in riddles for m in mixers for s in range(1, seeds + 1)):
            for length in lengths:
                cell = Cell(riddle, mixer, length, seed, steps, SIZES | options)
                if cell.asks() not in done:
                    done[cell.asks()] = train(cell)
                    write_text(kept, "".join(json.dumps(dataclasses.asdict(c)) + "\n" for c in done.values()))
                    print(done[cell.asks()].line(), flush=True)
                shown.append(done[cell.asks()])
                if not shown[-1].solved:
                    break
        text = table(shown, lengths[-1])
        write_json(out / "table.json", [{**dataclasses.asdict(c), "solved": c.solved} for c in shown])
        write_text(out / "table.md", text + "\n")
    return text


def table(cells: list[Cell], longest: int) -> str:
    """Markdown: the longest length solved; where seeds disagree, the least and the greatest."""
    mixers, riddles = list(dict.fromkeys(c.mixer for c in cells)), list(dict.fromkeys(c.riddle for c in cells))
    seeds = list(dict.fromkeys(c.seed for c in cells))

    def entry(mixer: str, riddle: str) -> str:
        mine = [c for c in cells if (c.mixer, c.riddle) == (mixer, riddle)]
        best = [max((c.length for c in mine if c.seed == seed and c.solved), default=0) for seed in seeds]
        words = ["-" if n == 0 else f"{n}+" if n == longest else str(n) for n in sorted({min(best), max(best)})]
        return " to ".join(words)

    rows = [["mixer", *riddles], ["---"] * (len(riddles) + 1), *([m, *(entry(m, r) for r in riddles)] for m in mixers)]
    sizes = ", ".join(f"{name} {value}" for name, value in cells[0].options.items())
    note = f"Longest length solved (skill of {SOLVED} or more); "
    note += "`+`: the longest that was tried; `-`: not even the shortest. "
    note += f"{cells[0].steps} steps of {ROWS} rows, Muon at {RATE:g}, seeds {', '.join(map(str, seeds))}; {sizes}."
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + f"\n\n{note}"
