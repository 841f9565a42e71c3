"""What recurrences with a cell share: z_t = cell(W x_t, z_{t-1}), over a whole sequence or one step at a time."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.parametrize import cached

from headway.layers.linear import Linear
from headway.layers.padding import require_right_padding

State = tuple[Float[Tensor, "b d"], ...]


class GatedRecurrence(nn.Module):
    """A mixer made from a cell. Subclasses say how many gates and state vectors they have, and write `cell`.

    The products W x_t of all positions are one matrix product; only what depends on the previous state is done in order. Cells that
    torch has a fused kernel for name it (`fused`): it is used for whole sequences, and the written-out cell for single steps and
    padding. A test checks that both agree.
    """

    causal = True
    gates: int  # the cell sees `gates * width` numbers per position
    vectors: int  # state vectors; the first one is the output
    fused: Any = None  # torch's kernel with the same order of gates

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.input = Linear(inputs, self.gates * width)
        self.hidden = Linear(width, self.gates * width)
        for parameter in self.parameters():  # as torch.nn.RNN does
            nn.init.uniform_(parameter, -(width**-0.5), width**-0.5)

    def cell(self, wx: Float[Tensor, "b gd"], state: State) -> State:
        """The next state from the projected input and the previous state."""
        raise TypeError(f"`{type(self).__name__}` is a recurrence without a cell")

    def start(self, batch: int) -> State:
        zero = self.hidden.weight.new_zeros(batch, self.width)
        return (zero,) * self.vectors

    def step(self, x: Float[Tensor, "b i"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        state = self.cell(self.input(x), state)
        return state[0], state

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """Padding on the right is in the future of all that is kept, so `keep` changes nothing."""
        require_right_padding(keep)
        return self.scan(x)[0]

    def scan(
        self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None, state: State | None = None
    ) -> tuple[Float[Tensor, "b t d"], State]:
        """All outputs and the last state. At padding the state stands still, so the last state is that of the last real token."""
        require_right_padding(keep)
        state = state or self.start(x.shape[0])
        if not x.numel():
            return x.new_zeros(*x.shape[:2], self.width), state
        if self.fused is not None and (keep is None or bool(keep.all())):
            return self._fuse(x, state)
        with cached():  # a parametrized matrix is computed once for all positions
            return self._walk(x, keep, state)

    def _fuse(self, x: Float[Tensor, "b t i"], state: State) -> tuple[Float[Tensor, "b t d"], State]:
        weights = [self.input.weight, self.hidden.weight, self.input.bias, self.hidden.bias]
        before = tuple(z.unsqueeze(0) for z in state)  # layers come first in torch
        options = {
            "has_biases": True,
            "num_layers": 1,
            "dropout": 0.0,
            "train": self.training,
            "bidirectional": False,
            "batch_first": True,
        }
        y, *after = self.fused(x, before if self.vectors > 1 else before[0], weights, **options)
        return y, tuple(z.squeeze(0) for z in after)

    def _walk(
        self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None, state: State
    ) -> tuple[Float[Tensor, "b t d"], State]:
        """The written-out cell, position by position."""
        wx = self.input(x).unbind(1)
        padded = [False] * len(wx) if keep is None else (~keep.all(0)).tolist()
        outputs: list[Tensor] = [x] * len(wx)
        for t in range(len(wx)):
            after = self.cell(wx[t], state)
            if keep is not None and padded[t]:
                after = tuple(torch.where(keep[:, t, None], new, old) for new, old in zip(after, state, strict=True))
            state = after
            outputs[t] = state[0]
        return torch.stack(outputs, 1), state
