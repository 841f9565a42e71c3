"""Search over options (`headway tune`): trials, each an ordinary run, the next one proposed from those that are finished.

search.json          what is searched, for which recipe
trials.jsonl         one line for each finished trial: its values and what it came to
trials/001 ...       the runs; with folds `trials/001/fold-1` ...
everything else      the best run, as `headway train` would have made it

What trial n tries is a function of (seed, the n - 1 trials before it): so a search that was killed repeats nothing and goes on with the
trial that was interrupted. Proposals are those of a tree-structured Parzen estimator: values are drawn where good trials are
more frequent than bad ones. Bergstra et al. 2011, "Algorithms for hyper-parameter optimization"; by optuna, Akiba et al. 2019,
https://arxiv.org/abs/1907.10902. Lecture D.
"""

import dataclasses
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headway.core.config import Value, difference, from_json, to_json
from headway.core.errors import ConfigError, Diverged, RunError, UsageError, raise_all
from headway.core.files import disk_errors, parse_json, read_json, write_json, write_text
from headway.core.lock import locked
from headway.core.machine import is_out_of_memory
from headway.core.seeds import derive
from headway.tasks.folder import WEIGHTS
from headway.tasks.recipe import Recipe
from headway.training.cross_validation import Validated, cross_validate, validate_once
from headway.training.progress import Progress
from headway.training.search_space import Range, Space

FILE = "trials.jsonl"


@dataclass(frozen=True)
class Trial:
    """One line of trials.jsonl."""

    number: int
    values: dict[str, Value]
    score: float | None = None  # the higher the better; None: it failed
    figures: dict[str, float] = field(default_factory=dict)  # of the validation of its best weights
    folds: tuple[float, ...] = ()  # the score of each fold
    problem: str = ""  # why it failed


@dataclass(frozen=True)
class Search:
    """A search over options: each trial trains with values that follow from the seed and from the trials before it; the best is kept.

    ask       the recipe with these values of options, by name
    space     what may be tried
    trials    how many
    folds     of each trial; 0: one run with the usual split
    seed      of the proposals
    anyway    train also on data with errors
    """

    ask: Callable[[dict[str, Value]], Recipe[object]]
    space: Space
    trials: int
    folds: int = 0
    seed: int = 1
    anyway: bool = False

    def run(self, out: Path, progress: Progress) -> bool:
        """Do what is missing, then make the best run the one in `out`. Returns False if a person interrupted it."""
        with disk_errors(out):
            out.mkdir(parents=True, exist_ok=True)
        with locked(out):
            self._refuse_another(out)
            done = read_trials(out)
            while len(done) < self.trials:
                trial = self._try(suggest(self.space, done, self.seed), done, out, progress)
                if trial is None:
                    return False
                done.append(trial)
                lines = (json.dumps(to_json(each), ensure_ascii=False) for each in done)
                write_text(out / FILE, "".join(line + "\n" for line in lines))
            return self._keep_best(done[: self.trials], out, progress)

    def _try(self, values: dict[str, Value], done: Sequence[Trial], out: Path, progress: Progress) -> Trial | None:
        """The next trial, trained or the rest of it. None: a person interrupted it."""
        number = len(done) + 1
        same = next((trial for trial in done if trial.values == values), None)
        if same:  # the same values and seed would give the same run
            return dataclasses.replace(same, number=number)
        progress.say(f"trial {number} of {self.trials}: {describe(values)}")
        try:
            found = self._validate(values, out / "trials" / f"{number:03d}", progress)
        except (ConfigError, Diverged) as problem:  # these values are not possible; others may be
            progress.say(f"trial {number} failed: {problem.message}")
            return Trial(number, values, problem=problem.message)
        except (MemoryError, RuntimeError) as problem:
            if not is_out_of_memory(problem):
                raise
            progress.say(f"trial {number} failed: the memory does not suffice")
            return Trial(number, values, problem="the memory does not suffice")
        return Trial(number, values, found.score, found.figures, found.folds) if found else None

    def _validate(self, values: dict[str, Value], folder: Path, progress: Progress) -> Validated | None:
        recipe = self.ask(values)
        if self.folds:
            return cross_validate(recipe, self.folds, folder, progress, self.anyway)
        return validate_once(recipe, folder, progress, self.anyway)

    def _keep_best(self, done: Sequence[Trial], out: Path, progress: Progress) -> bool:
        """The run of the best trial; after cross-validation one that is trained on all but the usual held-out parts."""
        best = best_trial(done)
        folder = out / "trials" / f"{best.number:03d}"
        if self.folds:
            progress.say(f"the best is trial {best.number}: " + describe(best.values))
            folder = folder / "whole"
            if validate_once(self.ask(best.values), folder, progress, self.anyway) is None:
                return False
        shutil.copytree(folder, out, ignore=shutil.ignore_patterns(".lock", "*.part", WEIGHTS), dirs_exist_ok=True)
        shutil.copyfile(folder / WEIGHTS, out / WEIGHTS)  # last: a run is one that has weights
        return True

    def _refuse_another(self, out: Path) -> None:
        """Raise if the directory holds a search for something else; more trials of the same search are welcome."""
        path = out / "search.json"
        asked = {"recipe": self.ask({}).to_json(), "folds": self.folds, "seed": self.seed}
        asked |= {"space": {name: to_json(values) for name, values in self.space.items()}}
        begun = path.exists() and any((out / "trials").glob("**/*"))  # else the data could not be read: nothing to keep
        if not begun:
            if not path.exists() and any(p.name != ".lock" and p.suffix != ".part" for p in out.iterdir()):
                raise RunError(f"`{out}` exists and is not an empty directory", "choose another `--out`.")
            write_json(path, asked)
        hint = "choose another `--out`, or ask for the same as before."
        raise_all(difference(read_json(path), asked), RunError, f"`{out}` holds another search", hint)


def suggest(space: Space, done: Sequence[Trial], seed: int) -> dict[str, Value]:
    """The values of the next trial: a function of the finished ones and the seed alone."""
    try:
        import optuna
    except ImportError as problem:
        raise UsageError("`headway tune` needs the package `optuna`", "pip install 'headway[tune]'") from problem
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    spaces: dict[str, optuna.distributions.BaseDistribution] = {}
    for name, values in space.items():
        if not isinstance(values, Range):
            spaces[name] = optuna.distributions.CategoricalDistribution(values.values)  # type: ignore[arg-type]
        elif isinstance(values.low, int) and isinstance(values.high, int):
            spaces[name] = optuna.distributions.IntDistribution(values.low, values.high, log=values.log)
        else:
            spaces[name] = optuna.distributions.FloatDistribution(values.low, values.high, log=values.log)
    sampler = optuna.samplers.TPESampler(seed=derive(seed, "trial", len(done)) % 2**32)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for trial in done:
        state = optuna.trial.TrialState.FAIL if trial.score is None else optuna.trial.TrialState.COMPLETE
        study.add_trial(
            optuna.trial.create_trial(state=state, params=trial.values, distributions=spaces, value=trial.score)
        )
    return dict(study.ask(fixed_distributions=spaces).params)


def read_trials(out: Path) -> list[Trial]:
    """The finished trials of a search."""
    path = out / FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [from_json(Trial, parse_json(line), str(path)) for line in lines]
    except (ValueError, ConfigError) as problem:
        hint = "delete the file; finished runs are read again."
        raise RunError(f"`{path}` is damaged: {problem}", hint) from problem


def best_trial(done: Sequence[Trial]) -> Trial:
    """The one with the highest score, the first of equals."""
    scored = [(trial.score, -trial.number, trial) for trial in done if trial.score is not None]
    if not scored:
        hint = "choose other ranges, and another `--out`."
        raise RunError(f"none of {len(done)} trials could be trained; the last: {done[-1].problem}", hint)
    return max(scored)[2]


def describe(values: dict[str, Value]) -> str:
    """Values as a person reads them."""
    return ", ".join(f"{n} {v:.3g}" if isinstance(v, float) else f"{n} {v}" for n, v in values.items())
