"""A model, its running average and its optimizers: what one step changes."""

import copy
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from headway.core import registry
from headway.layers.roles import ROLES, Role, roles
from headway.models.weights import saved_tensors
from headway.training.optimizers.adamw import fused_adamw
from headway.training.optimizers.rule import Group
from headway.training.penalties import beta_lasso, l1, l2
from headway.training.plan import Settings

DECAYED: tuple[Role, ...] = ("matrix", "map", "table")


@dataclass
class Parameters:
    """The parameters of one optimizer: those that are decayed, and the others."""

    decayed: list[nn.Parameter] = field(default_factory=list)
    plain: list[nn.Parameter] = field(default_factory=list)

    def add(self, parameter: nn.Parameter, role: Role) -> None:
        (self.decayed if role in DECAYED else self.plain).append(parameter)

    def groups(self, decay: float) -> list[Group]:
        found: list[Group] = [
            {"params": self.decayed, "weight_decay": decay},
            {"params": self.plain, "weight_decay": 0.0},
        ]
        return [group for group in found if group["params"]]


class Learner:
    """Updates a model from its gradients, and a running average of its weights with it.

    Which optimizer a parameter belongs to follows from the role that its layer declares (`layers/roles.py`). One that `takes` some roles
    only, as Muon does the matrices, leaves the others to AdamW. Matrices, maps and tables are decayed and penalised, the others are not.

    average   a copy of the model, for the running average (default: made here)
    """

    def __init__(self, model: nn.Module, settings: Settings, average: nn.Module | None = None) -> None:
        self.model = model
        self.average = (copy.deepcopy(model) if average is None else average).eval().requires_grad_(False)
        declared = roles(model)
        entry = registry.get("optimizers", settings.optimizer)
        takes = entry.facts.get("takes", ROLES)
        mine, others = Parameters(), Parameters()
        for name, parameter in model.named_parameters():
            (mine if declared[name] in takes else others).add(parameter, declared[name])
        self.penalised = [*mine.decayed, *others.decayed]
        self.l1, self.l2, self.beta = settings.l1, settings.l2, settings.beta
        make = fused_adamw if entry.name == "adamw" else entry.load()
        pairs = ((mine, make), (others, fused_adamw))
        self.optimizers: list[torch.optim.Optimizer] = [
            make(groups, settings.rate) for each, make in pairs if (groups := each.groups(settings.decay))
        ]
        self.averaged: list[Tensor] = list(self.average.parameters())
        self.parameters = list(model.parameters())
        buffers = saved_tensors(model).keys() - dict(model.named_parameters()).keys()
        self.counted = [
            (dict(self.average.named_buffers())[n], dict(model.named_buffers())[n]) for n in sorted(buffers)
        ]

    @torch.no_grad()  # else the average would keep the history of all its steps
    def step(self, rate: float, norm: Tensor, clip: float, average: float) -> None:
        """One update from the gradients that are there; `norm` is theirs, and larger ones are scaled down to `clip`."""
        nn.utils.clip_grads_with_norm_(self.parameters, clip, norm)
        penalised = [p for p in self.penalised if p.grad is not None]
        if self.l1 and penalised:
            l1(penalised, self.l1)
        if self.l2 and penalised:
            l2(penalised, self.l2)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
        if self.beta:
            beta_lasso(penalised, self.l1, self.beta)
        torch._foreach_lerp_(self.averaged, self.parameters, 1 - average)  # type: ignore[arg-type]
        for mine, counted in self.counted:  # statistics such as those of batch norm are taken over, not averaged
            mine.copy_(counted)
        self.model.zero_grad(set_to_none=True)

    def norm(self) -> Tensor:
        """The norm of all gradients together."""
        return nn.utils.get_total_norm([p.grad for p in self.parameters if p.grad is not None])

    def whole_average(self) -> nn.Module:
        """The averaged model, to be used and written; all processes ask for it together."""
        return self.average

    def tensors(self) -> dict[str, Tensor]:
        """Everything that a step changes, by name: weights, their average, the moments of the optimizers."""
        named = {f"model/{n}": p for n, p in saved_tensors(self.model).items()}
        named |= {f"average/{n}": p for n, p in saved_tensors(self.average).items()}
        for name, parameter in self.model.named_parameters():
            for optimizer in self.optimizers:
                named |= {f"optimizer/{name}/{key}": value for key, value in optimizer.state.get(parameter, {}).items()}
        return named

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what `tensors` gave; moments that it does not hold are forgotten."""
        with torch.no_grad():
            for name, mine in self.tensors().items():
                if not name.startswith("optimizer/"):
                    mine.copy_(self.fitted(mine, tensors[name]))
        owners = {id(p): o for o in self.optimizers for group in o.param_groups for p in group["params"]}
        for name, parameter in self.model.named_parameters():
            found = {n.rpartition("/")[2]: t for n, t in tensors.items() if n.rpartition("/")[0] == f"optimizer/{name}"}
            there = parameter.device  # what was read from a file is in the memory of the processor
            owners[id(parameter)].state[parameter] = {
                k: self.fitted(parameter, t.to(there)).clone() for k, t in found.items()
            }

    def fitted(self, mine: Tensor, found: Tensor) -> Tensor:
        """What was found, kept as mine is."""
        return found
