from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.dropout import Dropout

PRIME = 2**31 - 1  # of the hash; all products stay below 2^63
FACTOR = 1_000_003  # of the hash, for each word that came before
GAIN = 81.0  # so large that the table learns well at the default rate of the optimizer
BEGINNING = 1 / 150  # of every number of the table: an n-gram that training has not seen speaks for all classes alike


@dataclass(frozen=True)
class Config:
    orders: tuple[int, ...] = (1, 2, 3)  # how many words in a row make an n-gram
    gaps: tuple[int, ...] = (1,)  # pairs with so many words between them are n-grams as well
    buckets: int = 2_097_152  # rows of the table; n-grams that fall into the same row share it
    dropout: float = 0.1  # of n-grams

    def __post_init__(self) -> None:
        require(
            (len(self.orders) >= 1 and min(self.orders) >= 1, "`orders` must be at least one number of at least 1"),
            (all(gap >= 1 for gap in self.gaps), "`gaps` must be numbers of at least 1"),
            (1 <= self.buckets < PRIME, f"`buckets` {self.buckets} must be at least 1 and below {PRIME}"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class HashedNgrams(nn.Module):
    """Hashed n-grams: the set of a text's words, word pairs and triples, each with its evidence for each class.

        z_c = a |G|^(-1/2) sum_{g in G} u_{g,c}^2        p(class) = softmax(z + b)

    G is the set of rows of the table that the n-grams of a text hash to: h(w_{t-m+1} ... w_t) = sum_k (w_{t-k} + 1) q^k
    modulo a prime, then modulo the number of rows; a pair with a gap begins with the size of the gap. Once or often is the
    same. Hashing is that of fastText: Joulin et al. 2016, "Bag of tricks for efficient text classification",
    https://arxiv.org/abs/1607.01759; pairs with gaps: Guthrie et al. 2006, "A closer look at skip-gram modelling".

    The function is linear in what is in the text, its parameters are not: evidence is a square, for two classes
    w = u^2 - v^2. A weight then grows in proportion to its root, so that n-grams which the data agree about leave the many
    chance ones behind, much as naive Bayes weights do (Wang & Manning 2012, "Baselines and bigrams"). A diagonal linear
    network: Woodworth et al. 2020, "Kernel and rich regimes in overparametrized models", https://arxiv.org/abs/2002.09277.
    """

    aliases = ("fastText", "hashed n-grams", "bag of hashed n-grams", "hashing trick")
    reads, gives = ("tokens",), ("one vector",)
    roles = {"bias": "vector"}

    def __init__(self, config: Config, vocabulary: int, outputs: int) -> None:
        super().__init__()
        self.config = config
        self.table = nn.Embedding(config.buckets, outputs)
        nn.init.constant_(self.table.weight, BEGINNING)
        self.bias, self.dropout = nn.Parameter(torch.zeros(outputs)), Dropout(config.dropout)

    def rows(self, ids: Int[Tensor, "b t"], keep: Bool[Tensor, "b t"]) -> Int[Tensor, "b n"]:
        """The rows of the table that the n-grams of each text hash to, sorted; `buckets` where there is none."""
        c, length, found = self.config, ids.shape[1], []
        shapes = [(0, range(m)) for m in c.orders] + [(gap, (0, gap + 1)) for gap in c.gaps]
        for start, distances in shapes:
            hashed, real = torch.full_like(ids, start), keep
            for k in reversed(distances):  # what stands k places before
                hashed = (hashed * FACTOR + nn.functional.pad(ids, (k, 0))[:, :length] + 1) % PRIME
                real = real & nn.functional.pad(keep, (k, 0))[:, :length]
            found.append((hashed % c.buckets).masked_fill(~real, c.buckets))
        return torch.cat(found, 1).sort(1).values

    def forward(self, ids: Int[Tensor, "b t"], keep: Bool[Tensor, "b t"]) -> Float[Tensor, "b c"]:
        rows = self.rows(ids, keep)
        first = rows != nn.functional.pad(rows, (1, 0), value=-1)[:, :-1]
        member = first & (rows < self.config.buckets)  # each row of the set once
        u = self.table(rows[member])
        evidence = u * u * self.dropout(torch.ones_like(u[:, :1]))
        text = member.nonzero()[:, 0]
        total = evidence.new_zeros(len(ids), u.shape[1]).index_add(0, text, evidence)
        return GAIN * total / member.sum(1, keepdim=True).clamp(min=1).sqrt()

    def logits(self, hidden: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
        return hidden + self.bias
