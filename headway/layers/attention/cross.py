from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.attend import Attend
from headway.layers.linear import Linear
from headway.layers.scores.scaled import Scaled

Product = Callable[[Tensor], Tensor]  # by a matrix


class Folded:
    """Keys and values of a single sequence with W_Q and W_O multiplied into them, for stepping (`Cross.fold`).

    No dataclass: its tensors have no axis for the batch, of which rows could be picked (`decode.state`).

    scores    what a query is multiplied by
    added     to its scores; the smallest number at padding
    answers   what the weights of all heads and positions are multiplied by; 0 at padding
    """

    __slots__ = ("added", "answers", "scores")

    def __init__(
        self, scores: Float[Tensor, "d hs"], added: Float[Tensor, "hs"], answers: Float[Tensor, "hs d"]
    ) -> None:
        self.scores, self.added, self.answers = scores, added, answers


@dataclass
class Remembered:
    """Keys and values of the sequence that is looked at, computed once. What is made of them is made anew where rows are picked."""

    k: Float[Tensor, "b h s e"]  # keys, as the score wants them
    v: Float[Tensor, "b h s e"]  # values
    keep: Bool[Tensor, "b s"] | None
    folded: Folded | None = field(default=None, init=False)  # made by the first step that is faster with it
    steps: dict[bool, Any] = field(default_factory=dict, init=False)  # of the first block: `layers/steps.py`


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

    def step(self, x: Float[Tensor, "bk d"], seen: Remembered) -> Float[Tensor, "bk d"]:
        """One position of k hypotheses for each remembered sequence: hypotheses of one sentence are queries to one memory."""
        return self.look(x, seen, self.query, self.output)

    def look(
        self, x: Float[Tensor, "bk d"], seen: Remembered, query: Product, output: Product
    ) -> Float[Tensor, "bk d"]:
        """`step`, with the products by W_Q and W_O given."""
        b, h, s, e = seen.k.shape
        if b == 1 and self._should_fold(s, e):
            folded = seen.folded = seen.folded or self.fold(seen)
            a = torch.addmm(folded.added, x, folded.scores).view(-1, s).softmax(-1).view(-1, h * s)
            return a @ folded.answers if self.output.bias is None else torch.addmm(self.output.bias, a, folded.answers)
        q = query(x).view(b, -1, h, e).transpose(1, 2)
        allowed = None if seen.keep is None else seen.keep[:, None, None, :]
        y = self.attend.forward(self.attend.score.query(q), seen.k, seen.v, allowed)
        return output(y.transpose(1, 2).reshape(x.shape))

    def _should_fold(self, s: int, e: int) -> bool:
        """Whether that is faster for a single sequence, whose products wait for the weights: with few keys."""
        few = 2 * s <= e and self.attend.maps is None
        return few and type(self.attend.score) is Scaled and not torch.is_grad_enabled()

    def fold(self, seen: Remembered) -> Folded:
        """W_Q and W_O multiplied into keys and values: two products with h s columns instead of d, and none of its own for attention.

        (x W_Q + b_Q) . k_s = x (W_Q k_s) + b_Q . k_s        (sum_s a_s v_s) W_O = sum_s a_s (v_s W_O)
        """
        _, h, s, e = seen.k.shape
        k = seen.k[0] * self.attend.score.scale
        scores = k @ self.query.weight.view(h, e, -1)  # h s d
        added = k.new_zeros(h, s) if self.query.bias is None else (k @ self.query.bias.view(h, e, 1)).squeeze(-1)
        answers = seen.v[0] @ self.output.weight.t().view(h, e, -1)  # h s d
        if seen.keep is not None:
            padding = ~seen.keep  # 1 s
            added = added.masked_fill(padding, torch.finfo(k.dtype).min)
            answers = answers.masked_fill(padding[..., None], 0.0)
        return Folded(scores.flatten(0, 1).t(), added.flatten(), answers.flatten(0, 1))
