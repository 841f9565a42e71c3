from jaxtyping import Bool, Float
from torch import Tensor

from headway.core.errors import ConfigError
from headway.layers.attention.attend import Attend
from headway.layers.attention.multihead import Multihead
from headway.layers.masks import Mask
from headway.layers.scores.scaled import Scaled


class Hopfield(Multihead):
    """Modern Hopfield retrieval: queries are states that settle among the keys, the patterns that are stored.

        xi <- X softmax(beta X^T xi)        `updates` times, X = [k_1 ... k_s]; the last time the values v_s answer in place of the k_s

    Each update does not increase E(xi) = -1/beta log sum_s exp(beta k_s . xi) + xi . xi / 2. One update with beta = 1 /
    sqrt(e) is `multihead`. beta is a fixed number, not learned, and neither states nor patterns are normalised (the
    authors' layer can do both). The states of different queries never meet, so under a causal mask the keys of the past
    are all that a step needs. Ramsauer et al. 2020, "Hopfield networks is all you need",
    https://arxiv.org/abs/2008.02217; lecture C, section 1.4.

    updates   how often the state is updated; 1 is attention
    beta      inverse temperature; None: 1 / sqrt(e)
    """

    aliases = ("modern Hopfield network", "Hopfield layer", "Hopfield retrieval")  # type: ignore[assignment] # as many as it likes
    sees, needs_positions = "mask", True

    def __init__(
        self, width: int, heads: int, mask: Mask | None = None, updates: int = 1, beta: float | None = None
    ) -> None:
        super().__init__(width, heads, mask)
        if updates < 1:
            raise ConfigError(f"`updates` is {updates}, expected 1 or more", "one update is attention.")
        self.attend = Retrieval(width // heads, updates, beta)


class Retrieval(Attend):
    """The weights of the last update and what they make of the values; under `recorded`, every update leaves a map.

    width     e, the width of a head
    updates   how often the state is updated
    beta      inverse temperature; None: 1 / sqrt(e)
    """

    def __init__(self, width: int, updates: int, beta: float | None) -> None:
        score = Scaled(width)
        score.scale = score.scale if beta is None else beta
        super().__init__(score)
        self.updates = updates

    def forward(
        self,
        q: Float[Tensor, "b h t e"],
        k: Float[Tensor, "b h s e"],
        v: Float[Tensor, "b h s e"],
        allowed: Bool[Tensor, "#b #h #t s"] | Bool[Tensor, "t s"] | None = None,
        causal: bool = False,
        bias: Float[Tensor, "#b h t s"] | None = None,
    ) -> Float[Tensor, "b h t e"]:
        for _ in range(self.updates - 1):
            q = super().forward(q, k, k, allowed, causal, bias)
        return super().forward(q, k, v, allowed, causal, bias)
