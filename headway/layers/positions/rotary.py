import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn


class Rotary(nn.Module):
    """Rotary positions: each pair of entries of q_t and k_t is turned by the angle t w_i, so q_t . k_s knows t - s and nothing else.

        (x_2i, x_2i+1) <- (x_2i cos t w_i - x_2i+1 sin t w_i,  x_2i sin t w_i + x_2i+1 cos t w_i),        w_i = 10000^(-2i/e)

    which is the product of the complex numbers x_2i + i x_2i+1 and exp(i t w_i), and is computed so: one operation instead of six. The
    last entry of an odd width stays as it is. Su et al. 2021, "RoFormer", https://arxiv.org/abs/2104.09864, equation 34.
    """

    aliases = ("RoPE", "rotary position embedding", "RoFormer positions")
    inside = True

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.pairs = width // 2
        self.register_buffer("table", self._rows(0, 1024), persistent=False)
        self.table: Tensor

    def _rows(self, start: int, stop: int) -> Complex[Tensor, "t i"]:
        """exp(i t w) for the positions t = start .. stop - 1."""
        t = torch.arange(start, stop, dtype=torch.float64)[:, None]
        w = 10000.0 ** (-torch.arange(self.pairs, dtype=torch.float64) / max(1, self.pairs))
        return torch.polar(torch.ones_like(t * w), t * w).to(torch.get_default_dtype().to_complex())

    def turn(self, x: Float[Tensor, "b h t e"], offset: int) -> Float[Tensor, "b h t e"]:
        stop = offset + x.shape[2]
        angles = self.table[offset:stop] if stop <= len(self.table) else self._rows(offset, stop).to(self.table)
        if x.shape[-1] % 2:
            paired, rest = x[..., :-1].contiguous(), x[..., -1:]
            return torch.cat((self._turned(paired, angles), rest), -1)
        return self._turned(x, angles)

    def _turned(self, x: Float[Tensor, "b h t e"], angles: Complex[Tensor, "t i"]) -> Float[Tensor, "b h t e"]:
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * angles).flatten(-2)

    def bias(self, q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"], offset: int) -> None:
        return None
