"""Networks whose answers are known, as subjects of the probes."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headway.data.labelled_batches import LabelledBatch
from headway.probe.subject import Subject
from headway.tasks.task import Loss


@dataclass(frozen=True)
class Rows:
    """A batch of vectors or sequences."""

    x: Tensor


def mean_square(model: nn.Module, batch: Rows) -> Loss:
    total = model(batch.x).square().flatten(1).mean(1).sum()
    return Loss(total, total.detach(), len(batch.x))


def classes(model: nn.Module, batch: LabelledBatch) -> Loss:
    total = nn.functional.cross_entropy(model(*batch.inputs), batch.labels, reduction="sum")
    return Loss(total, total.detach(), len(batch.labels))


def subject(model: nn.Module, *batches: object, loss=mean_square, fresh=None, optimizer="sgd", rate=0.1) -> Subject:
    made = Subject(model, batches, loss, fresh or (lambda: model), optimizer, rate)
    return made.in_double_precision()


def linear(matrix: Tensor, bias: Tensor | None = None) -> nn.Linear:
    layer = nn.Linear(matrix.shape[1], matrix.shape[0])
    with torch.no_grad():
        layer.weight.copy_(matrix)
        layer.bias.copy_(torch.zeros(len(matrix)) if bias is None else bias)
    return layer


def tents(k: int) -> nn.Sequential:
    """The k-th iterate of the tent map 2 relu(x) - 4 relu(x - 1/2) on [0, 1]: 2^k linear pieces (Telgarsky 2016)."""
    layers: list[nn.Module] = []
    for _ in range(k):
        layers += [linear(torch.tensor([[1.0], [1.0]]), torch.tensor([0.0, -0.5])), nn.ReLU(), linear(torch.tensor([[2.0, -4.0]]))]
    return nn.Sequential(*layers)
