"""The directory of a run, by the names in it. Nothing is read but names, so that a mistake is answered at once."""

from pathlib import Path

from headway.core.errors import RunError

WEIGHTS = "weights.safetensors"  # the best weights so far
MEMBERS = "members"  # of an ensemble: its runs
HELD_OUT = "held_out"  # the parts that scores are of


def require_run(folder: Path) -> None:
    """Raise if `folder` cannot be a run."""
    _require_directory(folder)
    if not (folder / "recipe.json").exists():
        raise RunError(
            f"`{folder}` is not a run: there is no `recipe.json` in it", "`headway train ... --out` makes one."
        )


def _require_directory(folder: Path) -> None:
    try:
        there = folder.is_dir()
    except OSError:  # a whole sentence in the place of a directory: the name is too long to be one
        there = False
    if not there:
        raise RunError(
            f"there is no directory `{folder}`", "a run is the directory that `headway train ... --out` made."
        )


def is_published(folder: Path) -> bool:
    """Whether `folder` holds a model in the format of Hugging Face, and no run."""
    return (folder / "config.json").exists() and not (folder / "recipe.json").exists()


def require_start(folder: Path) -> None:
    """Raise if no run can begin with what is in `folder` (`--from`)."""
    _require_directory(folder)
    if not (folder / "recipe.json").exists() and not is_published(folder):
        raise RunError(
            f"`{folder}` is neither a run nor a model of Hugging Face: it has no `recipe.json` and no `config.json`",
            "name the `--out` of a run, or a folder with `config.json`, `model.safetensors` and `tokenizer.json` of a BERT.",
        )


def require_weights(folder: Path) -> None:
    """Raise if `folder` is not a run that can be used."""
    require_run(folder)
    if not (folder / WEIGHTS).exists():
        raise RunError(
            f"`{folder}` holds no trained weights yet", f"continue it with `headway train --resume {folder}`."
        )
