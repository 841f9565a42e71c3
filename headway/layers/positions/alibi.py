import torch
from jaxtyping import Float
from torch import Tensor, nn


def slopes(heads: int) -> list[float]:
    """2^(-8i/h), i = 1 .. h, for a power of two; between powers every other slope of the next one is added, as the authors do."""
    power = 2 ** (heads.bit_length() - 1)
    first = [2.0 ** (-8 * i / power) for i in range(1, power + 1)]
    # of 2 * power heads, those that `first` has not
    between = [2.0 ** (-4 * i / power) for i in range(1, 2 * power + 1, 2)]
    return (first + between)[:heads]


class Alibi(nn.Module):
    """Attention with linear biases: a score loses m_h for each step between query and key, b_ts = -m_h |t - s|.

    The slopes m_h are fixed, 1/2, 1/4 ... 1/256 for eight heads, so any length is defined and lengths beyond those of training are read
    well. Press, Smith, Lewis 2022, "Train short, test long", https://arxiv.org/abs/2108.12409; |t - s| is the paper's t - s where the
    mask is causal, and treats both directions alike where it is not.

    width   e, the width of a head
    """

    aliases = ("ALiBi", "attention with linear biases", "linear biases")
    acts = "scores"

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(slopes(heads))[:, None, None], persistent=False)
        self.slopes: Tensor

    def turn(self, x: Float[Tensor, "b h t e"], offset: int) -> Float[Tensor, "b h t e"]:
        return x

    def bias(
        self, q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"], offset: int, scale: float | None = None
    ) -> Float[Tensor, "1 h t s"]:
        """The slopes are those of the finished scores, so the scale of the score does not matter."""
        t = torch.arange(offset, offset + q.shape[2], device=q.device)[:, None]
        s = torch.arange(k.shape[2], device=q.device)[None, :]
        return (-self.slopes * (t - s).abs()).to(q.dtype).unsqueeze(0)
