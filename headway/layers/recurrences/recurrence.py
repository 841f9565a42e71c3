"""What Elman, LSTM and GRU share: z_t = cell(W x_t, z_{t-1}), over a whole sequence or one step at a time."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

State = tuple[Float[Tensor, "b d"], ...]


class GatedRecurrence(nn.Module):
    """A mixer made from a cell. Subclasses say how many gates and state vectors they have, and write `cell`.

    The products W x_t of all positions are one matrix product; only what depends on the previous state is done in order.
    """

    causal = True
    gates: int  # the cell sees `gates * width` numbers per position
    vectors: int  # state vectors; the first one is the output

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.input = nn.Linear(inputs, self.gates * width)
        self.hidden = nn.Linear(width, self.gates * width)
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
        return self.scan(x, keep)[0]

    def scan(
        self,
        x: Float[Tensor, "b t i"],
        keep: Bool[Tensor, "b t"] | None = None,
        state: State | None = None,
        backward: bool = False,
    ) -> tuple[Float[Tensor, "b t d"], State]:
        """All outputs and the last state. At padding the state stands still, so the last state is that of the last real token."""
        wx = self.input(x).unbind(1)
        state = state or self.start(x.shape[0])
        padded = [False] * len(wx) if keep is None else (~keep.all(0)).tolist()
        outputs: list[Tensor] = [x] * len(wx)
        for t in reversed(range(len(wx))) if backward else range(len(wx)):
            after = self.cell(wx[t], state)
            if keep is not None and padded[t]:
                after = tuple(torch.where(keep[:, t, None], new, old) for new, old in zip(after, state, strict=True))
            state = after
            outputs[t] = state[0]
        return torch.stack(outputs, 1), state
