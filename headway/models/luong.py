"""Decoders that look back at the source after their recurrence has read a word: Luong, Pham, Manning 2015."""

from typing import Any

import torch
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.attend import Attend
from headway.layers.attention.cross import Remembered
from headway.layers.dropout import Dropout
from headway.layers.recurrences.stacked import Stacked
from headway.models.rnn_seq2seq import States


class SoftAlignment(nn.Module):
    """Attention with one head and no projections: c_t = sum_i alpha_ti h_i,  alpha_t = softmax_i(score(s_t, h_i))."""

    def __init__(self, score: nn.Module) -> None:
        super().__init__()
        self.attend = Attend(score)

    def remember(self, hidden: Float[Tensor, "b s d"], keep: Bool[Tensor, "b s"]) -> Remembered:
        heads = hidden.unsqueeze(1)  # one head
        return Remembered(self.attend.score.key(heads), heads, keep)

    def forward(self, s: Float[Tensor, "b t d"], seen: Remembered) -> Float[Tensor, "b t d"]:
        allowed = None if seen.keep is None else seen.keep[:, None, None, :]
        return self.attend(self.attend.score.query(s.unsqueeze(1)), seen.k, seen.v, allowed).squeeze(1)

    def step(self, s: Float[Tensor, "bk d"], seen: Remembered) -> Float[Tensor, "bk d"]:
        """Hypotheses of a sentence are queries to one memory."""
        grouped = rearrange(s, "(b k) d -> b k d", b=len(seen.k))
        return rearrange(self(grouped, seen), "b k d -> (b k) d")

    def join(self, steps: int) -> None:
        """While maps are recorded: those of the last steps become one, as if all positions were computed at once."""
        maps = self.attend.maps
        if maps is not None and steps:
            maps[-steps:] = [torch.cat(maps[-steps:], 2)]


class Luong(nn.Module):
    """The recurrence reads the target alone, so all positions are computed at once.

    s_t = f(s_{t-1}, y_{t-1})        c_t = attention(s_t)        out_t = tanh(W [s_t ; c_t])
    """

    read = 1  # vectors that the first layer reads

    def __init__(self, cell: Any, score: Any, width: int, depth: int, dropout: float) -> None:
        super().__init__()
        self.layers = Stacked([cell(width if layer else self.read * width, width) for layer in range(depth)], dropout)
        self.attention = SoftAlignment(score(width))
        self.combine, self.dropout = nn.Linear(2 * width, width), Dropout(dropout)

    def start(self, state: States) -> States:
        """Before the first word: `state` is what the encoder gives each layer."""
        return state

    def forward(self, y: Float[Tensor, "b t d"], state: States, seen: Remembered) -> Float[Tensor, "b t d"]:
        s = self.layers.scan(y, None, state)[0]
        return self._combine(s, self.attention(s, seen))

    def step(self, y: Float[Tensor, "bk d"], state: States, seen: Remembered) -> tuple[Float[Tensor, "bk d"], States]:
        s, state = self.layers.step(y, state)
        return self._combine(s, self.attention.step(s, seen)), state

    def _combine(self, s: Float[Tensor, "*b d"], c: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        return self.dropout(self.combine(torch.cat((s, c), -1)).tanh())


class InputFeeding(Luong):
    """The output of a position is an input of the next, so the decoder knows what it has looked at. One by one.

        s_t = f(s_{t-1}, [y_{t-1} ; out_{t-1}])    c_t = attention(s_t)    out_t = tanh(W [s_t ; c_t])    out_0 = 0

    Section 3.3 of the paper.
    """

    read = 2

    def start(self, state: States) -> States:
        return *state, (torch.zeros_like(state[-1][0]),)

    def forward(self, y: Float[Tensor, "b t d"], state: States, seen: Remembered) -> Float[Tensor, "b t d"]:
        return one_by_one(self, y, state, seen)

    def step(self, y: Float[Tensor, "bk d"], state: States, seen: Remembered) -> tuple[Float[Tensor, "bk d"], States]:
        *layers, (fed,) = state
        s, after = self.layers.step(torch.cat((y, fed), -1), tuple(layers))
        out = self._combine(s, self.attention.step(s, seen))
        return out, (*after, (out,))


def one_by_one(decoder: Any, y: Float[Tensor, "b t d"], state: States, seen: Remembered) -> Float[Tensor, "b t d"]:
    """All positions of a decoder whose steps need the one before."""
    outputs = []
    for now in y.unbind(1):
        out, state = decoder.step(now, state, seen)
        outputs.append(out)
    decoder.attention.join(len(outputs))
    return torch.stack(outputs, 1)
