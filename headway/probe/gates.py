"""The units of a network that are on or off: the signs of what goes into relu, leaky relu, gelu and silu."""

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

GATES = ("relu", "relu_", "leaky_relu", "leaky_relu_", "gelu", "silu")


class Gates(TorchFunctionMode):
    """Records what goes into every such function while it is active, also where a model calls it without a module."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in GATES and isinstance(args[0], Tensor):
            self.inputs.append(torch.clone(args[0]))  # some write their result into their input
        return func(*args, **(kwargs or {}))
