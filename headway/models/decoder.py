"""What every language model offers to training and to decoding, and the stack of causal blocks that most of them are.

    forward(ids)       -> hidden "b t d"      hidden_t predicts the token after ids_t (training)
    start(batch)       -> state               nothing read yet
    step(token, state) -> hidden, state       one token read, at a cost that does not repeat what was read (generation)
    logits(hidden)     -> "... v"
    output.weight      "v d"                  the output matrix, for the loss that never holds all logits
    absolute                                  whether places are counted from the beginning of the text, so that none is known
                                              beyond those that were trained (generation begins anew before that)

The state is a value: tensors in tuples, each with the batch as its first axis.
"""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.layers.dropout import Dropout
from headway.layers.embedding import Embedding


@runtime_checkable
class LanguageModel(Protocol):
    output: Embedding
    absolute: bool

    def __call__(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t d"]: ...

    def start(self, batch: int) -> Any: ...

    def step(self, token: Int[Tensor, "b"], state: Any) -> tuple[Float[Tensor, "b d"], Any]: ...

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]: ...


class Decoder(nn.Module):
    """x = E[ids] (+ positions) -> causal blocks -> norm; p(next) = softmax(O h), where O may be E."""

    def __init__(
        self,
        embedding: Embedding,
        position: nn.Module | None,
        blocks: list[nn.Module],
        norm: nn.Module,
        output: Embedding,
        dropout: float,
    ) -> None:
        super().__init__()
        self.embedding, self.position, self.norm, self.output = embedding, position, norm, output
        self.absolute = position is not None
        self.blocks: Any = nn.ModuleList(blocks)
        self.dropout = Dropout(dropout)

    def forward(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t d"]:
        x = self.embedding(ids)
        if self.position is not None:
            x = x + self.position(ids.shape[1])
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        return self.norm(x)

    def start(self, batch: int) -> Any:
        return 0, tuple(block.mixer.start(batch) for block in self.blocks)

    def step(self, token: Int[Tensor, "b"], state: Any) -> tuple[Float[Tensor, "b d"], Any]:
        past, states = state
        x = self.embedding(token)
        if self.position is not None:
            x = x + self.position(1, past)[0]
        after = []
        for block, mine in zip(self.blocks, states, strict=True):
            x, mine = block.step(x, mine)
            after.append(mine)
        return self.norm(x), (past + 1, tuple(after))

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        return self.output.logits(hidden)
