from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.attention.multihead import Multihead
from headway.layers.attention.pointer import Inputs, Pointer
from headway.layers.block import Block
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.dropout import Dropout
from headway.layers.feedforward import Feedforward
from headway.layers.norms.layer_norm import LayerNorm
from headway.layers.recurrences.bidirectional import Bidirectional
from headway.layers.recurrences.lstm import LSTM
from headway.layers.recurrences.recurrence import State


@dataclass(frozen=True)
class Config:
    encoder: Literal["lstm", "bidirectional", "multihead"] = "lstm"  # as in the paper; from both ends; attention
    width: int = 128  # d, the width of points and states
    depth: int = 2  # blocks of the encoder `multihead`
    heads: int = 4  # of the encoder `multihead`; must divide the width
    inner: int = 256  # f, the width inside the feed-forward network of the encoder `multihead`
    dropout: float = 0.0  # on the points, and on every sublayer of the encoder `multihead`

    def __post_init__(self) -> None:
        least = min(self.width, self.depth, self.heads, self.inner)
        require(
            (least >= 1, "`width`, `depth`, `heads` and `inner` must be at least 1"),
            (self.encoder != "bidirectional" or self.width % 2 == 0, f"`width` {self.width} must be even"),
            (self.heads < 1 or self.width % self.heads == 0, f"`heads` {self.heads} must divide `width` {self.width}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class Recurrent(nn.Module):
    """e_s = LSTM(x_1 .. x_s), and the last state is the decoder's first."""

    def __init__(self, recurrence: LSTM | Bidirectional) -> None:
        super().__init__()
        self.recurrence = recurrence

    def forward(self, x: Float[Tensor, "b n d"], keep: Bool[Tensor, "b n"]) -> tuple[Float[Tensor, "b n d"], State]:
        return self.recurrence.scan(x, keep)


class Attentive(nn.Module):
    """e = blocks of self-attention without positions: the order in which the points come does not matter.

    The decoder begins with h = tanh(V m) and c = V m, m the mean of all e_s.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            Block(c.width, Multihead(c.width, c.heads), Feedforward(c.width, c.inner), PreNorm, c.dropout)
            for _ in range(c.depth)
        )
        self.norm, self.bridge = LayerNorm(c.width), nn.Linear(c.width, c.width)

    def forward(self, x: Float[Tensor, "b n d"], keep: Bool[Tensor, "b n"]) -> tuple[Float[Tensor, "b n d"], State]:
        for block in self.blocks:
            x = block(x, keep)
        e = self.norm(x)
        m = e.masked_fill(~keep[..., None], 0.0).sum(1) / keep.sum(1, keepdim=True).clamp(min=1)
        v = self.bridge(m)
        return e, (v.tanh(), v)


@dataclass(frozen=True)
class Memory:
    """What the decoder looks at: row 0 is the end mark, row s the point s."""

    x: Float[Tensor, "b s d"]  # the points as the decoder reads them
    inputs: Inputs


class PointerNetwork(nn.Module):
    """Pointer network: the output is a sequence of places in the input, so its vocabulary grows with the input.

        e_s = encoder(x_1 .. x_n)_s        d_t = LSTM(d_{t-1}, x_{y_{t-1}})
        u_ts = v^T tanh(W1 e_s + W2 d_t)        p(y_t = s | y_<t, x) = softmax_s(u_t)

    s = 0 is the end mark, whose e_0 and x_0 are learned; x_0 is also what the decoder reads first. Vinyals, Fortunato,
    Jaitly 2015, "Pointer networks", https://arxiv.org/abs/1506.03134; lecture A. The paper's encoder is `lstm`; with
    `multihead` the points are a set, as in Kool et al. 2019, https://arxiv.org/abs/1803.08475.
    """

    aliases = ("pointer network", "Ptr-Net", "pointer networks")
    reads, gives = ("points",), ("pointers",)
    roles = {"end": "table"}

    def __init__(self, config: Config, coordinates: int) -> None:
        super().__init__()
        c = self.config = config
        self.embedding, self.dropout = nn.Linear(coordinates, c.width), Dropout(c.dropout)
        self.end = nn.Parameter(torch.randn(2, c.width))  # x_0 and e_0
        encoders: dict[str, Any] = {
            "lstm": lambda: Recurrent(LSTM(c.width, c.width)),
            "bidirectional": lambda: Recurrent(Bidirectional(LSTM, c.width, c.width)),
            "multihead": lambda: Attentive(c),
        }
        self.encoder = encoders[c.encoder]()
        self.decoder, self.pointer = LSTM(c.width, c.width), Pointer(c.width)

    def forward(
        self, points: Float[Tensor, "b n c"], keep: Bool[Tensor, "b n"], chosen: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t s"]:
        """log p(s | what was chosen before) at each t, where `chosen` begins with 0: one column for the end mark, then the points."""
        memory, state = self.read(points, keep)
        x = memory.x.gather(1, chosen[..., None].expand(-1, -1, memory.x.shape[-1]))
        return self.pointer(self.decoder.scan(x, None, state)[0], memory.inputs)

    def read(self, points: Float[Tensor, "b n c"], keep: Bool[Tensor, "b n"]) -> tuple[Memory, State]:
        x = self.dropout(self.embedding(points))
        e, state = self.encoder(x, keep)
        first, last = self.end[:, None, None].expand(-1, len(points), -1, -1)
        there = torch.cat((torch.ones_like(keep[:, :1]), keep), 1)
        return Memory(torch.cat((first, x), 1), self.pointer.remember(torch.cat((last, e), 1), there)), state

    def step(self, chosen: Int[Tensor, "bk"], state: State, memory: Memory) -> tuple[Float[Tensor, "bk s"], State]:
        """One choice further, for k hypotheses of each set of points."""
        places = chosen.view(len(memory.x), -1, 1).expand(-1, -1, memory.x.shape[-1])
        d, state = self.decoder.step(memory.x.gather(1, places).flatten(0, 1), state)
        return self.pointer.step(d, memory.inputs), state
