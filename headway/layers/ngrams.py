import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

SCATTER = 2654435761  # of Knuth's multiplicative hashing: n-grams that are alike are not to share a row more often than others
LARGEST = 1 << 62  # of a power of v: what is beyond 64 bits is cut off, as hashing allows


class NGrams(nn.Module):
    """Embeddings of the last two, three ... N tokens: what a token means after those before it, looked up and not computed.

        x_t = E[w_t] + sqrt(d) sum_{n=2}^N T_n[row_n]        row_2 = k_2 mod r        row_n = hash(k_n) mod r        T_n = 0 at first
        k_n = w_t + v w_{t-1} + ... + v^(n-1) w_{t-n+1}

    A model that reads characters spends its first layers on this. With r = v^2 rows every pair has one of its own; with fewer, pairs
    share them (the hashing trick), as longer n-grams do. At the first tokens there is no such n-gram, and nothing is added. The n-gram
    embeddings of Clark et al. 2022, "CANINE", https://arxiv.org/abs/2103.06874, of orders 2 to N.

    Long n-grams help while a text is new; of a text that is read several times they learn what follows by heart (docs/findings.md).

    vocabulary   v, the number of tokens
    rows         r, of the table of each order
    order        N
    """

    aliases = ("n-gram embedding", "bigram embedding", "trigram embedding", "pairs of tokens", "triples of tokens")
    roles = {"table": "table"}

    def __init__(self, vocabulary: int, rows: int, width: int, order: int = 3) -> None:
        super().__init__()
        self.vocabulary, self.rows, self.seen = vocabulary, rows, order - 1  # tokens before that are looked at
        self.table = nn.Parameter(torch.zeros(self.seen * rows, width))  # T_2 above T_3 above ...

    def forward(self, ids: Int[Tensor, "*b"], before: Int[Tensor, "n *b"]) -> Float[Tensor, "*b d"]:
        """What n-grams add; `before` has w_{t-1}, w_{t-2} ..., -1 where there is none."""
        key, rows = ids, []
        for n, token in enumerate(before.clamp(min=0).unbind(), 1):
            key = key + self.vocabulary**n % LARGEST * token
            rows.append((n - 1) * self.rows + (key if n == 1 else key * SCATTER >> 7) % self.rows)
        found = F.embedding(torch.stack(rows), self.table) * (self.table.shape[1] ** 0.5 * (before >= 0)[..., None])
        return found.sum(0)

    def before(self, ids: Int[Tensor, "b t"]) -> Int[Tensor, "n b t"]:
        """The tokens before each one of a sequence from its beginning."""
        padded, length = F.pad(ids, (self.seen, 0), value=-1), ids.shape[1]
        return torch.stack([padded[:, i : i + length] for i in reversed(range(self.seen))])
