from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.scores.additive import Additive


@dataclass(frozen=True)
class Inputs:
    """What can be pointed at: W1 e_s of every input, computed once."""

    k: Float[Tensor, "b s d"]  # W1 e_s
    keep: Bool[Tensor, "b s"] | None


class Pointer(nn.Module):
    """Attention as an output: the weights themselves are the distribution over the inputs, so the vocabulary is the input.

        u_ts = v^T tanh(W1 e_s + W2 d_t),        log p(s | t) = u_ts - log sum_s' exp(u_ts')

    Padding has log-probability -inf, wherever it stands, so a row of nothing but padding has no other. Vinyals,
    Fortunato, Jaitly 2015, "Pointer networks", https://arxiv.org/abs/1506.03134; lecture A.
    """

    aliases = ("pointer network attention", "pointer attention", "Ptr-Net")

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = Additive(width)  # its key is W1, its query W2, its vector v

    def remember(self, memory: Float[Tensor, "b s d"], keep: Bool[Tensor, "b s"] | None) -> Inputs:
        return Inputs(self.score.key(memory), keep)

    def forward(self, x: Float[Tensor, "b t d"], seen: Inputs) -> Float[Tensor, "b t s"]:
        u = self.score(self.score.query(x).unsqueeze(1), seen.k.unsqueeze(1)).squeeze(1)  # one head
        if seen.keep is None:
            return u.log_softmax(-1)
        padding = ~seen.keep.unsqueeze(1)  # filled twice: in between, a row of nothing but padding is NaN
        return u.masked_fill(padding, float("-inf")).log_softmax(-1).masked_fill(padding, float("-inf"))

    def step(self, x: Float[Tensor, "bk d"], seen: Inputs) -> Float[Tensor, "bk s"]:
        """One position of k hypotheses for each remembered sequence, as in `cross`."""
        return self(x.unflatten(0, (len(seen.k), -1)), seen).flatten(0, 1)
