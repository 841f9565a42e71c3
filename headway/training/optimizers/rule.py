"""What the update rules share: which parameters have a gradient, what weight decay adds to it, and where moments are kept.

Letters: w parameters, g gradients, r the learning rate (`lr`). Every list holds one tensor for each parameter, and `torch._foreach_*`
does the same to all of them in one call. Weight decay is that of the books: g <- g + decay w, the gradient of decay |w|^2 / 2. For plain
gradient descent this is the same as shrinking w; where g is divided by its own size it is not (`adamw.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import torch
from torch import Tensor

Tensors = list[Tensor]
Group = dict[str, Any]  # parameters (`params`) and their options: `lr`, `weight_decay` ...
Groups = Iterable[Tensor] | Iterable[Group]


class Rule(torch.optim.Optimizer, ABC):
    """An optimizer that is known by one equation for w: `update`."""

    aliases: ClassVar[tuple[str, ...]]
    rate: ClassVar[float]  # the highest learning rate that it is used with unless a person chooses another

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            w = [p for p in group["params"] if p.grad is not None]
            if not w:
                continue
            self.update(group, w, self.decayed(group, w, [p.grad for p in w]))

    def decayed(self, group: Group, w: Tensors, g: Tensors) -> Tensors:
        """The gradient with that of weight decay."""
        return list(torch._foreach_add(g, w, alpha=group["weight_decay"])) if group["weight_decay"] else g

    @abstractmethod
    def update(self, group: Group, w: Tensors, g: Tensors) -> None:
        """Change w in place; g must not be changed."""

    def moments(self, name: str, w: Tensors, first: float = 0.0) -> Tensors:
        """What is kept from step to step for each parameter, under this name; `first` before the first step."""
        for p in w:
            if name not in self.state[p]:
                self.state[p][name] = torch.full_like(p, first)
        return [self.state[p][name] for p in w]

    def counts(self, w: Tensors) -> list[int]:
        """The number of this step for each parameter, from 1 on."""
        for p in w:
            count = self.state[p].setdefault("step", torch.zeros((), dtype=torch.float32))
            count += 1
        return [int(self.state[p]["step"]) for p in w]
