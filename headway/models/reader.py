"""What every model offers that reads a text from both sides: a vector for each position, and one for the whole.

    states(ids, keep)    -> "b t d"     one vector for each token
    forward(ids, keep)   -> "b d"       one for the text: what a class is read from, by `logits(hidden) -> "b c"`
    tag_logits(states)   -> "b t c"     scores at each position: of the tags of a word, or of the beginning and the end of an answer

Which heads a model has follows from the sizes that a task knows: `outputs` (of a text), `tags` (of a position). A text in
two parts, such as a question and the passage that answers it, is one row of ids; a model that tells the parts apart is
also given `segments` "b t".

A model that fills in masked words (sizes `words` and `next_sentence`) offers as well

    word_logits(states)  -> "... v"     scores of all words, at the positions that are given
    pool(states)         -> "b d"       one vector for the text, as `forward` gives it
    next_logits(hidden)  -> "b 2"       whether the second segment follows the first (0), or is from another place (1)
"""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.errors import ConfigError


@runtime_checkable
class Reader(Protocol):
    training: bool

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def states(
        self, ids: Int[Tensor, "b t"], keep: Bool[Tensor, "b t"], segments: Int[Tensor, "b t"] | None = None
    ) -> Float[Tensor, "b t d"]: ...

    def tag_logits(self, states: Float[Tensor, "b t d"]) -> Float[Tensor, "b t c"]: ...


@runtime_checkable
class MaskedReader(Reader, Protocol):
    def word_logits(self, states: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]: ...

    def pool(self, states: Float[Tensor, "b t d"]) -> Float[Tensor, "b d"]: ...

    def next_logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]: ...


def known(head: nn.Module | None, size: str) -> nn.Module:
    """The head, which is there if the model was made with that size."""
    if head is None:
        raise ConfigError(f"the model was made without `{size}`", f"give it: `headway.model(..., {size}=3)`.")
    return head
