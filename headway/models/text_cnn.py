from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.dropout import Dropout


@dataclass(frozen=True)
class Config:
    filters: int = 256  # of each region size
    regions: tuple[int, ...] = (1, 2, 3)  # words that a filter sees at once, for each group of filters
    dropout: float = 0.5  # before the head

    def __post_init__(self) -> None:
        require(
            (self.filters >= 1, "`filters` must be at least 1"),
            (len(self.regions) >= 1 and min(self.regions) >= 1, "`regions` must be at least one number of at least 1"),
            (0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"),
        )


class TextCNN(nn.Module):
    """Convolutional network for texts: filters on words as they are, the strongest answer of each filter, a linear head.

        v_t = relu(b + sum_k E_k[w_{t-k}]), k = 0 .. m - 1        h = (max_t v_t, mean_t v_t)        p(class) = softmax(W h + c)

    A convolution over one-hot words with regions of m words: E_k holds a row of weights for each word at distance k, so
    there is no embedding between words and filters, and rare pairs of words keep weights of their own. With m = 1 it is a
    bag of words. Johnson & Zhang 2015, "Effective use of word order for text categorization with convolutional neural
    networks", https://arxiv.org/abs/1412.1058, who report 8.4 % errors on the IMDB reviews; lecture D speaks of that table.
    """

    aliases = ("convolutional network for texts", "one-hot CNN", "bag of n-grams")
    reads, gives = ("tokens",), ("one vector",)
    roles = {"bias": "vector"}

    def __init__(self, config: Config, vocabulary: int, outputs: int) -> None:
        super().__init__()
        c = self.config = config
        tables = [nn.Embedding(vocabulary, m * c.filters) for m in c.regions]
        self.tables = nn.ModuleList(tables)
        width = len(c.regions) * c.filters
        self.bias, self.dropout = nn.Parameter(torch.zeros(width)), Dropout(c.dropout)
        self.head = nn.Linear(2 * width, outputs)
        for table in tables:
            nn.init.normal_(table.weight, std=0.05)

    def forward(self, ids: Int[Tensor, "b t"], keep: Bool[Tensor, "b t"]) -> Float[Tensor, "b d"]:
        real, length = keep[..., None], ids.shape[1]
        groups = []
        for m, table in zip(self.config.regions, self.tables, strict=True):
            rows = table(ids).masked_fill(~real, 0.0).unflatten(-1, (m, self.config.filters))
            v = rows[:, :, 0]
            for k in range(1, min(m, length)):  # what stands k places before
                v = v + nn.functional.pad(rows[:, : length - k, k], (0, 0, k, 0))
            groups.append(v)
        v = torch.relu(torch.cat(groups, -1) + self.bias).masked_fill(~real, 0.0)
        mean = v.sum(1) / keep.sum(1, keepdim=True).clamp(min=1)
        return self.dropout(torch.cat([v.amax(1), mean], -1))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
