"""Which mixer solves which riddle, and up to which length: small models that differ in nothing but the mixer, trained from scratch.

    skill = (accuracy - blind) / (1 - blind)        solved: skill >= 0.95

`blind` is the accuracy of a table that knows the position and the token before and nothing else (counted, and then judged on other data):
it repeats the last answer when digits are sorted, and closes a bracket that was opened just before. Skill is 0 for such an answer and
1 for a perfect one, and it is never greater than the accuracy. A longer length is tried only after the shorter one was solved.
What "does not solve" means is: not within this budget and at this size.
"""

import dataclasses
import functools
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from headway.core.recipe import Training
from headway.train.checkpoint import Learner
from headway.train.schedules import share
from headway.train.session import construct

from headway.core import machine
from headway.core.config import choose, from_json
from headway.core.errors import ConfigError, RunError, raise_all
from headway.core.files import disk_errors, read_bytes, write_json, write_text
from headway.core.lock import locked
from headway.core.seeds import derive
from headway.data.riddles import RIDDLES, VOCABULARY

MIXERS = ("elman", "lstm", "gru", "min_gru", "lru", "s4", "mamba", "linear_attention", "performer", "longformer", "multihead")
LENGTHS = (8, 16, 32, 64, 128)
SIZES = {"width": "64", "depth": "2", "heads": "4", "inner": "128"}
SOLVED, ENOUGH = 0.95, 0.99  # skill that counts as solved; skill at which training stops
ROWS, LOOK, RATE = 64, 50, 3e-3  # rows of a batch; steps between looks at fresh data; the highest rate of Muon


@dataclasses.dataclass(frozen=True)
class Cell:
    """One training: what was asked, and what came out."""

    riddle: str
    mixer: str
    length: int
    seed: int
    steps: int  # the budget
    options: dict[str, str]  # of the model
    taken: int = 0  # steps until it was stopped
    accuracy: float = 0.0  # on 1,024 rows that were never trained on
    blind: float = 0.0
    parameters: int = 0
    seconds: float = 0.0

    @property
    def solved(self) -> bool:
        return skill(self.accuracy, self.blind) >= SOLVED

    def asks(self) -> str:
        return json.dumps([self.riddle, self.mixer, self.length, self.seed, self.steps, self.options], sort_keys=True)

    def line(self) -> str:
        place = f"{self.riddle:10} {self.mixer:10} length {self.length:4}  seed {self.seed}"
        verdict = "solved" if self.solved else "not solved"
        return f"{place}  accuracy {self.accuracy:.3f} (blind {self.blind:.3f})  {self.taken:5} steps  {self.seconds:6.1f} s  {verdict}"


def skill(accuracy: float, blind: float) -> float:
    return (accuracy - blind) / (1 - blind)


@functools.cache
def blind_level(riddle: str, length: int) -> float:
    """The accuracy of a table of the most frequent answer after each (position, token before)."""

    def seen(purpose: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
        ids, wanted = RIDDLES[riddle](np.random.default_rng(derive(0, "blind", purpose)), rows, length)
        row, t = wanted.nonzero()
        return t * len(VOCABULARY) + ids[row, t - 1], ids[row, t]

    (places, answers), (asked, right) = seen("count", 2048), seen("judge", 1024)
    counts = np.zeros((max(places.max(), asked.max()) + 1, len(VOCABULARY)), np.int64)
    np.add.at(counts, (places, answers), 1)
    return float((counts.argmax(1)[asked] == right).mean())


def judge(model: Any, riddle: str, length: int, rows: int, seed: int) -> float:
    """The share of right answers in rows that are drawn from this seed."""
    ids, wanted = (torch.from_numpy(x) for x in RIDDLES[riddle](np.random.default_rng(seed), rows, length))
    model.eval()
    with torch.no_grad():
        parts = zip(ids.split(128), wanted.split(128), strict=True)
        right = [model.logits(model(i[:, :-1])[w[:, 1:]]).argmax(-1) == i[:, 1:][w[:, 1:]] for i, w in parts]
    model.train()
    return float(torch.cat(right).float().mean())


def train(cell: Cell) -> Cell:
    """Train for the budget, or until fresh data are answered; every batch is a function of (seed, step)."""
    began = time.monotonic()
    torch.manual_seed(derive(cell.seed, "weights"))
    model = construct(choose("language", cell.mixer, cell.options), (len(VOCABULARY),))
    learner = Learner(model, Training(rate=RATE))
    blind, step = blind_level(cell.riddle, cell.length), 0
    for step in range(1, cell.steps + 1):
        ids, wanted = RIDDLES[cell.riddle](np.random.default_rng(derive(cell.seed, "batch", step)), ROWS, cell.length)
        x, w = torch.from_numpy(ids), torch.from_numpy(wanted)[:, 1:]
        F.cross_entropy(model.logits(model(x[:, :-1])[w]), x[:, 1:][w]).backward()
        learner.step(RATE * share("cosine", step - 1, cell.steps, min(50, cell.steps // 4)), 1.0, 0.0)
        fresh = derive(cell.seed, "look", step)
        if step % LOOK == 0 and skill(judge(model, cell.riddle, cell.length, 256, fresh), blind) >= ENOUGH:
            break
    return dataclasses.replace(
        cell,
        taken=step,
        accuracy=round(judge(model, cell.riddle, cell.length, 1024, derive(cell.seed, "held out")), 4),
        blind=round(blind, 4),
        parameters=sum(p.numel() for p in model.parameters()),
        seconds=round(time.monotonic() - began, 1),
    )


def read_cells(path: Path) -> list[Cell]:
    """What was trained before. Lines that are no cells are told, all at once, before anything is trained."""
    cells, problems, bad = [], [], []
    for number, line in enumerate(read_bytes(path).splitlines() if path.exists() else [], 1):
        try:
            record = json.loads(line)
            cell = from_json(Cell, record, f"{path.name}:{number}")
            missing = [f"`{f.name}`" for f in dataclasses.fields(Cell) if f.name not in record]
            if missing or not (0 <= cell.accuracy <= 1 and 0 <= cell.blind < 1):
                said = f"{', '.join(missing)} missing" if missing else f"accuracy {cell.accuracy:g} and blind {cell.blind:g} are no shares"
                raise ConfigError(f"`{path.name}:{number}` does not fit: {said}")
            cells.append(cell)
        except (ValueError, RecursionError, ConfigError) as problem:
            problems.append(problem.message if isinstance(problem, ConfigError) else f"`{path.name}:{number}` is not JSON: {problem}")
            bad.append(str(number))
    several = "s" * (len(bad) > 1)
    hint = f"delete line{several} {', '.join(bad)} of `{path}`; what stood there is trained again."
    raise_all(problems, RunError, f"`{path}` has {len(bad)} line{several} that cannot be read", hint)
    return cells


def separate(
    mixers: Iterable[str], riddles: Iterable[str], lengths: Iterable[int], seeds: int, steps: int, options: dict[str, str], out: Path
) -> str:
    """Train what is missing in `cells.jsonl`, write `table.md` and `table.json`; returns the table."""
    machine.prepare()
    mixers, riddles, lengths = list(mixers), list(riddles), sorted(lengths)
    for riddle in riddles:
        for length in lengths:
            RIDDLES[riddle](np.random.default_rng(0), 1, length)  # a length that a riddle cannot have is told now
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
    mixers, riddles, seeds = (list(dict.fromkeys(getattr(c, name) for c in cells)) for name in ("mixer", "riddle", "seed"))

    def entry(mixer: str, riddle: str) -> str:
        mine = [c for c in cells if (c.mixer, c.riddle) == (mixer, riddle)]
        best = [max((c.length for c in mine if c.seed == seed and c.solved), default=0) for seed in seeds]
        words = ["-" if n == 0 else f"{n}+" if n == longest else str(n) for n in sorted({min(best), max(best)})]
        return " to ".join(words)

    rows = [["mixer", *riddles], ["---"] * (len(riddles) + 1), *([m, *(entry(m, r) for r in riddles)] for m in mixers)]
    sizes = ", ".join(f"{name} {value}" for name, value in cells[0].options.items())
    note = f"Longest length solved (skill of {SOLVED} or more); `+`: the longest that was tried; `-`: not even the shortest. "
    note += f"{cells[0].steps} steps of {ROWS} rows, Muon at {RATE:g}, seeds {', '.join(map(str, seeds))}; {sizes}."
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + f"\n\n{note}"
