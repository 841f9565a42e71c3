"""Every registered optimizer and schedule learns a small task with the rate it declares, and resumes with the same bits."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from headway.core import registry
from headway.core.config import Choice
from headway.core.errors import ConfigError
from headway.core.files import read_json, read_tensors
from headway.tasks.images import Data
from headway.tasks.recipe import Proposal, Recipe, Training
from headway.tasks.sizing import default_rate
from headway.training.checkpoint import FILE, read_header
from headway.training.loop import Loop
from headway.training.metrics import Metrics
from headway.training.plan import Pace, settle
from headway.training.progress import Progress
from headway.training.session import resume, start

QUIET = Progress(quiet=True)
CHOICES = [{"optimizer": name} for name in registry.entries("optimizers")]
CHOICES += [{"schedule": name, "optimizer": "nesterov"} for name in registry.entries("schedules")]
CHOICES += [{"l1": 1e-4, "beta": 1.0, "l2": 1e-4, "initialisation": "orthogonal"}]


class Killed(BaseException):
    """What nobody answers: nothing is written after it."""


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    found = load_digits()
    np.savez(path, images=(found.images * 15.9).astype(np.uint8)[:600], labels=found.target[:600])
    return path


def recipe(digits: Path, steps: int = 60, **training: object) -> Recipe[object]:
    model = Choice("mlp", {"width": 32, "depth": 1, "dropout": 0.1})
    return Recipe("images", Data(npz=str(digits)), model, Training(steps=steps, batch=32, validate=30, **training))  # type: ignore[arg-type]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda c: " ".join(map(str, c.values())))
def test_it_learns_and_resumes_with_the_same_bits(
    digits: Path, tmp_path: Path, choice: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = recipe(digits, **choice)
    assert start(asked, tmp_path / "whole", QUIET)
    plain = Loop.run

    def kill(step: int) -> bool:
        if step == 47:  # the last checkpoint is of step 42
            raise Killed
        return False

    monkeypatch.setattr(Loop, "run", lambda self, progress=None: plain(self, progress, kill))
    with pytest.raises(Killed):
        start(asked, tmp_path / "cut", QUIET)
    assert read_header(tmp_path / "cut" / FILE)[0].step == 42
    monkeypatch.setattr(Loop, "run", plain)
    assert resume(tmp_path / "cut", QUIET)
    one, other = (read_tensors(tmp_path / name / FILE) for name in ("whole", "cut"))
    assert one.keys() == other.keys() and all(torch.equal(one[n], other[n]) for n in one)
    found = [r.validation for r in Metrics(tmp_path / "whole").read() if r.validation]
    assert found[-1].figures["loss"] < 2.0, "the loss of a guess is log 10 = 2.3"


def test_gradient_descent_reads_everything_before_each_step(digits: Path, tmp_path: Path) -> None:
    assert start(recipe(digits, 3, optimizer="gradient descent"), tmp_path / "run", QUIET)
    plan = read_json(tmp_path / "run" / "plan.json")
    examples = int(plan["fingerprint"]["train"].split()[0])
    assert plan["training"]["optimizer"] == "gradient_descent" and plan["training"]["accumulate"] == -(-examples // 32)
    assert {r.count for r in Metrics(tmp_path / "run").read() if r.count} == {examples}


def test_a_budget_in_minutes_counts_whole_epochs_of_gradient_descent() -> None:
    asked = Recipe("images", Data(), training=Training(minutes=1.0, optimizer="gradient_descent"))
    settings = settle(asked, Proposal(Data(), Choice("mlp"), 32, 0.1), 20, Pace(0.1, 60.0))  # 0.1 s for each of 20 batches
    assert (settings.steps, settings.accumulate) == (30, 20)
    asked = Recipe("images", Data(), training=Training(epochs=7, optimizer="gradient_descent"))
    assert settle(asked, Proposal(Data(), Choice("mlp"), 32, 0.1), 20, None).steps == 7


def test_names_are_checked_with_the_nearest() -> None:
    assert Training(optimizer="SGD", schedule="cosine annealing", initialisation="Kaiming") == Training(
        optimizer="sgd", schedule="cosine", initialisation="he_normal"
    )
    for name, word, guess in (
        ("optimizer", "adamv", "adam"),
        ("schedule", "cosin", "cosine"),
        ("initialisation", "orthogonl", "orthogonal"),
    ):
        with pytest.raises(ConfigError) as caught:
            Training(**{name: word})  # type: ignore[arg-type]
        words = f"`training.{name}` must be the name of a registered {name}, not `{word}`\nHint: did you mean `{guess}"
        assert str(caught.value).startswith(words)
    with pytest.raises(ConfigError, match="leave out `training.accumulate`"):
        Training(optimizer="gradient_descent", accumulate=2)


def test_rates_are_those_that_the_classes_declare() -> None:
    assert default_rate("muon", 8e-3) == 8e-3 and default_rate("adamw") == 1e-3 and default_rate("sgd") == 0.1
    assert all(entry.facts["rate"] > 0 for entry in registry.entries("optimizers").values())
