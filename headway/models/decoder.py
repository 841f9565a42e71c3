"""What every language model offers to training and to decoding, and the stack of causal blocks that most of them are.

    forward(ids, past)     -> hidden "b t d"        hidden_t predicts the token after ids_t
    predicted(ids, past)   -> hidden "n d", "b t"   what a training step learns from: n states, and at which places
    start(batch)           -> state                 nothing read yet
    step(token, state)     -> hidden, state         one token read, without reading again what was read (generation)
    logits(hidden)         -> "... v"
    output.weight          "v d"                    the output matrix, for the loss that never holds all logits
    memory                                          how many tokens before a window still reach into it; 0: none do
    absolute                                        whether places are counted from the beginning of a text: those that
                                                    were not trained are not known (generation begins anew there)

`past` are the tokens before the window: at most `memory` of them are used, and no gradient enters them. The state is a
value: how many tokens were read, and for each block a cache, or tensors in a tuple, each with the batch as its first axis; and the last
tokens, where n-grams of tokens have embeddings.
"""

from collections.abc import Iterator
from typing import Any, Protocol, cast, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.layers.attention.cache import Cache
from headway.layers.attention.transformer_xl import TransformerXL
from headway.layers.dropout import Dropout
from headway.layers.embedding import Embedding
from headway.layers.ngrams import NGrams

LayerState = tuple[Tensor | int, ...] | Cache | Tensor  # of one mixer, or the last tokens
State = tuple[int, tuple[LayerState, ...]]


@runtime_checkable
class LanguageModel(Protocol):
    training: bool
    output: Embedding
    memory: int
    absolute: bool

    def __call__(self, ids: Int[Tensor, "b t"], past: Int[Tensor, "b m"] | None = None) -> Float[Tensor, "b t d"]: ...

    def predicted(
        self, ids: Int[Tensor, "b t"], past: Int[Tensor, "b m"] | None = None
    ) -> tuple[Float[Tensor, "n d"], Bool[Tensor, "b t"]]: ...

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def start(self, batch: int) -> State: ...

    def step(self, token: Int[Tensor, "b"], state: State) -> tuple[Float[Tensor, "b d"], State]: ...

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]: ...


class Decoder(nn.Module):
    """x = E[ids] (+ n-grams, + positions) -> causal blocks -> norm; p(next) = softmax(O h), where O may be E.

    Blocks of Transformer-XL carry a memory over windows: the tokens before a window are read first, without gradient,
    and each block keeps the inputs of its mixer at the last positions. The paper keeps what older weights made of them
    in the steps before; here it is computed anew, so that a step is a function of the weights and the batch alone.
    """

    def __init__(
        self,
        embedding: Embedding,
        position: nn.Module | None,
        blocks: list[nn.Module],
        norm: nn.Module,
        output: Embedding,
        dropout: float,
        ngrams: NGrams | None = None,
    ) -> None:
        super().__init__()
        self.ngrams = ngrams
        self.embedding, self.position, self.norm, self.output = embedding, position, norm, output
        self.absolute = position is not None
        self.blocks: Any = nn.ModuleList(blocks)
        self.dropout = Dropout(dropout)
        self.memory = sum(b.mixer.memory for b in self.blocks if isinstance(b.mixer, TransformerXL))

    def forward(self, ids: Int[Tensor, "b t"], past: Int[Tensor, "b m"] | None = None) -> Float[Tensor, "b t d"]:
        memories = self._memories(past)
        x = self._embed(ids)
        for block, memory in zip(self.blocks, memories, strict=True):
            x = block(x, None, memory)
        return self.norm(x)

    def predicted(
        self, ids: Int[Tensor, "b t"], past: Int[Tensor, "b m"] | None = None
    ) -> tuple[Float[Tensor, "n d"], Bool[Tensor, "b t"]]:
        """Every position is predicted."""
        return self(ids, past).flatten(0, 1), torch.ones_like(ids, dtype=torch.bool)

    def _embed(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t d"]:
        x = self.embedding(ids)
        if self.ngrams is not None:
            x = x + self.ngrams(ids, self.ngrams.before(ids))
        if self.position is not None:
            x = x + self.position(ids.shape[1])
        return self.dropout(x)

    @torch.no_grad()
    def _memories(self, past: Int[Tensor, "b m"] | None) -> list[Float[Tensor, "b _ d"] | None]:
        """For each block what its mixer read at the last positions of the past."""
        if past is None or self.memory == 0 or past.shape[1] == 0:
            return [None] * len(self.blocks)
        x, memories = self._embed(past[:, -self.memory :]), []
        for block in self.blocks:
            x, read = block.read(x)
            memories.append(read[:, -block.mixer.memory :])
        return memories

    def start(self, batch: int) -> State:
        states = tuple(block.mixer.start(batch) for block in self.blocks)
        if self.ngrams is not None:
            states = (*states, self.embedding.weight.new_full((batch, self.ngrams.seen), -1, dtype=torch.long))
        return 0, states

    def step(self, token: Int[Tensor, "b"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        past, states = state
        x = self.embedding(token)
        if self.ngrams is not None:
            before = cast(Tensor, states[-1])
            x, last = x + self.ngrams(token, before.T), torch.cat((token[:, None], before[:, :-1]), 1)
        if self.position is not None:
            x = x + self.position(1, past)[0]
        after = []
        for block, mine in zip(self.blocks, states, strict=self.ngrams is None):
            x, mine = block.step(x, mine)
            after.append(mine)
        return self.norm(x), (past + 1, tuple(after if self.ngrams is None else (*after, last)))

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        return self.output.logits(hidden)
