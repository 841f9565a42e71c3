"""What every translation model offers to training and to decoding.

    forward(source, keep, target) -> hidden "b t d"        all target positions at once (training)
    read(source, keep)            -> memory, state         once per sentence
    step(token, state, memory)    -> hidden, state         once per output position (decoding)
    logits(hidden)                -> "... v"
    output.weight                 "v d"                    the output matrix, for the loss that never holds all logits

`memory` is fixed while a sentence is decoded: keys and values of what attention looks at. `state` grows: tensors in a
tuple for each layer. Each tensor has the batch as its first axis. With k hypotheses per sentence the state has b*k rows
and the memory still b.
"""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.layers.attention.cross import Remembered
from headway.layers.embedding import Embedding
from headway.models.decoder import LayerState

Memory = tuple[Remembered, ...]
State = tuple[LayerState, ...]


@runtime_checkable
class EncoderDecoder(Protocol):
    training: bool

    @property
    def output(self) -> Embedding: ...

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def __call__(
        self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"], target: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t d"]: ...

    def read(self, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"]) -> tuple[Memory, State]: ...

    def step(self, token: Int[Tensor, "bk"], state: State, memory: Memory) -> tuple[Float[Tensor, "bk d"], State]: ...

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]: ...
