"""A run: a directory that holds everything, and what can be done with it."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from headway.core import machine
from headway.core.config import from_json
from headway.core.errors import ConfigError, RunError, UsageError
from headway.core.files import expect_run, read_json, read_tensors
from headway.core.recipe import Recipe
from headway.decode.hypothesis import Hypothesis
from headway.train.checkpoint import fill
from headway.train.metrics import Metrics
from headway.train.session import Plan, construct, task_of


class Run:
    """A trained model with its tokenizer and recipe, read from a directory."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        expect_run(self.folder)
        if not (self.folder / "weights.safetensors").exists():
            raise RunError(f"`{folder}` holds no trained weights yet", f"continue it with `headway train --resume {folder}`.")
        machine.prepare()
        try:
            plan = from_json(Plan, read_json(self.folder / "plan.json"), str(self.folder / "plan.json"))
            self.recipe: Recipe = plan.recipe
            self.task = task_of(self.recipe).load(self.recipe, self.folder)
            self.model: Any = construct(self.recipe.model, self.task.vocabularies).eval().requires_grad_(False)
        except ConfigError as problem:
            raise RunError(problem.message, problem.hint) from problem
        path = self.folder / "weights.safetensors"
        fill(self.model, read_tensors(path), path)

    def translate(self, texts: Sequence[str] | str, beam: int = 5, penalty: float = 1.0, batch: int = 64) -> list[str]:
        """The best translation of each text."""
        self.expect("translation", "translate")
        return self.task.translate(self.model, [texts] if isinstance(texts, str) else texts, beam, penalty, batch)

    def search(self, texts: Sequence[str], beam: int = 5, penalty: float = 1.0, batch: int = 64) -> list[list[tuple[str, Hypothesis]]]:
        """Several translations of each text, best first, with their scores."""
        self.expect("translation", "translate")
        return self.task.search(self.model, texts, beam, penalty, batch)

    def generate(
        self, prompt: str = "", temperature: float = 0.8, top_k: int | None = None, top_p: float = 0.95, seed: int = 1
    ) -> Iterator[str]:
        """The continuation of a prompt, piece by piece and without end: `itertools.islice` takes as much as is wanted."""
        self.expect("language", "generate")
        return self.task.generate(self.model, prompt, temperature, top_k, top_p, seed)

    def expect(self, task: str, verb: str) -> None:
        """Whether the run can do what is asked of it."""
        if self.recipe.task != task:
            able = {"translation": "translate", "language": "generate"}[self.recipe.task]
            raise UsageError(
                f"`{self.folder}` was trained for {self.recipe.task}, and `{verb}` needs a run of {task}",
                f"`headway {able} {self.folder} ...` is what it can do.",
            )

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        return Metrics(self.folder).read()

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.model.parameters())
