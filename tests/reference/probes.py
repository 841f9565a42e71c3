"""What is done to a module to see whether it is right: shake it, step through it, ask which parameter is silent, check its gradients."""

from typing import Any

import torch
from torch import Tensor, nn


def shaken(mixer: Any, size: float = 0.1) -> Any:
    """Away from the start, where mistakes may cancel."""
    with torch.no_grad():
        for p in mixer.parameters():
            p.add_(size * torch.randn(p.shape))
    return mixer


def walked(mixer: Any, x: Tensor) -> Tensor:
    state, out = mixer.start(len(x)), []
    for t in range(x.shape[1]):
        y, state = mixer.step(x[:, t], state)
        out.append(y)
    return torch.stack(out, 1)


def silent(module: nn.Module) -> list[str]:
    return [name for name, p in module.named_parameters() if p.grad is None or not p.grad.abs().max() > 1e-9]


def gradients_are_right(module: nn.Module, *inputs: Tensor) -> bool:
    names, values = zip(*module.named_parameters(), strict=True)

    def run(*both: Tensor) -> Tensor:
        return torch.func.functional_call(module, dict(zip(names, both[len(inputs) :], strict=True)), both[: len(inputs)])

    leaves = [x.detach().clone().requires_grad_() for x in (*inputs, *values)]
    return torch.autograd.gradcheck(run, leaves, fast_mode=True)


def pictures(count: int = 4, channels: int = 2, height: int = 7, width: int = 11) -> Tensor:
    return torch.rand(count, channels, height, width)


def scattered(model: Any, share: float = 0.2) -> Any:
    """The model with every number moved, running averages included: there, mistakes do not cancel."""
    with torch.no_grad():
        for tensor in (*model.parameters(), *(b for b in model.buffers() if b.dtype.is_floating_point)):
            tensor.add_(share * torch.rand(tensor.shape))
    return model
