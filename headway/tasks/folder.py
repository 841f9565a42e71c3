"""The directory of a run, by the names in it. Nothing is read but names, so that a mistake is answered at once."""

from pathlib import Path

from headway.core.errors import RunError

WEIGHTS = "weights.safetensors"  # the best weights so far
MEMBERS = "members"  # of an ensemble: its runs
HELD_OUT = "held_out"  # the parts that scores are of


def require_run(folder: Path) -> None:
    """Raise if `folder` cannot be a run."""
    try:
        there = folder.is_dir()
    except OSError:  # a whole sentence in the place of a directory: the name is too long to be one
        there = False
    if not there:
        raise RunError(
            f"there is no directory `{folder}`", "a run is the directory that `headway train ... --out` made."
        )
    if not (folder / "recipe.json").exists():
        raise RunError(
            f"`{folder}` is not a run: there is no `recipe.json` in it", "`headway train ... --out` makes one."
        )


def require_weights(folder: Path) -> None:
    """Raise if `folder` is not a run that can be used."""
    require_run(folder)
    if not (folder / WEIGHTS).exists():
        raise RunError(
            f"`{folder}` holds no trained weights yet", f"continue it with `headway train --resume {folder}`."
        )
