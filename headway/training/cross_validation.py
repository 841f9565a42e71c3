"""k-fold cross-validation: the data in k parts, each of them the validation part of one training.

    score = (1/k) sum_j score of the run that did not learn from part j

Every example is validated once, by a model that has not seen it; a test part that is set apart stays out of all folds.
Of a series the parts are blocks in the order of time, and a run learns only from what comes before its own (`core/folds.py`).
Stone 1974, "Cross-validatory choice and assessment of statistical predictions"; lecture D.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from headway.core.errors import Diverged
from headway.core.folds import Split
from headway.tasks.recipe import Recipe
from headway.training.checkpoint import FILE, find_checkpoint, read_header
from headway.training.metrics import Metrics
from headway.training.progress import Progress
from headway.training.session import complete


@dataclass(frozen=True)
class Validated:
    """What the best weights of one or several runs came to in validation."""

    score: float  # the higher the better; of several runs the mean
    figures: dict[str, float]  # by name; means
    folds: tuple[float, ...] = ()  # the score of each fold


def cross_validate(
    recipe: Recipe[object], folds: int, folder: Path, progress: Progress, anyway: bool = False
) -> Validated | None:
    """Train a run for each fold, in `fold-1`, `fold-2` ..., or the rest of them. None: a person interrupted it.

    folds    k
    folder   where the runs go
    anyway   train also on data with errors
    """
    found = []
    for number in range(1, folds + 1):
        progress.say(f"fold {number} of {folds}")
        split = dataclasses.replace(recipe, split=Split(recipe.seed, number, folds))
        one = validate_once(split, folder / f"fold-{number}", progress, anyway)
        if one is None:
            return None
        found.append(one)
    every = set[str].intersection(*(set(one.figures) for one in found))  # a figure may be undefined in one fold
    figures = {name: sum(one.figures[name] for one in found) / folds for name in found[0].figures if name in every}
    return Validated(sum(one.score for one in found) / folds, figures, tuple(one.score for one in found))


def validate_once(recipe: Recipe[object], folder: Path, progress: Progress, anyway: bool = False) -> Validated | None:
    """Train one run or the rest of it, and read what its best weights came to. None: a person interrupted it."""
    if not complete(recipe, folder, progress, anyway):
        return None
    state = read_header(find_checkpoint(folder) or folder / FILE)[0]
    records = [r.validation for r in Metrics(folder).read() if r.validation and r.step == state.best_step]
    if state.best is None:
        raise Diverged(f"`{folder}` has no validated weights", "choose a smaller `--training.rate`.")
    return Validated(state.best, records[-1].figures if records else {})
