import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.recurrences.recurrence import GatedRecurrence, State


class Bidirectional(nn.Module):
    """Both directions, concatenated: y_t = [forward_t ; backward_t], each of half the width.

    Schuster & Paliwal 1997, https://doi.org/10.1109/78.650093. Sees the future, so it serves encoders only.
    """

    aliases = ("bidirectional RNN", "BiRNN", "BiLSTM")
    causal = False

    def __init__(self, cell: type[GatedRecurrence], inputs: int, width: int) -> None:
        super().__init__()
        self.ahead, self.back = cell(inputs, width // 2), cell(inputs, width // 2)

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        return self.scan(x, keep)[0]

    def scan(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> tuple[Float[Tensor, "b t d"], State]:
        """Outputs, and the last state of each direction side by side (the backward one ends at the first token)."""
        ahead, last = self.ahead.scan(x, keep)
        back, first = self.back.scan(x, keep, backward=True)
        return torch.cat((ahead, back), -1), tuple(torch.cat(pair, -1) for pair in zip(last, first, strict=True))
