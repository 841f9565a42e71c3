"""Several models as one: members that differ in their random beginning, whose predictions are averaged.

    p(y | x) = (1/k) sum_i p_i(y | x)          y = (1/k) sum_i y_i(x)  where numbers are predicted

By Jensen's inequality the loss -log p of the mean is at most the mean of the members' losses; for squared errors the difference is
the variance of the members. Hansen & Salamon 1990, "Neural network ensembles"; Lakshminarayanan et al. 2017,
https://arxiv.org/abs/1612.01474; lecture D.

What a member passes on (`hidden`, its states) is kept side by side, and only the last layer, where probabilities are made, averages:

    hidden "... k*d"     logits(hidden) -> "... c"  log of the mean probability        state, memory: a tuple with that of each member

So one class serves all kinds of models (`classifier.py`, `reader.py`, `decoder.py`, `encoder_decoder.py`).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

Average = Literal["probabilities", "numbers"]
M = TypeVar("M")
GIVES = ("one vector", "one per position", "next token", "target tokens")  # what members may give


def mean_probability(logits: Float[Tensor, "k *b c"]) -> Float[Tensor, "*b c"]:
    """log (1/k) sum_i softmax(logits_i)"""
    return logits.log_softmax(-1).logsumexp(0) - math.log(len(logits))


def mean_number(numbers: Float[Tensor, "k *b c"]) -> Float[Tensor, "*b c"]:
    return numbers.mean(0)


AVERAGES: dict[Average, Callable[[Tensor], Tensor]] = {"probabilities": mean_probability, "numbers": mean_number}


def first_member(model: M) -> M:
    """Of an ensemble the first member, of a single model itself: what has not learned from the validation part that the run keeps.

    The other members validate by other parts (`training/ensemble.py`). So intervals are made from the errors of the first one, which
    are those of new examples, and rather larger than those of all members together.
    """
    return model.members[0] if isinstance(model, Ensemble) else model


class Ensemble(nn.Module):
    """Models of one kind and size, whose predictions are averaged.

    members   trained models
    average   what their last layer gives: scores of classes or tokens, which become "probabilities", or "numbers"
    """

    def __init__(self, members: Sequence[nn.Module], average: Average) -> None:
        super().__init__()
        self.members: Any = nn.ModuleList(members)
        self.average = AVERAGES[average]

    def forward(self, *inputs: Tensor | None) -> Float[Tensor, "*b kd"]:
        return torch.cat([member(*inputs) for member in self.members], -1)

    def logits(self, hidden: Float[Tensor, "*b kd"]) -> Float[Tensor, "*b c"]:
        parts = zip(self.members, hidden.chunk(len(self.members), -1), strict=True)
        return self.average(torch.stack([member.logits(part) for member, part in parts]))

    # -- readers -------------------------------------------------------------------------------------------------------

    def states(self, *inputs: Tensor | None) -> Float[Tensor, "b t kd"]:
        return torch.cat([member.states(*inputs) for member in self.members], -1)

    def tag_logits(self, states: Float[Tensor, "b t kd"]) -> Float[Tensor, "b t c"]:
        parts = zip(self.members, states.chunk(len(self.members), -1), strict=True)
        return self.average(torch.stack([member.tag_logits(part) for member, part in parts]))

    # -- language models and encoder-decoders --------------------------------------------------------------------------

    @property
    def memory(self) -> int:
        return self.members[0].memory

    @property
    def absolute(self) -> bool:
        return self.members[0].absolute

    @property
    def output(self) -> "Ensemble":
        """Where the loss is computed: the last layer is no single matrix, so it is this."""
        return self

    def cross_entropy(
        self, hidden: Float[Tensor, "n kd"], target: Int[Tensor, "n"], smoothing: float = 0.0
    ) -> tuple[Tensor, Tensor]:
        """The summed loss and the summed negative log-likelihood (`layers/cross_entropy.py`)."""
        log_p = self.logits(hidden)
        plain = F.nll_loss(log_p, target, reduction="sum")
        return (1 - smoothing) * plain - smoothing * log_p.mean(-1).sum(), plain.detach()

    def predicted(
        self, ids: Int[Tensor, "b t"], past: Int[Tensor, "b m"] | None = None
    ) -> tuple[Float[Tensor, "n kd"], Bool[Tensor, "b t"]]:
        found = [member.predicted(ids, past) for member in self.members]
        return torch.cat([hidden for hidden, _ in found], -1), found[0][1]

    def start(self, batch: int) -> tuple[Any, ...]:
        return tuple(member.start(batch) for member in self.members)

    def read(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        memories, states = zip(*(member.read(source, keep) for member in self.members), strict=True)
        return memories, states

    def step(
        self, token: Int[Tensor, "b"], state: tuple[Any, ...], *memory: tuple[Any, ...]
    ) -> tuple[Float[Tensor, "b kd"], tuple[Any, ...]]:
        """One token read by each member, with its own state (and what it remembers of the source)."""
        own = zip(self.members, state, *memory, strict=True)
        hidden, after = zip(*(member.step(token, *mine) for member, *mine in own), strict=True)
        return torch.cat(hidden, -1), after
