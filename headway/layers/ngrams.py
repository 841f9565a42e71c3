import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

BEFORE = 2  # tokens before that are looked at
SCATTER = 2654435761  # of Knuth's multiplicative hashing: triples that are alike are not to share a row more often than others


class NGrams(nn.Module):
    """Embeddings of pairs and triples of tokens: what a token means after those before it, looked up and not computed.

        x_t = E[w_t] + sqrt(d) (B[(v w_{t-1} + w_t) mod r] + C[hash(v^2 w_{t-2} + v w_{t-1} + w_t) mod r/2])        B = C = 0 at first

    A model that reads characters spends its first layer on this. With r = v^2 rows every pair has one of its own; with fewer, pairs
    share them (the hashing trick), as triples do. At the first tokens there is no pair, or no triple, and nothing is added. The n-gram
    embeddings of Clark et al. 2022, "CANINE", https://arxiv.org/abs/2103.06874, of orders 2 and 3.

    vocabulary   v, the number of tokens
    rows         r, of the table of pairs; that of triples has half as many
    """

    aliases = ("bigram embedding", "trigram embedding", "n-gram embedding", "pairs of tokens", "triples of tokens")
    roles = {"table": "table"}

    def __init__(self, vocabulary: int, rows: int, width: int) -> None:
        super().__init__()
        self.vocabulary, self.rows = vocabulary, rows
        self.table = nn.Parameter(torch.zeros(rows + max(1, rows // 2), width))  # B above C

    def forward(self, ids: Int[Tensor, "*b"], before: Int[Tensor, "2 *b"]) -> Float[Tensor, "*b d"]:
        """What pairs and triples add; `before` has w_{t-1} and w_{t-2}, -1 where there is none."""
        v, r, (size, width) = self.vocabulary, self.rows, self.table.shape
        last, second = before.clamp(min=0)
        pair = v * last + ids
        triple = (v * v * second + pair) * SCATTER >> 7
        rows = torch.stack((pair % r, r + triple % (size - r)))
        found = F.embedding(rows, self.table) * (width**0.5 * (before >= 0)[..., None])
        return found.sum(0)

    @staticmethod
    def before(ids: Int[Tensor, "b t"]) -> Int[Tensor, "2 b t"]:
        """The tokens before each one of a sequence from its beginning."""
        padded, length = F.pad(ids, (BEFORE, 0), value=-1), ids.shape[1]
        return torch.stack([padded[:, i : i + length] for i in reversed(range(BEFORE))])
