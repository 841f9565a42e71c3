"""A model that is kept in parts: each process holds its rows of the weights, of their average and of the moments (`--shard`).

torch's `fully_shard` gathers the weights of a block just before it computes, and gives each process the gradients of its own rows
afterwards. So n processes need about 1/n of the memory of one each, for more talk between them. The numbers are the same.
Rajbhandari et al. 2020, https://arxiv.org/abs/1910.02054; Zhao et al. 2023, https://arxiv.org/abs/2304.11277.

Process 0 also has the whole average, to validate it and to write it down.
"""

import warnings
from collections import Counter
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from headway.models.weights import saved_tensors
from headway.training.gradients import LossOf, SharedGradients
from headway.training.learner import Learner
from headway.training.plan import Settings
from headway.training.processes import Processes
from headway.training.shares import moved

B = TypeVar("B")


class ShardedGradients(SharedGradients[B]):
    """Computed by several processes together; each has the gradients of its own rows afterwards."""

    def wrapped(self, computed: LossOf[B]) -> nn.Module:
        mesh = init_device_mesh(self.device.type, (self.processes.world,))
        # torch warns, for every layer, of operations in place on what a layer returns; no model here has one
        warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view tensor")
        for part in closed_parts(computed, moved(self.batches.largest(), self.device)):
            fully_shard(part, mesh=mesh, reshard_after_forward=True)
        fully_shard(computed, mesh=mesh, reshard_after_forward=True)
        return computed


def closed_parts(computed: LossOf[B], batch: B) -> list[nn.Module]:
    """The repeated blocks of a model, or layers of them, whose weights nobody reads but their own `forward`.

    Only those can be gathered when they are called; all other weights are gathered for the whole pass. Which they are is seen in a trial:
    a layer of a block that computes while the block does not was called from outside (such as the keys of a memory).
    """
    trial = computed.trial()
    blocks = [
        f"{name}.{n}"
        for name, m in trial.named_modules()
        if isinstance(m, nn.ModuleList)
        for n, _ in m.named_children()
    ]
    names = [*blocks, *(f"{block}.{n}" for block in blocks for n, _ in trial.get_submodule(block).named_children())]
    running, called = Counter[str](), set[str]()
    opened = {name for name in names if _shares_weights(trial, name)}

    def enter(name: str) -> None:
        called.add(name)
        running[name] += 1

    for name in names:
        part = trial.get_submodule(name)
        part.register_forward_pre_hook(lambda *_, name=name: enter(name))
        part.register_forward_hook(lambda *_, name=name: running.subtract([name]))
        for layer in [m for m in part.modules() if m is not part]:
            layer.register_forward_pre_hook(lambda *_, name=name: None if running[name] else opened.add(name))
    with torch.no_grad():
        trial(batch)
    closed = [n for n in names if n in called - opened and any(True for _ in trial.get_submodule(n).parameters())]
    outermost = [name for name in closed if not any(name.startswith(f"{other}.") for other in closed)]
    return [computed.get_submodule(name) for name in outermost]


def _shares_weights(model: nn.Module, name: str) -> bool:
    """Whether a weight of this part has another name elsewhere."""
    inside = {id(p) for p in model.get_submodule(name).parameters()}
    return any(
        id(p) in inside and not n.startswith(f"{name}.") for n, p in model.named_parameters(remove_duplicate=False)
    )


class ShardedLearner(Learner):
    """The learner of a model that is kept in parts.

    whole   a copy of the model from before it was divided: what process 0 validates; the others keep its shapes alone
    """

    def __init__(self, model: nn.Module, settings: Settings, whole: nn.Module, processes: Processes) -> None:
        super().__init__(model, settings, whole if processes.first else whole.to("meta"))
        self.averaged = [p.detach().clone() for p in self.parameters]

    def whole_average(self) -> nn.Module:
        with torch.no_grad():
            for mine, part in zip(self.average.parameters(), self.averaged, strict=True):
                mine.copy_(_whole(part))  # nothing is kept of what is copied into a shape alone
        return self.average

    def norm(self) -> Tensor:
        return _whole(super().norm())

    def tensors(self) -> dict[str, Tensor]:
        named = super().tensors()
        weights = dict(zip((name for name, _ in self.model.named_parameters()), self.averaged, strict=True))
        counted = {name: tensor for name, tensor in saved_tensors(self.model).items() if name not in weights}
        return named | {f"average/{name}": tensor for name, tensor in (weights | counted).items()}

    def fitted(self, mine: Tensor, found: Tensor) -> Tensor:
        if isinstance(mine, DTensor) and not isinstance(found, DTensor) and found.shape == mine.shape:
            return distribute_tensor(found, mine.device_mesh, mine.placements)
        return found


def _whole(tensor: Tensor) -> Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
