"""A run: a directory that holds everything, and what can be asked of it."""

import html
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import overload

import torch
from torch import nn

from headway.core import machine
from headway.core.config import from_json, replaced, to_json
from headway.core.device import choose_device
from headway.core.errors import ConfigError, RunError, UsageError
from headway.core.files import read_json, read_tensors, write_json
from headway.models.build import build_model
from headway.models.ensemble import Ensemble
from headway.models.weights import load_tensors
from headway.runs.arguments import require_positive, require_texts
from headway.runs.engine import Engine, find_engine
from headway.tasks.folder import MEMBERS, WEIGHTS, require_weights
from headway.tasks.names import data_class, read_task_name, task_class
from headway.tasks.panels import Panel
from headway.tasks.search import Searcher
from headway.tasks.task import AnyTask, Batches, Judgement, Score
from headway.tasks.uses import (
    Aligns,
    Answered,
    Answers,
    Attends,
    Classified,
    Classifies,
    Detected,
    Detects,
    Explains,
    Generates,
    Map,
    Predicted,
    Predicts,
    Tagged,
    Tags,
    Translated,
    Translates,
)
from headway.training.checkpoint import TrainState, find_checkpoint, read_header
from headway.training.metrics import Metrics, Record
from headway.training.plan import Plan, read_plan

Value = str | int | float | bool | None


class Run:
    """A trained model with its task and plan, read from a directory. `headway.load(folder)` and `headway.train(...)` give one."""

    def __init__(self, folder: str | Path, device: str = "auto") -> None:
        self.folder = Path(folder)
        require_weights(self.folder)
        machine.prepare()
        try:
            name = read_task_name(self.folder)
            self.plan: Plan[object] = read_plan(read_json(self.folder / "plan.json"), data_class(name), str(self.folder / "plan.json"))
            self.task: AnyTask = task_class(name).load(self.plan.data, self.folder)
            built = [build_model(self.plan.model, self.task.sizes) for _ in range(self.plan.ensemble)]
            model = built[0] if len(built) == 1 else Ensemble(built, self.task.averages)
            self.model: nn.Module = model.eval().requires_grad_(False)
        except ConfigError as problem:
            raise RunError(problem.message, problem.hint) from problem
        self._engine_chosen = False
        path = self.folder / WEIGHTS
        load_tensors(self.model, read_tensors(path), path)
        self.model.to(choose_device(device))

    def __repr__(self) -> str:
        scores = "".join(f"; {score.describe()}" for score in self.scores[:3])
        return f"Run({str(self.folder)!r}: {self.plan.task}, {self.plan.model.name}, {self.parameters:,} parameters{scores})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        rows = {"task": self.plan.task, "model": self.plan.model.describe(), "parameters": f"{self.parameters:,}", "kept": self.kept()}
        rows |= {f"{score.name} ({score.part})": score.describe().removeprefix(score.name).strip() for score in self.scores}
        cells = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows.items())
        return f"<b>{html.escape(str(self.folder))}</b><table>{cells}</table>"

    # -- what it is ----------------------------------------------------------------------------------------------------

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.model.parameters())

    @cached_property
    def metrics(self) -> list[Record]:
        """The curves of training."""
        return Metrics(self.folder).read()

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """What the run came to on held-out data, as it was judged at the end of training."""
        path = self.folder / "scores.json"
        if not path.exists():
            return ()
        value = read_json(path)
        try:
            return tuple(from_json(Score, item, str(path)) for item in (value if isinstance(value, list) else [value]))
        except ConfigError as problem:
            raise RunError(problem.message, "delete the file; `headway train --resume` on the run makes it anew.") from problem

    @cached_property
    def members(self) -> tuple["Run", ...]:
        """The runs of an ensemble; none if this is a single model."""
        numbers = range(1, self.plan.ensemble + 1) if self.plan.ensemble > 1 else ()
        return tuple(Run(self.folder / MEMBERS / str(number)) for number in numbers)

    def state(self) -> TrainState | None:
        """Where training stands, from the checkpoint if it is there."""
        path = find_checkpoint(self.folder)
        return read_header(path)[0] if path else None

    def kept(self) -> str:
        """Which weights these are."""
        state = self.state()
        if self.plan.ensemble > 1:
            return f"those of {self.plan.ensemble} members, of each the best"
        if state is None or not state.validations:
            return "the last weights: there was no validation"
        of = f"step {state.best_step:,} of {state.step:,}"
        return f"{of}, the best of {state.validations} validation{'s' * (state.validations != 1)}"

    # -- what it can do ------------------------------------------------------------------------------------------------

    def _unable(self, verb: str) -> UsageError:
        able = ", ".join(f"`{use}`" for use in self.task.uses)
        return UsageError(f"`{self.folder}` was trained for {self.plan.task}, which cannot `{verb}`", f"it can {able}.")

    @overload
    def translate(self, texts: str, beam: int | None = None, penalty: float | None = None, batch: int = 64) -> str: ...  # type: ignore[overload-overlap]
    @overload
    def translate(self, texts: Iterable[str], beam: int | None = None, penalty: float | None = None, batch: int = 64) -> list[str]: ...

    def translate(
        self, texts: str | Iterable[str], beam: int | None = None, penalty: float | None = None, batch: int = 64
    ) -> str | list[str]:
        """The best translation of each text; one text gives one translation. `beam` and `penalty` default to those of the run."""
        found = [t[0].text for t in self.translations([texts] if isinstance(texts, str) else texts, beam, penalty, batch)]
        return found[0] if isinstance(texts, str) else found

    def translations(
        self, texts: Iterable[str], beam: int | None = None, penalty: float | None = None, batch: int = 64, best: int = 1
    ) -> list[list[Translated]]:
        """For each text its `best` translations, best first, with scores and warnings."""
        if not isinstance(self.task, Translates):
            raise self._unable("translate")
        lines = require_texts(texts)
        beam = getattr(self.plan.data, "beam", 5) if beam is None else beam
        penalty = getattr(self.plan.data, "penalty", 1.0) if penalty is None else penalty
        require_positive(beam=beam, batch=batch, best=best)
        if not (math.isfinite(penalty) and penalty >= 0):
            raise UsageError(f"`--penalty {penalty}` should be a number of at least 0", "1 is usual; higher gives longer output.")
        if not self._engine_chosen and isinstance(getattr(self.task, "searcher", None), Searcher):
            self.use_engine("auto")
        return self.task.translate(self.model, lines, beam, penalty, batch, best)

    def use_engine(self, name: Engine, int8: bool = False) -> str:
        """Choose what decodes translations, and return its name."""
        searcher = getattr(self.task, "searcher", None)
        if not isinstance(searcher, Searcher):
            raise self._unable("translate")
        searcher.engine = find_engine(self.folder, searcher, self.model, name, int8, torch.get_num_threads())
        self._engine_chosen = True
        return "ctranslate2" if searcher.engine else "torch"

    def generate(
        self,
        prompt: str = "",
        length: int = 500,
        temperature: float = 0.8,
        top_k: int | None = None,
        top_p: float = 0.95,
        seed: int = 1,
    ) -> str:
        """The prompt's continuation of at most `length` tokens."""
        return "".join(self.stream(prompt, length, temperature, top_k, top_p, seed))

    def stream(
        self,
        prompt: str = "",
        length: int = 500,
        temperature: float = 0.8,
        top_k: int | None = None,
        top_p: float = 0.95,
        seed: int = 1,
    ) -> Iterator[str]:
        """The same, piece by piece as it is written."""
        if not isinstance(self.task, Generates):
            raise self._unable("generate")
        require_positive(length=length)
        require_texts([prompt])
        return islice(self.task.generate(self.model, prompt, temperature, top_k, top_p, seed), length)

    @overload
    def classify(self, inputs: str) -> Classified: ...  # type: ignore[overload-overlap]
    @overload
    def classify(self, inputs: Iterable[str]) -> list[Classified]: ...

    def classify(self, inputs: str | Iterable[str]) -> Classified | list[Classified]:
        """The class of each input (a text, or the path of a picture) with its probabilities; one input gives one answer."""
        if not isinstance(self.task, Classifies):
            raise self._unable("classify")
        found = self.task.classify(self.model, require_texts([inputs] if isinstance(inputs, str) else inputs))
        return found[0] if isinstance(inputs, str) else found

    def tag(self, texts: str | Iterable[str]) -> list[Tagged]:
        """The words of each text with their tags."""
        if not isinstance(self.task, Tags):
            raise self._unable("tag")
        return self.task.tag(self.model, require_texts([texts] if isinstance(texts, str) else texts))

    def answer(self, context: str, question: str) -> Answered:
        """The part of a passage (`context`) that answers the question.

        context    the passage
        question   what is asked
        """
        if not isinstance(self.task, Answers):
            raise self._unable("answer")
        return self.task.answer(self.model, require_texts([context]), require_texts([question]))[0]

    def predict(self, **data: Value) -> Predicted:
        """Predictions for examples that you bring, by the same names as in training: `table=`; `edges=`, `nodes=` ..."""
        if not isinstance(self.task, Predicts):
            raise self._unable("predict")
        return self.task.predict(self.model, self._brought("predict", data))

    def detect(self, paths: str | Iterable[str]) -> list[Detected]:
        """The objects on each picture.

        paths   of the pictures
        """
        if not isinstance(self.task, Detects):
            raise self._unable("detect")
        return self.task.detect(self.model, require_texts([paths] if isinstance(paths, str) else paths))

    def explain(self, given: str) -> list[Panel]:
        """Panels that show what the model does with one input; none where the task has no picture of that.

        given   the input: a text, or the path of a picture
        """
        return self.task.explain(self.model, require_texts([given])[0]) if isinstance(self.task, Explains) else []

    def align(self, sources: Sequence[str], targets: Sequence[str]) -> tuple[list[set[tuple[int, int]]], str]:
        """Links (source word, target word) of each pair, and which attention head they were read from."""
        if not isinstance(self.task, Aligns):
            raise self._unable("align")
        return self.task.align(self.model, require_texts(sources), require_texts(targets), self.folder)

    def attention(self, text: str, target: str | None = None) -> tuple[list[Map], str]:
        """The weights of every attention layer for one input, and what the model wrote (or `target`, if that is given)."""
        if not isinstance(self.task, Attends):
            raise self._unable("inspect")
        return self.task.attention(self.model, require_texts([text])[0], target)

    def evaluate(self, **data: Value) -> Judgement:
        """Scores of examples that you bring, by the same names as in training: `source=`, `target=`; `text=`; `table=` ..."""
        return self.task.evaluate(self.model, self._brought("evaluate", data))

    def batches(self, folder: Path, **data: Value) -> Batches[object]:
        """Batches of examples that you bring, whose files go to `folder`; without any, of the validation part that the run keeps."""
        given = self._brought("evaluate", data) if data else None
        return self.task.given_batches(given, folder, self.plan.training.batch) if data else self.task.validation_batches(self.folder)

    def _brought(self, verb: str, data: Mapping[str, Value]) -> object:
        """Examples that a person brings, as the task's `Data`; numbers such as the beam are those of training, files are not kept."""
        unknown = [name for name in data if name not in self.task.tested]
        if unknown:
            known = ", ".join(f"`{name}`" for name in self.task.tested)
            raise UsageError(f"`{unknown[0]}` is nothing that {self.plan.task} is given to `{verb}`", f"it takes {known}.")
        kept = {name: getattr(self.plan.data, name) for name in self.task.tested}
        numbers = {name: value for name, value in kept.items() if isinstance(value, int | float)}
        return replaced(type(self.plan.data)(), numbers | dict(data), verb)

    def judge(self) -> Judgement:
        """Judge the run on what it keeps of its held-out data, and remember the scores."""
        found = self.task.judge(self.model, self.folder)
        write_json(self.folder / "scores.json", [to_json(score) for score in found.scores])
        self.__dict__.pop("scores", None)
        return found

    def judge_base(self) -> tuple[tuple[Score, ...], tuple[Score, ...]] | None:
        """For a run that began with another: the scores on that run's held-out data, before (of that run) and now (of this one)."""
        folder = self.folder / "base"
        if not (folder / "held_out").is_dir() or not (folder / "scores.json").exists():
            return None
        before = tuple(from_json(Score, item, "scores.json") for item in read_json(folder / "scores.json"))
        try:
            now = self.task.judge(self.model, folder).scores
        except RunError:  # a run of another task keeps other things
            return None
        return before, now
