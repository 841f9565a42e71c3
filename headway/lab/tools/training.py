"""Networks trained by the learner of every run (`training/learner.py`), on examples in memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.random import Generator
from torch import Tensor, nn

from headway.models.classifier import Classifier
from headway.training.learner import Learner
from headway.training.plan import Settings
from headway.training.schedules import rate_factor

M = TypeVar("M", bound=nn.Module)
Loss = Callable[[Tensor, Tensor], Tensor]  # of outputs and targets


@contextmanager
def seeded(rng: Generator) -> Iterator[None]:
    """Initial weights and dropout drawn from `rng`; the state of torch's own generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**62)))
        yield


def outputs(model: nn.Module, x: Tensor) -> Tensor:
    """Scores of the classes, or predicted numbers: of a registered model those of its head."""
    found: Tensor = model.logits(model(x)) if isinstance(model, Classifier) else model(x)
    return found


def fit(
    model: nn.Module, x: np.ndarray, y: np.ndarray, settings: Settings, rng: Generator, loss: Loss = F.cross_entropy
) -> list[float]:
    """Train in place, on batches of a new order in each epoch; the loss of each step."""
    learner, found = Learner(model, settings), []
    inputs, targets, order = torch.as_tensor(x), torch.as_tensor(y), np.empty(0, dtype=int)
    model.train()
    with seeded(rng):
        for step in range(settings.steps):
            order = order if len(order) >= settings.batch else np.append(order, rng.permutation(len(x)))
            rows, order = torch.as_tensor(order[: settings.batch]), order[settings.batch :]
            value = loss(outputs(model, inputs[rows]), targets[rows])
            value.backward()
            rate = settings.rate * rate_factor(settings.schedule, step, settings.steps, settings.warmup)
            learner.step(rate, learner.norm(), settings.clip, 0.0)
            found.append(float(value.detach()))
    model.eval()
    return found


def descended(optimizer: torch.optim.Optimizer, loss: Callable[[], Tensor], steps: int) -> list[float]:
    """The loss before each step of an optimizer on it."""
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        found.append(float(value.detach()))
    return found


def trained(
    make: Callable[[], M], x: np.ndarray, y: np.ndarray, settings: Settings, rng: Generator, loss: Loss = F.cross_entropy
) -> M:
    """A new network whose first weights are drawn from `rng`, after `fit`."""
    with seeded(rng):
        model = make()
    fit(model, x, y, settings, rng, loss)
    return model


@torch.no_grad()
def predict(model: nn.Module, x: np.ndarray) -> np.ndarray:
    """Outputs without dropout, one row for each example."""
    model.eval()
    return np.concatenate(
        [outputs(model, torch.as_tensor(part)).numpy() for part in np.array_split(x, max(1, len(x) // 4096))]
    )


def accuracy(model: nn.Module, x: np.ndarray, y: np.ndarray) -> float:
    """The share of examples whose class has the highest score."""
    return float(np.mean(predict(model, x).argmax(1) == y))
