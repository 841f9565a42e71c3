import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.attention.attend import Attend
from headway.layers.linear import Linear
from headway.layers.scores.scaled import Scaled


class ShiftedWindow(nn.Module):
    """Swin's shifted windows: attention among the patches of one window of a grid, with a bias for each displacement.

        Y = softmax(Q K^T / sqrt(e) + B + log M) V W_O,        B_ts = table[y_t - y_s, x_t - x_s]        per head and window

    The grid is rolled by `shift` before it is cut into windows of `window` x `window` patches, and rolled back afterwards: layers that
    alternate between shift 0 and window // 2 carry information across the borders. Rolling brings opposite edges of the grid into one
    window; M keeps them apart, and also the padding of grids that are no multiple of the window. A direction with one window is not
    rolled. Cost grows with the number of patches, not with its square. Liu et al. 2021, https://arxiv.org/abs/2103.14030; lecture A.

    window   patches along each side of a window
    shift    patches that the grid is rolled by: 0 and window // 2 in turn
    """

    aliases = ("Swin attention", "shifted window attention", "W-MSA", "SW-MSA")
    roles = {"table": "table"}

    def __init__(self, width: int, heads: int, window: int, shift: int) -> None:
        super().__init__()
        if not 0 <= shift < window:
            raise ConfigError(
                f"`shift` is {shift} for a `window` of {window}, expected 0 to {window - 1}",
                "use 0 and window // 2 in turn.",
            )
        self.heads, self.window, self.shift = heads, window, shift
        self.project = Linear(width, 3 * width)  # Q, K and V of all heads in one product
        self.attend = Attend(Scaled(width // heads))
        self.output = Linear(width, width)
        self.table = nn.Parameter(torch.empty((2 * window - 1) ** 2, heads))
        nn.init.trunc_normal_(self.table, std=0.02)
        self.register_buffer("places", self._places(), persistent=False)
        self.places: Tensor

    def forward(self, x: Float[Tensor, "b y x d"]) -> Float[Tensor, "b y x d"]:
        rows, columns = x.shape[1:3]
        w = self.window
        down, right = -rows % w, -columns % w
        shifts = self._shifts(rows, columns)
        x = F.pad(x, (0, 0, 0, right, 0, down)).roll([-n for n in shifts], (1, 2))
        cut = "b (y i) (x j) (n h e) -> n b (y x h) (i j) e"  # windows stand beside heads: mask and bias are the same for all b
        q, k, v = rearrange(self.project(x), cut, n=3, h=self.heads, i=w, j=w).unbind(0)
        windows = q.shape[1] // self.heads
        bias = self.table[self.places].permute(2, 0, 1).repeat(windows, 1, 1).unsqueeze(0)
        allowed = None
        if down or right or any(shifts):
            allowed = self._allowed((rows, columns), shifts, x.device).repeat_interleave(self.heads, 0).unsqueeze(0)
        y = self.attend(q, k, v, allowed, bias=bias)
        y = rearrange(y, "b (y x h) (i j) e -> b (y i) (x j) (h e)", h=self.heads, i=w, x=x.shape[2] // w)
        return self.output(y.roll(shifts, (1, 2))[:, :rows, :columns])

    def over_grid(self, weights: Float[Tensor, "b n t s"], rows: int, columns: int) -> Float[Tensor, "b h p p"]:
        """The weights of all windows as one map over a grid of `rows` x `columns` patches, 0 between different windows.

        weights   of `attend`, those of n = windows x heads
        """
        w, shifts = self.window, self._shifts(rows, columns)
        numbers = F.pad(torch.arange(rows * columns).view(rows, columns), (0, -columns % w, 0, -rows % w), value=-1)
        windows = rearrange(numbers.roll([-n for n in shifts], (0, 1)), "(y i) (x j) -> (y x) (i j)", i=w, j=w)
        found = weights.new_zeros(len(weights), self.heads, rows * columns, rows * columns)
        for window, part in zip(windows, weights.split(self.heads, 1), strict=True):
            real = window >= 0  # padding is no patch of the grid
            patches = window[real]
            found[:, :, patches[:, None], patches] = part[:, :, real][..., real]
        return found

    def _shifts(self, rows: int, columns: int) -> list[int]:
        """How far the grid is rolled. A direction that is a single window has no border to cross."""
        return [self.shift if n > self.window else 0 for n in (rows, columns)]

    def _places(self) -> Int[Tensor, "t s"]:
        """The row of the table for each pair of patches in a window: their displacement in y and x, counted from -(window - 1)."""
        w = self.window
        y, x = torch.arange(w * w) // w, torch.arange(w * w) % w
        return (y[:, None] - y[None, :] + w - 1) * (2 * w - 1) + x[:, None] - x[None, :] + w - 1

    def _allowed(self, sizes: tuple[int, int], shifts: list[int], device: torch.device) -> Bool[Tensor, "n t s"]:
        """Who sees whom in each of n windows: patches of one region, that is, neighbours also before the grid was rolled."""
        labels = []
        for size, shift in zip(sizes, shifts, strict=True):
            whole = size + -size % self.window
            # Where a patch stood before rolling; beyond `whole` it came around the edge.
            place = torch.arange(whole, device=device) + shift
            labels.append(((place >= whole).long(), place % whole < size))
        (round_y, real_y), (round_x, real_x) = labels
        # padding sees padding: no row is empty
        region = torch.where(real_y[:, None] & real_x, 2 * round_y[:, None] + round_x, -1)
        region = rearrange(region, "(y i) (x j) -> (y x) (i j)", i=self.window, j=self.window)
        return region[:, :, None] == region[:, None, :]
