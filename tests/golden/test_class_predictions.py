"""How answers are judged: against scikit-learn, and in the words that a person reads."""

import types

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.metrics import accuracy_score, f1_score, log_loss
from torch import Tensor, nn

from headway.data.labelled_batches import LabelledBatch, TextBatches
from headway.tasks.answers import Predictions, label_loss
from headway.tasks.labels import Classes

NAMES = ("bad", "fair", "good")


def predictions(count: int, seed: int = 1) -> Predictions:
    draw = np.random.default_rng(seed)
    logs = torch.from_numpy(draw.normal(0, 2, (count, 3))).log_softmax(-1).numpy()
    return Predictions(logs, draw.integers(0, 3, count), NAMES)


class Counts(nn.Module):
    """A classifier whose logits are how often the tokens 1, 2 and 3 occur."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, ids: Tensor, keep: Tensor) -> Tensor:
        return torch.stack([((ids == token) & keep).sum(1) for token in (1, 2, 3)], -1) * self.scale

    def logits(self, hidden: Tensor) -> Tensor:
        return hidden


def test_figures_are_those_of_scikit_learn() -> None:
    p = predictions(300)
    found = p.validation(str).figures
    assert found["accuracy"] == pytest.approx(accuracy_score(p.true, p.predicted))
    assert found["macro F1"] == pytest.approx(f1_score(p.true, p.predicted, average="macro"))
    assert found["loss"] == pytest.approx(log_loss(p.true, p.probabilities))


def test_accuracy_ranks_and_the_loss_breaks_ties_or_decides_for_few() -> None:
    true = np.arange(300) % 3

    def score(wrong: int, confidence: float, count: int = 300) -> float:
        answers = np.where(np.arange(300) < wrong, (true + 1) % 3, true)
        logs = np.log(np.eye(3)[answers] * (confidence - (1 - confidence) / 2) + (1 - confidence) / 2)
        return Predictions(logs[:count], true[:count], NAMES).validation(str).score

    assert score(5, 0.4) > score(6, 0.97), "one more right answer outweighs a far lower loss"
    assert score(5, 0.9) > score(5, 0.8), "of equally accurate weights the surer"
    assert score(5, 0.4, 99) < score(6, 0.97, 99), "few examples are ranked by the loss"


def test_answers_come_back_in_the_order_of_the_examples() -> None:
    ids = [[1, 1, 1, 1, 1], [2], [3, 3, 3], [1, 1], [2, 2, 2, 2]]
    batches = TextBatches(ids, np.array([0, 1, 2, 0, 0]), budget=6, seed=1, padding=0)
    assert len(batches) > 1
    found = Predictions.of(Counts(), batches, NAMES)
    assert found.predicted.tolist() == [0, 1, 2, 0, 1] and found.true.tolist() == [0, 1, 2, 0, 0]
    assert found.samples(lambda i: f"text {i}", 2)[0][:3] == ("text 4", "fair", "bad"), "the wrong answer comes first"
    assert found.samples(lambda i: f"text {i}", 2)[1][:3] == ("text 1", "fair", "fair"), (
        "then the least sure of the right ones"
    )
    (first, *_) = found.classified([("a note",)] * 5)
    assert first.label == "bad" and next(iter(first.probabilities)) == "bad" and first.warnings == ("a note",)


@pytest.mark.parametrize("training", [True, False])
def test_the_loss_is_torchs_smoothed_only_in_training(training: bool) -> None:
    ids = torch.tensor([[1, 2, 0], [3, 3, 1], [2, 0, 0]])
    batch = LabelledBatch((ids, ids != 0), torch.tensor([0, 2, 1]))
    model = Counts().train(training)
    logits = model(*batch.inputs)
    found = label_loss(model, batch, 0.1)
    assert found.count == 3 and torch.allclose(found.plain, F.cross_entropy(logits, batch.labels, reduction="sum"))
    smoothed = F.cross_entropy(logits, batch.labels, reduction="sum", label_smoothing=0.1 if training else 0.0)
    assert torch.allclose(found.total, smoothed) and found.total.requires_grad and not found.plain.requires_grad


def test_the_verdict_compares_with_the_most_frequent_class() -> None:
    true = np.array([0] * 70 + [1] * 20 + [2] * 10)

    def judged(predicted: np.ndarray) -> str:
        logs = np.log(np.eye(3)[predicted] * 0.97 + 0.01)
        return Predictions(logs, true, NAMES).judgement("test", "bad", str, {"test": 100}, "texts", ()).verdict

    assert judged(np.zeros(100, dtype=int)).startswith("no better than always answering `bad` (70.0% right)")
    assert judged(np.where(np.arange(100) < 22, 2, true)).startswith("no better than"), "78 of 100 may be chance"
    assert judged(np.where(np.arange(100) < 12, 2, true)).startswith(
        "right for 88.0% of the examples; always answering `bad`"
    )
    wrong = np.where(np.arange(100) < 12, 2, np.where(np.arange(100) == 75, 0, true))
    made = Predictions(np.log(np.eye(3)[wrong] * 0.97 + 0.01), true, NAMES).judgement(
        "test", "bad", str, {}, "texts", ("cut",)
    )
    assert made.notes == ("most frequent confusions: `bad` taken for `good` 12 x, `fair` taken for `bad` 1 x", "cut")


def test_classes_of_another_run_are_kept_if_it_knows_them_all() -> None:
    base = types.SimpleNamespace(classes=Classes(("x", "c", "a"), (1, 1, 1)))
    assert Classes.of(["a", "c", "a"], base) == Classes(("x", "c", "a"), (0, 1, 2))
    assert Classes.of(["a", "c", "b"], base) == Classes(("a", "b", "c"), (1, 1, 1))
    assert (
        Classes.of(["b", "a"], object()) == Classes(("a", "b"), (1, 1)) and Classes.of(["b", "b", "a"]).majority == "b"
    )
