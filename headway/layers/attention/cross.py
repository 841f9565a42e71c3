from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.attend import Attend
from headway.layers.linear import Linear
from headway.layers.scores.scaled import Scaled


@dataclass(frozen=True)
class Remembered:
    """Keys and values of the sequence that is looked at, computed once."""

    k: Float[Tensor, "b h s e"]  # keys, as the score wants them
    v: Float[Tensor, "b h s e"]  # values
    keep: Bool[Tensor, "b s"] | None


@dataclass(frozen=True)
class Folded:
    """The same for one sequence of few positions, with W_Q and W_O multiplied into them (`Cross.fold`)."""

    scores: Float[Tensor, "b d hs"]  # what a query is multiplied by
    added: Float[Tensor, "b 1 hs"]  # of its bias
    answers: Float[Tensor, "b hs d"]  # what the weights of all heads and positions are multiplied by


class Cross(nn.Module):
    """Cross-attention: queries from one sequence A, keys and values from another sequence B.

        Q = A W_Q,   K = B W_K,   V = B W_V,   Y = softmax(Q K^T / sqrt(e)) V W_O        per head, as in `multihead`

    B has no order here, so its padding may stand anywhere. Vaswani et al. 2017, https://arxiv.org/abs/1706.03762;
    lecture C, section 6.2.

    score   the class of the attention score, made from the width of a head
    """

    aliases = ("cross-attention", "encoder-decoder attention")

    def __init__(self, width: int, heads: int, score: Callable[[int], nn.Module] = Scaled) -> None:
        super().__init__()
        self.heads = heads
        self.query = Linear(width, width)
        self.memory = Linear(width, 2 * width)  # K and V of all heads in one product
        self.attend = Attend(score(width // heads))
        self.output = Linear(width, width)

    def score_weights(self) -> list[Tensor]:
        """W_Q and W_K, the matrices that only the scores depend on."""
        return [self.query.weight, self.memory.weight.chunk(2)[0]]

    def value_weights(self) -> list[Tensor]:
        """W_V and W_O, the matrices that values pass through."""
        return [self.memory.weight.chunk(2)[1], self.output.weight]

    def remember(self, memory: Float[Tensor, "b s d"], keep: Bool[Tensor, "b s"] | None) -> Remembered:
        k, v = (y.transpose(1, 2) for y in self.memory(memory).unflatten(-1, (2, self.heads, -1)).unbind(2))
        if torch.is_inference_mode_enabled():  # they are read at every step: in one piece, which is a quarter faster
            k, v = k.contiguous(), v.contiguous()
        return Remembered(self.attend.score.key(k), v, keep)

    def forward(self, x: Float[Tensor, "b t d"], seen: Remembered) -> Float[Tensor, "b t d"]:
        q = self.attend.score.query(self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2))
        allowed = None if seen.keep is None else seen.keep[:, None, None, :]
        return self.output(self.attend(q, seen.k, seen.v, allowed).transpose(1, 2).flatten(2))

    def fold(self, seen: Remembered) -> Remembered | Folded:
        """For stepping through one sequence: fewer and smaller products, as long as it has fewer than d / h positions.

            q_t . k_s = (x_t W_Q + b_Q) . k_s = x_t (W_Q k_s) + b_Q . k_s        sum_s a_ts v_s W_O = sum_s a_ts (v_s W_O)
        """
        b, h, s, e = seen.k.shape
        plain = isinstance(self.attend.score, Scaled) and self.attend.maps is None and seen.keep is None
        if b != 1 or h * s >= h * e or not plain:
            return seen
        k = seen.k * self.attend.score.scale
        added = k.new_zeros(b, h, s, 1) if self.query.bias is None else k @ self.query.bias.view(h, e, 1)
        scores = (k @ self.query.weight.view(h, e, -1)).flatten(1, 2).transpose(1, 2).contiguous()
        answers = (seen.v @ self.output.weight.t().view(h, e, -1)).flatten(1, 2)
        return Folded(scores, added.view(b, 1, h * s), answers)

    def step(self, x: Float[Tensor, "bk d"], seen: Remembered | Folded) -> Float[Tensor, "bk d"]:
        """One position of k hypotheses for each remembered sequence: hypotheses of one sentence are queries to one memory."""
        if isinstance(seen, Folded):
            b, d, hs = seen.scores.shape
            e = torch.baddbmm(seen.added, x.view(b, -1, d), seen.scores)
            a = e.view(-1, self.heads, hs // self.heads).softmax(-1)
            y = torch.bmm(a.view(b, -1, hs), seen.answers).view(x.shape)
            return y if self.output.bias is None else y.add_(self.output.bias)
        b = len(seen.k)
        q = self.attend.score.query(self.query(x).view(b, len(x) // b, self.heads, -1).transpose(1, 2))
        allowed = None if seen.keep is None else seen.keep[:, None, None, :]
        return self.output(self.attend(q, seen.k, seen.v, allowed).transpose(1, 2).reshape(x.shape))
