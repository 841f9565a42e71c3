import torch
from jaxtyping import Float
from torch import Tensor, nn


class Additive(nn.Module):
    """Additive score: e_ts = u^T tanh(W1 k_s + W2 q_t).

    Bahdanau, Cho, Bengio 2015, "Neural machine translation by jointly learning to align and translate",
    https://arxiv.org/abs/1409.0473.

    width   e, numbers in a query and in a key
    """

    aliases = ("Bahdanau attention", "MLP attention", "concat attention")
    roles = {"vector": "vector"}
    scale = None  # no fused kernel computes this score

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = nn.Linear(width, width, bias=False)  # W1
        self.query = nn.Linear(width, width, bias=False)  # W2
        self.vector = nn.Parameter(torch.empty(width))  # u
        nn.init.uniform_(self.vector, -(width**-0.5), width**-0.5)

    def forward(self, q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"]) -> Float[Tensor, "b h t s"]:
        """The scores of queries W2 q and keys W1 k."""
        return (q.unsqueeze(-2) + k.unsqueeze(-3)).tanh() @ self.vector  # b h t s e -> b h t s
