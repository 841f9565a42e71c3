from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.attend import Attend
from headway.layers.linear import Linear
from headway.layers.scores.scaled import Scaled


@dataclass(frozen=True)
class Folded:
    """Keys and values with W_Q and W_O multiplied into them, for stepping (`Cross.fold`)."""

    scores: Float[Tensor, "b d hs"]  # what a query is multiplied by
    added: Float[Tensor, "b 1 hs"]  # to its scores; the smallest number at padding
    answers: Float[Tensor, "b hs d"]  # what the weights of all heads and positions are multiplied by; 0 at padding


@dataclass
class Remembered:
    """Keys and values of the sequence that is looked at, computed once."""

    k: Float[Tensor, "b h s e"]  # keys, as the score wants them
    v: Float[Tensor, "b h s e"]  # values
    keep: Bool[Tensor, "b s"] | None
    folded: Folded | None = None  # made by the first step that is faster with it


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
        if self._should_fold(seen):
            folded = seen.folded = seen.folded or self.fold(seen)
            b, d, hs = folded.scores.shape
            scores = torch.baddbmm(folded.added, x.view(b, -1, d), folded.scores)
            a = scores.view(-1, self.heads, hs // self.heads).softmax(-1).view(b, -1, hs)
            y = torch.bmm(a, folded.answers).view(x.shape)
            return y if self.output.bias is None else y + self.output.bias
        q = self.query(x).view(len(seen.k), -1, self.heads, seen.k.shape[-1]).transpose(1, 2)
        allowed = None if seen.keep is None else seen.keep[:, None, None, :]
        y = self.attend(self.attend.score.query(q), seen.k, seen.v, allowed)
        return self.output(y.transpose(1, 2).reshape(x.shape))

    def _should_fold(self, seen: Remembered) -> bool:
        """Whether that is faster: for a single sentence, whose products wait for the weights, and few keys."""
        b, _, s, e = seen.k.shape
        few = b == 1 and 2 * s <= e
        return few and type(self.attend.score) is Scaled and self.attend.maps is None and not torch.is_grad_enabled()

    def fold(self, seen: Remembered) -> Folded:
        """W_Q and W_O multiplied into keys and values: two products with h s columns instead of d, and none of its own for attention.

        (x W_Q + b_Q) . k_s = x (W_Q k_s) + b_Q . k_s        (sum_s a_s v_s) W_O = sum_s a_s (v_s W_O)
        """
        b, h, s, e = seen.k.shape
        k = seen.k * self.attend.score.scale
        scores = k @ self.query.weight.view(h, e, -1)  # b h s d
        added = k.new_zeros(b, h, s) if self.query.bias is None else (k @ self.query.bias.view(h, e, 1)).squeeze(-1)
        answers = seen.v @ self.output.weight.t().reshape(h, e, -1)  # b h s d
        if seen.keep is not None:
            padding = ~seen.keep[:, None, :]
            added = added.masked_fill(padding, torch.finfo(k.dtype).min)
            answers = answers.masked_fill(padding[..., None], 0.0)
        scores = scores.flatten(1, 2).transpose(1, 2).contiguous()
        return Folded(scores, added.flatten(1).unsqueeze(1), answers.flatten(1, 2))
