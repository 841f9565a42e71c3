import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from headway.layers.precision import widened


class Rotary(nn.Module):
    """Rotary positions: each pair of entries of q_t and k_t is turned by t w_i, so q_t . k_s depends on t - s only.

        (x_2i, x_2i+1) <- (x_2i cos t w_i - x_2i+1 sin t w_i,  x_2i sin t w_i + x_2i+1 cos t w_i),        w_i = 10000^(-2i/e)

    which is the product of the complex numbers x_2i + i x_2i+1 and exp(i t w_i), and is computed so: one operation
    instead of six. An odd width e leaves its last entry as it is, and its frequencies are those of e - 1. Half
    precision is turned in float32. Su et al. 2021, "RoFormer", https://arxiv.org/abs/2104.09864, equation 34.

    width   e, the width of a head
    """

    aliases = ("RoPE", "rotary position embedding", "RoFormer positions")
    acts = "scores"

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.pairs = width // 2
        # Not a buffer: `Module.to(dtype)` would drop the imaginary parts. Made where it is used, in that type.
        self.table: Complex[Tensor, "t i"] | None = None

    def turn(self, x: Float[Tensor, "b h t e"], offset: int) -> Float[Tensor, "b h t e"]:
        wide, stop = widened(x), offset + x.shape[2]
        angles = self._angles(stop, wide)[offset:]
        if x.shape[-1] % 2:
            return torch.cat((self._turned(wide[..., :-1].contiguous(), angles), wide[..., -1:]), -1).to(x.dtype)
        return self._turned(wide, angles).to(x.dtype)

    def _angles(self, count: int, like: Tensor) -> Complex[Tensor, "t i"]:
        """The first rows of the table, which is made anew when it is too short, or of another type or device."""
        kind = like.dtype.to_complex()
        table = self.table
        if table is None or len(table) < count or (table.dtype, table.device) != (kind, like.device):
            table = self.table = self._rows(max(1024, 1 << count.bit_length()), like)
        return table[:count]

    def _rows(self, count: int, like: Tensor) -> Complex[Tensor, "t i"]:
        """exp(i t w) for the positions t = 0 .. count - 1, exact to the type of `like`."""
        with torch.inference_mode(False):  # training may need what generation made
            t = torch.arange(count, dtype=torch.float64, device=like.device)[:, None]
            w = 10000.0 ** (-torch.arange(self.pairs, dtype=torch.float64, device=like.device) / max(1, self.pairs))
            return torch.polar(torch.ones_like(t * w), t * w).to(like.dtype.to_complex())

    def _turned(self, x: Float[Tensor, "b h t e"], angles: Complex[Tensor, "t i"]) -> Float[Tensor, "b h t e"]:
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * angles).flatten(-2)

    def bias(
        self, q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"], offset: int, scale: float | None = None
    ) -> None:
        return None
