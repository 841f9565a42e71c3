"""A model, its running average and its optimizers: what one step changes."""

import copy

import torch
from torch import Tensor, nn

from headway.layers.roles import Role, roles
from headway.models.weights import saved_tensors
from headway.training.muon import Muon
from headway.training.plan import Settings


class Learner:
    """Updates a model from its gradients, and a running average of its weights with it.

    Which optimizer a parameter belongs to follows from the role that its layer declares (`layers/roles.py`): matrices go to Muon if that
    is asked for, everything else to AdamW; matrices, maps and tables are decayed, vectors and rates are not.
    """

    def __init__(self, model: nn.Module, settings: Settings) -> None:
        self.model = model
        self.average = copy.deepcopy(model).eval().requires_grad_(False)
        groups: dict[Role, list[nn.Parameter]] = {}
        declared = roles(model)
        for name, parameter in model.named_parameters():
            groups.setdefault(declared[name], []).append(parameter)
        decayed = [p for role in ("map", "table") for p in groups.get(role, [])]  # type: ignore[call-overload]
        plain = [p for role in ("vector", "rate") for p in groups.get(role, [])]  # type: ignore[call-overload]
        matrices = groups.get("matrix", [])
        self.optimizers: list[torch.optim.Optimizer] = []
        if settings.optimizer == "muon" and matrices:
            self.optimizers.append(Muon(matrices, settings.rate, weight_decay=settings.decay))
            matrices = []
        adamw = [
            {"params": [*matrices, *decayed], "weight_decay": settings.decay},
            {"params": plain, "weight_decay": 0.0},
        ]
        if any(group["params"] for group in adamw):
            self.optimizers.append(torch.optim.AdamW(adamw, lr=settings.rate, betas=(0.9, 0.98), fused=True))
        self.averaged, self.parameters = list(self.average.parameters()), list(model.parameters())
        buffers = saved_tensors(model).keys() - dict(model.named_parameters()).keys()
        self.counted = [
            (dict(self.average.named_buffers())[n], dict(model.named_buffers())[n]) for n in sorted(buffers)
        ]

    def step(self, rate: float, norm: Tensor, clip: float, average: float) -> None:
        """One update from the gradients that are there; `norm` is theirs, and larger ones are scaled down to `clip`."""
        nn.utils.clip_grads_with_norm_(self.parameters, clip, norm)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
        torch._foreach_lerp_(self.averaged, self.parameters, 1 - average)  # type: ignore[arg-type]
        for mine, counted in self.counted:  # statistics such as those of batch norm are taken over, not averaged
            mine.copy_(counted)
        self.model.zero_grad(set_to_none=True)

    def norm(self) -> Tensor:
        """The norm of all gradients together."""
        return nn.utils.get_total_norm([p.grad for p in self.parameters if p.grad is not None])

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
            for prefix, model in (("model/", self.model), ("average/", self.average)):
                for name, mine in saved_tensors(model).items():
                    mine.copy_(tensors[prefix + name])
        owners = {id(p): o for o in self.optimizers for group in o.param_groups for p in group["params"]}
        for name, parameter in self.model.named_parameters():
            found = {n.rpartition("/")[2]: t for n, t in tensors.items() if n.rpartition("/")[0] == f"optimizer/{name}"}
            owners[id(parameter)].state[parameter] = {key: value.clone() for key, value in found.items()}
