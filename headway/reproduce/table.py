"""What a published table is: rows with the printed figure and how to measure ours, and the verdict over several seeds.

Each measured figure is kept in `results.json` of the folder as soon as it is known, and each run in a folder of its own, so that a command
that was killed goes on where it stood.
"""

import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal

from headway.core.config import Value
from headway.core.errors import DataError
from headway.core.files import read_json, write_json
from headway.runs.run import Run
from headway.tasks.asking import ask
from headway.tasks.recipe import Precision
from headway.training.progress import Progress
from headway.training.session import finished, resume, start


@dataclass(frozen=True)
class Row:
    """One printed figure, and what ours should be: the same (within a tolerance), at most it, or at least it.

    measure    ours for one seed; a figure without randomness is measured once
    """

    name: str
    printed: float
    measure: Callable[[int], float]
    should: Literal["equal", "at most", "at least"] = "equal"
    tolerance: float = 0.0
    digits: int = 3
    unit: str = ""
    random: bool = True
    note: str = ""

    def holds(self, values: Sequence[float]) -> bool:
        """By the median over the seeds."""
        ours = statistics.median(values)
        if self.should == "equal":
            return abs(ours - self.printed) <= self.tolerance
        return (
            ours <= self.printed + self.tolerance if self.should == "at most" else ours >= self.printed - self.tolerance
        )


@dataclass
class Bench:
    """Where a table is measured: its folder, the data, how many seeds, how long each run may take, and where words go."""

    folder: Path
    data: Path
    seeds: int = 1
    minutes: float | None = None  # of each run, in place of the table's own
    quiet: bool = False
    say: Callable[[str], object] = print
    results: dict[str, float] = field(default_factory=dict)

    def dataset(self, name: str) -> Path:
        """The folder of a named dataset, which a person has brought there before."""
        found = self.data / name
        if not found.is_dir():
            hint = f"`headway data get {name} --out {self.data}` brings it; or name the folder that holds it with `--data`."
            raise DataError(f"this table needs the data `{name}`, and there is no folder `{found}`", hint)
        return found

    def trained(
        self,
        name: str,
        seed: int,
        task: str,
        data: Mapping[str, Value],
        model: str | None = None,
        options: Mapping[str, Value | type] | None = None,
        training: Mapping[str, Value] | None = None,
        begin: Path | None = None,
        ensemble: int = 1,
        precision: Precision = "float32",
    ) -> Run:
        """The run of that name and seed: trained, continued, or read if it is finished."""
        out = self.folder / "runs" / f"{name}-{seed}"
        settings = dict(training or {})
        if self.minutes is not None:
            settings = {k: v for k, v in settings.items() if k not in ("steps", "epochs")} | {"minutes": self.minutes}
        progress = Progress(self.quiet)
        if not (out / "recipe.json").exists():
            self.say(f"training `{name}`, seed {seed} ...")
            base = str(begin.resolve()) if begin else None
            recipe = ask(task, data, model, options, settings, seed, base).recipe()
            whole = start(replace(recipe, ensemble=ensemble, precision=precision), out, progress)
        else:
            whole = finished(out) is not None or resume(out, progress)
        if not whole:
            raise KeyboardInterrupt
        return Run(out)

    def score(self, run: Run, name: str) -> float:
        """A score of the run's held-out part, judged once."""
        scores = run.scores or run.judge().scores
        return next(score.value for score in scores if score.name == name)


class Table(ABC):
    """A published table. Its docstring begins with its title and gives the source."""

    aliases: ClassVar[tuple[str, ...]] = ()
    minutes: ClassVar[float]  # that it takes on two cores, for one seed
    needs: ClassVar[tuple[str, ...]] = ()  # named datasets: `headway data get`

    @abstractmethod
    def rows(self, bench: Bench) -> list[Row]: ...

    def remarks(self, bench: Bench) -> list[str]:
        """What else a reader should know of the figures."""
        return []


@dataclass(frozen=True)
class Measured:
    """A row with our figures, one for each seed."""

    row: Row
    values: tuple[float, ...]

    @property
    def verdict(self) -> str:
        return "reproduced" if self.row.holds(self.values) else "NOT reproduced"

    def cells(self) -> list[str]:
        r, d = self.row, self.row.digits
        printed = f"{r.printed:,.{d}f}{r.unit}"
        ours = f"{statistics.median(self.values):,.{d}f}{r.unit}"
        spread = f"{min(self.values):,.{d}f} to {max(self.values):,.{d}f}" if len(self.values) > 1 else ""
        within = f"± {r.tolerance:g}" if r.tolerance else ""
        should = within or "exactly" if r.should == "equal" else f"{r.should} {within}".strip()
        return [r.name, printed, should, ours, spread, self.verdict]


HEAD = ["row", "printed", "should be", "ours", "over seeds", "verdict"]


def measure(table: Table, bench: Bench) -> list[Measured]:
    """Every row for every seed; what is known from before is not measured again."""
    for name in table.needs:  # what is missing is reported before a folder is made
        bench.dataset(name)
    bench.folder.mkdir(parents=True, exist_ok=True)
    kept = bench.folder / "results.json"
    if kept.exists():
        bench.results = {str(k): float(v) for k, v in dict(read_json(kept)).items()}
    found = []
    for row in table.rows(bench):
        values = []
        for seed in range(1, (bench.seeds if row.random else 1) + 1):
            key = f"{row.name}/{seed}"
            if key not in bench.results:
                bench.results[key] = float(row.measure(seed))
                write_json(kept, bench.results)
            values.append(bench.results[key])
        found.append(Measured(row, tuple(values)))
        bench.say("  ".join(cell for cell in found[-1].cells() if cell))
    return found
