"""Public data that an experiment measures on, where `headway data get` put it; without it the experiment is skipped."""

import csv
from pathlib import Path

import numpy as np

from headway.data.picture_files import read_pictures
from headway.lab.experiment import DataMissing


def found(folder: str, name: str) -> Path:
    """The folder, or `DataMissing` with the command that brings the data."""
    path = Path(folder)
    if not path.is_dir():
        hint = f"`headway data get {name} --out {path.parent}` brings it; or `--set folder=...`."
        raise DataMissing(f"there is no `{folder}` with {name}", hint)
    return path


def digits(folder: str, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of MNIST as rows of 784 numbers in [0, 1], and their digits; `part` is "train" or "test"."""
    pictures = read_pictures(str(found(folder, "mnist")), part)
    rows = pictures.images.reshape(len(pictures.images), -1).astype(np.float32) / 255
    return rows, np.array(pictures.label_names).astype(int)


def columns(folder: str, name: str, file: str, delimiter: str = ",") -> dict[str, list[str]]:
    """A table of CSV by column; where tabs separate, quotes are letters."""
    with (found(folder, name) / file).open(newline="", encoding="utf-8") as lines:
        read = (
            csv.DictReader(lines)
            if delimiter == ","
            else csv.DictReader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        )
        rows = list(read)
    return {key: [row[key] for row in rows] for key in rows[0]}


def small_digits(rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """1797 digits that scikit-learn brings, as rows of 64 numbers in [0, 1]: two thirds for training, the others for the test."""
    from sklearn.datasets import load_digits

    rows, digits = load_digits(return_X_y=True)
    parts = np.split(rng.permutation(len(rows)), [1198])
    return [(rows[part].astype(np.float32) / 16, digits[part]) for part in parts]
