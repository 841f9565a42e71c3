"""A correct mixer, mistakes in it, one class each, and a model with a mistake. `test_check.py` says who notices."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.models.cnn import CNN
from headway.models.cnn import Config as Config  # the options of `Rescaled`


class Decayed(nn.Module):
    """A correct one: h_t = a h_{t-1} + W x_t, a = sigmoid(rate); y_t = tanh(h_t) V."""

    sees, needs_positions = "past", False
    roles = {"V": "matrix"}

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.input, self.rate = nn.Linear(inputs, width), nn.Parameter(torch.linspace(-1.0, 1.0, width))
        self.V = nn.Parameter(torch.randn(width, width) / width**0.5)

    def start(self, batch: int) -> Any:
        return (self.V.new_zeros(batch, len(self.V)),)

    def cell(self, x: Tensor, h: Tensor) -> Tensor:
        return self.rate.sigmoid() * h + self.input(x)

    def step(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        h = self.cell(x, state[0])
        return h.tanh() @ self.V, (h,)

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        state, outputs = self.start(len(x)), []
        for now in x.unbind(1):
            y, state = Decayed.step(self, now, state)
            outputs.append(y)
        return torch.stack(outputs, 1)


class Forgetful(Decayed):
    """`step` begins anew each time."""

    def step(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        return super().step(x, self.start(len(x)))


class Prophet(Decayed):
    """Each position also gets a little of the next one."""

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        y = super().forward(x, keep)
        real = y if keep is None else y * keep[..., None]
        return y + 0.1 * F.pad(real[:, 1:], (0, 0, 0, 1))


class Late(Decayed):
    """Each position gets the output of the one before it."""

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        return F.pad(super().forward(x, keep)[:, :-1], (0, 0, 1, 0))

    def start(self, batch: int) -> Any:
        return (*super().start(batch), self.V.new_zeros(batch, len(self.V)))

    def step(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        y, (h,) = super().step(x, state)
        return state[1], (h, y)


class Unmasked(Decayed):
    """The mean of the whole row is added, padding included."""

    sees = "all"

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        y = super().forward(x, keep)
        return y + y.mean(1, keepdim=True)


class Sociable(Decayed):
    """The mean of the batch is added."""

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        y = super().forward(x, keep)
        return y + y.mean(0, keepdim=True)

    def step(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        y, state = super().step(x, state)
        return y + y.mean(0, keepdim=True), state


class Unused(Decayed):
    """A layer is made and never called."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__(inputs, width)
        self.gate = nn.Linear(inputs, width)


class Noisy(Decayed):
    """A little noise, in evaluation, too; less than the tolerance of the other contracts."""

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        y = super().forward(x, keep)
        return y + 1e-14 * torch.rand_like(y)


class Detached(Decayed):
    """The state is cut out of the gradient."""

    def cell(self, x: Tensor, h: Tensor) -> Tensor:
        return self.rate.sigmoid() * h.detach() + self.input(x)


class Peeking(Decayed):
    """Python looks at a number, which does not exist on the meta device."""

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        if x.abs().max().item() > 1e6:
            x = x.clamp(-1e6, 1e6)
        return super().forward(x, keep)


class Strict(Decayed):
    """`lerp` wants numbers of one type, and autocast rounds those of `input` only."""

    def cell(self, x: Tensor, h: Tensor) -> Tensor:
        return torch.lerp(self.input(x), h, self.rate.sigmoid())


class InPlace(Decayed):
    """The state is changed in place."""

    def step(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        with torch.no_grad():
            state[0].copy_(self.cell(x, state[0]))
        return state[0].tanh() @ self.V, state


class Transposed(Decayed):
    """The state has the batch as its last axis."""

    def start(self, batch: int) -> Any:
        return (self.V.new_zeros(len(self.V), batch),)

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        state, outputs = self.start(len(x)), []
        for now in x.unbind(1):
            y, state = self.step(now, state)
            outputs.append(y)
        return torch.stack(outputs, 1)

    def step(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        y, (h,) = super().step(x, (state[0].T,))
        return y, (h.T,)


class Wide(Decayed):
    """One number more than asked for."""

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        return F.pad(super().forward(x, keep), (0, 1))

    def step(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        y, state = super().step(x, state)
        return F.pad(y, (0, 1)), state


class Undeclared(Decayed):
    """V is a matrix, and nobody says so."""

    roles: dict[str, str] = {}


class Differently(Decayed):
    """Sizes by names that no model knows."""

    def __init__(self, dim: int, width: int) -> None:
        super().__init__(dim, width)


class Everything(Decayed):
    """Sees something that is not a word of the protocol."""

    sees = "everything"


class Half(Decayed):
    """Half of the width is built wrongly, so `forward` raises."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__(inputs, width)
        self.input = nn.Linear(inputs, width // 2)


class Careless(Decayed):
    """The constructor raises."""

    def __init__(self, inputs: int, width: int) -> None:
        raise ZeroDivisionError("the width was divided by nothing")


class Rescaled(CNN):
    """A model that divides its pictures by the largest pixel of the batch."""

    def forward(self, pictures: Tensor) -> Tensor:
        return super().forward(pictures / pictures.amax())


class Neither(nn.Module):
    """A layer, but no mixer."""
