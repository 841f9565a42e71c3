import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

SHARE = 0.2  # of the length of an embedding: so fast a row learns, which is met far more rarely than a token


class Bigrams(nn.Module):
    """Embeddings of pairs of tokens: what a token means after the one before it, looked up and not computed.

        x_t = E[w_t] + 1/5 sqrt(d) B[(v w_{t-1} + w_t) mod r]        B = 0 at first; nothing is added at the first token

    A model that reads characters spends its first layer on this. With r = v^2 rows every pair has one of its own; with fewer, pairs
    share them (the hashing trick). The n-gram embeddings of Clark et al. 2022, "CANINE", https://arxiv.org/abs/2103.06874, of
    order 2 and with one table.

    vocabulary   v, the number of tokens
    rows         r, of the table
    """

    aliases = ("bigram embedding", "n-gram embedding", "pairs of tokens")
    roles = {"weight": "table"}

    def __init__(self, vocabulary: int, rows: int, width: int) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.weight = nn.Parameter(torch.zeros(rows, width))

    def forward(self, ids: Int[Tensor, "*b"], before: Int[Tensor, "*b"]) -> Float[Tensor, "*b d"]:
        """What the pairs add; `before` is -1 where there is no token before."""
        rows, width = self.weight.shape
        found = F.embedding((before.clamp(min=0) * self.vocabulary + ids) % rows, self.weight)
        return found * (SHARE * width**0.5 * (before >= 0)[..., None])
