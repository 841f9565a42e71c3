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
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

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
