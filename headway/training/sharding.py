"""A model that is kept in parts: each process holds its rows of the weights, of their average and of the moments (`--shard`).

torch's `fully_shard` gathers the weights of a block just before it computes, and gives each process the gradients of its own rows
afterwards. So n processes need about 1/n of the memory of one each, for more talk between them. The numbers are the same.
Rajbhandari et al. 2020, https://arxiv.org/abs/1910.02054; Zhao et al. 2023, https://arxiv.org/abs/2304.11277.

Process 0 also has the whole average, in the working memory of the CPU, to validate it and to write it down.
"""

from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from headway.training.gradients import LossOf, SharedGradients
from headway.training.learner import Learner
from headway.training.plan import Settings
from headway.training.shares import moved

B = TypeVar("B")


class ShardedGradients(SharedGradients[B]):
    """Computed by several processes together; each has the gradients of its own rows afterwards."""

    def wrapped(self, computed: LossOf[B]) -> nn.Module:
        mesh = init_device_mesh(self.device.type, (self.processes.world,))
        for block in called_blocks(computed, moved(self.batches.largest(), self.device)):
            fully_shard(block, mesh=mesh, reshard_after_forward=True)
        fully_shard(computed, mesh=mesh, reshard_after_forward=True)
        return computed


def called_blocks(computed: LossOf[B], batch: B) -> list[nn.Module]:
    """The repeated parts of a model that compute by being called: a weight that is read in another way stays with the rest."""
    trial = computed.trial()
    names = [
        f"{name}.{child}"
        for name, part in trial.named_modules()
        if isinstance(part, nn.ModuleList)
        for child, _ in part.named_children()
    ]
    names = [name for name in names if not any(name.startswith(f"{other}.") for other in names)]  # the outermost
    called: set[str] = set()
    for name in names:
        trial.get_submodule(name).register_forward_hook(lambda *_, name=name: called.add(name))
    with torch.no_grad():
        trial(batch)
    found = {id(block): block for name in names if name in called for block in [computed.get_submodule(name)]}
    return [block for block in found.values() if any(True for _ in block.parameters())]


class ShardedLearner(Learner):
    """The learner of a model that is kept in parts.

    whole   a copy of the model from before it was divided: what is validated
    """

    def __init__(self, model: nn.Module, settings: Settings, whole: nn.Module) -> None:
        super().__init__(model, settings, whole)
        self.averaged = [p.detach().clone() for p in self.parameters]

    def whole_average(self) -> nn.Module:
        with torch.no_grad():
            for mine, part in zip(self.average.parameters(), self.averaged, strict=True):
                mine.copy_(_whole(part))
        return self.average

    def norm(self) -> Tensor:
        return _whole(super().norm())

    def tensors(self) -> dict[str, Tensor]:
        names = [f"average/{name}" for name, _ in self.model.named_parameters()]
        return super().tensors() | dict(zip(names, self.averaged, strict=True))

    def fitted(self, mine: Tensor, found: Tensor) -> Tensor:
        if isinstance(mine, DTensor) and not isinstance(found, DTensor) and found.shape == mine.shape:
            return distribute_tensor(found, mine.device_mesh, mine.placements)
        return found


def _whole(tensor: Tensor) -> Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
