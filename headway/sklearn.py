"""Trained tasks as estimators of scikit-learn: pipelines, grids and `cross_val_score` take them.

    from headway.sklearn import TextClassifier
    cross_val_score(TextClassifier(minutes=1), texts, labels, cv=5)

Each fit is a run like any other, in a temporary directory that lives as long as the estimator (or in `out`); `run_` is that run.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

import headway
from headway.core.config import Value
from headway.runs.run import Run


class Trained(BaseEstimator):
    """What the estimators share: the budget, the model, and the run that `fit` makes.

    model     an architecture or a mixer by name; None: the task's default
    minutes, steps, epochs
              the budget, one of them; one minute if none is given
    options   of the model: {"width": 128}
    training  any field of `headway.Training`: {"rate": 1e-3}
    seed      the same seed gives the same run
    out       where the run goes; None: a temporary directory
    """

    def __init__(
        self,
        model: str | None = None,
        minutes: float | None = None,
        steps: int | None = None,
        epochs: float | None = None,
        options: Mapping[str, Value] | None = None,
        training: Mapping[str, Value] | None = None,
        seed: int = 1,
        out: str | None = None,
    ) -> None:
        self.model = model
        self.minutes = minutes
        self.steps = steps
        self.epochs = epochs
        self.options = options
        self.training = training
        self.seed = seed
        self.out = out

    def _train(self, task: str, **data: str) -> Run:
        """Train the task on these data, quietly."""
        budget = {"minutes": self.minutes, "steps": self.steps, "epochs": self.epochs}
        if not any(budget.values()):
            budget["minutes"] = 1.0
        return headway.train(
            task,
            out=self.out or Path(self._temporary.name) / "run",
            model=self.model,
            options=self.options,
            training=self.training,
            seed=self.seed,
            anyway=True,
            quiet=True,
            **budget,  # type: ignore[arg-type]
            **data,  # type: ignore[arg-type]
        )

    def _folder(self) -> Path:
        """A directory that is removed with the estimator."""
        self._temporary = tempfile.TemporaryDirectory(prefix="headway-")
        return Path(self._temporary.name)

    def __getstate__(self) -> dict[str, Any]:
        """A fitted estimator is kept with the files of its run."""
        state = {key: value for key, value in super().__getstate__().items() if key not in ("run_", "_temporary")}
        if hasattr(self, "run_"):
            folder = self.run_.folder
            state["_files"] = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        files = state.pop("_files", None)
        super().__setstate__(state)
        if files is not None:
            folder = self._folder() / "run"
            for name, content in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
            self.run_ = headway.load(folder)


class TextClassifier(ClassifierMixin, Trained):
    """A text in, a class out: the task `classification`."""

    def fit(self, X: Sequence[str], y: ArrayLike) -> "TextClassifier":
        """X are texts, y their classes."""
        texts, labels = texts_of(X), np.asarray(y)
        check_consistent_length(texts, labels)
        check_classification_targets(labels)
        self.classes_, which = np.unique(labels, return_inverse=True)
        table = self._folder() / "texts.jsonl"
        rows = ({"text": text, "label": f"c{c:05}"} for text, c in zip(texts, which, strict=True))
        table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self.run_ = self._train("classification", table=str(table))
        return self

    def predict_proba(self, X: Sequence[str]) -> np.ndarray:
        """The probability of each class, in the order of `classes_`."""
        check_is_fitted(self)
        names = [f"c{c:05}" for c in range(len(self.classes_))]
        found = self.run_.classify(texts_of(X))
        return np.array([[answer.probabilities.get(name, 0.0) for name in names] for answer in found])

    def predict(self, X: Sequence[str]) -> np.ndarray:
        """The most probable class of each text."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]


def texts_of(X: Sequence[str]) -> list[str]:
    """A list of texts; a single one, or numbers, are refused."""
    texts = [X] if isinstance(X, str) else list(np.asarray(X, dtype=object).ravel())
    wrong = [type(text).__name__ for text in texts if not isinstance(text, str)]
    if isinstance(X, str) or wrong or not texts:
        raise ValueError(
            f"expected a list of texts, not {'one text' if isinstance(X, str) else wrong[0] if wrong else 'nothing'}"
        )
    return texts


class ImageClassifier(ClassifierMixin, Trained):
    """A picture in, a class out: the task `images`."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> "ImageClassifier":
        """X are pictures "n y x" or "n y x c": bytes, or numbers from 0 to 1; y their classes."""
        images, labels = pictures_of(X), np.asarray(y)
        check_consistent_length(images, labels)
        check_classification_targets(labels)
        self.classes_, which = np.unique(labels, return_inverse=True)
        file = self._folder() / "pictures.npz"
        np.savez(file, images=images, labels=which)
        self.run_ = self._train("images", npz=str(file))
        return self

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """The probability of each class, in the order of `classes_`."""
        check_is_fitted(self)
        task: Any = self.run_.task
        found = task.classify_pictures(self.run_.model, pictures_of(X))
        return np.array(
            [[answer.probabilities.get(str(c), 0.0) for c in range(len(self.classes_))] for answer in found]
        )

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable class of each picture."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]


class TableEstimator(Trained):
    """What estimators of rows of numbers share: the task `table`."""

    def _fit(self, X: ArrayLike, target: Sequence[object], kind: str) -> None:
        table = self._folder() / "table.csv"
        write_rows(table, np.asarray(X), target)
        self.run_ = self._train("table", table=str(table), target="target", kind=kind)

    def _predicted(self, X: ArrayLike) -> tuple[Any, tuple[str, ...]]:
        """What the run says of each row: the cells behind the row's own."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.csv"
            write_rows(table, rows, None)
            found = self.run_.predict(table=str(table))
        return [row[rows.shape[1] :] for row in found.rows], found.columns[rows.shape[1] :]


class TableRegressor(RegressorMixin, TableEstimator):
    """A row of numbers in, a number out: the task `table`."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> "TableRegressor":
        """X are rows of numbers, y a number for each."""
        rows, values = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        if len(rows) < 2:
            raise ValueError("n_samples=1: there is nothing to be set apart for a validation")
        self._fit(rows, [repr(float(value)) for value in values], "regression")
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The number of each row."""
        found, _ = self._predicted(X)
        return np.array([float(cells[0]) for cells in found])


class TableClassifier(ClassifierMixin, TableEstimator):
    """A row of numbers in, a class out: the task `table`."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> "TableClassifier":
        """X are rows of numbers, y their classes."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_, which = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"the classes must be at least two; the only one is {self.classes_[0]!r} (one class)")
        self._fit(rows, [f"c{c:05}" for c in which], "classification")
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable class of each row."""
        found, _ = self._predicted(X)
        return self.classes_[[int(cells[0][1:]) for cells in found]]


def write_rows(path: Path, rows: np.ndarray, target: Sequence[object] | None) -> None:
    """A CSV file with columns x1, x2 ... and the target, if it is given."""
    head = [f"x{i + 1}" for i in range(rows.shape[1])] + ["target"] * (target is not None)
    last = [[str(value)] for value in target] if target is not None else [[]] * len(rows)
    lines = [",".join([*map(repr, row), *more]) for row, more in zip(rows.tolist(), last, strict=True)]
    path.write_text("\n".join([",".join(head), *lines]) + "\n", encoding="utf-8")


def pictures_of(X: ArrayLike) -> np.ndarray:
    """Pictures as bytes "n y x c"."""
    images = np.asarray(X)
    if images.ndim not in (3, 4) or not len(images):
        raise ValueError(f'expected pictures as an array "n y x" or "n y x c", not of shape {images.shape}')
    images = images[..., None] if images.ndim == 3 else images
    if images.dtype == np.uint8:
        return images
    values = images.astype(np.float64)
    if not np.isfinite(values).all() or values.min() < 0 or values.max() > 1:
        raise ValueError("numbers of pictures must be between 0 and 1; bytes (uint8) between 0 and 255")
    return np.rint(values * 255).astype(np.uint8)
