"""The prefix scan of a linear recurrence: all positions of h_t = a_t * h_{t-1} + b_t without walking through them one by one.

The maps h -> a h + b compose to maps of the same kind, (a2, b2) o (a1, b1) = (a2 a1, a2 b1 + b2), and composition is associative
(Blelloch 1990, "Prefix sums and their applications"; Martin & Cundy 2018, https://arxiv.org/abs/1709.04057). So the sequence is cut into
chunks of c positions, all chunks are walked at once, the chunks' ends are scanned in the same way, and then every chunk is walked again
from the state that it really begins with: O(t) work, of which 3 c log_c(t) operations follow each other (more where states are so wide
that fewer chunks fill an operation). It takes memory for the answer only, and nothing but products and sums of the given numbers:
no quotient of cumulative products, and no logarithm, which is where long scans break.
"""

from typing import Any

import torch
from jaxtyping import Inexact
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 16  # positions of a chunk, c
SIZE = 16_384  # numbers per operation: below, starting it costs more than the arithmetic; above, it leaves the cache (measured)


def linear_scan(
    a: Inexact[Tensor, "..."], b: Inexact[Tensor, "b t *n"], h: Inexact[Tensor, "b *n"] | None = None
) -> Inexact[Tensor, "b t *n"]:
    """Prefix scan: every h_t = a_t * h_{t-1} + b_t, real or complex, without walking through the positions one by one.

    `a` broadcasts against `b`; without axis t, or with one of length 1, it is the same at all positions. `h` is the state before the first
    position (zero if not given). Differentiable once; the gradient of a scan is a scan in the other direction: g_t + conj(a_{t+1}) G_{t+1}.
    Also called prefix scan, parallel scan, associative scan.

    a   the factors; broadcast against b
    b   what is added at each position
    h   the state before the first position; None: zero
    """
    a = a.reshape((1,) * (b.ndim - a.ndim) + a.shape)
    return _LinearScan.apply(a, b, b.new_zeros(b.shape[:1] + b.shape[2:]) if h is None else h)


class _LinearScan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, h: Tensor) -> Tensor:
        y = torch.empty_like(b, memory_format=torch.contiguous_format)
        solve(a, b, h, y, ahead=True)
        ctx.save_for_backward(a, h, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:  # type: ignore[override]
        a, h, y = ctx.saved_tensors
        conj = a.conj().resolve_conj()
        total = torch.empty_like(y)
        total[:, -1] = g[:, -1]
        solve(conj if a.shape[1] == 1 else conj[:, 1:], g[:, :-1], g[:, -1], total[:, :-1], ahead=False)
        before = conj[:, 0] * total[:, 0]
        return _product(total, h, y, a) if ctx.needs_input_grad[0] else None, total, before


def _product(g: Tensor, h: Tensor, y: Tensor, a: Tensor) -> Tensor:
    """The gradient of a: sums of g_t conj(h_{t-1}) over all axes along which `a` was repeated."""
    first = (g[:, :1] * h.conj().unsqueeze(1)).sum_to_size(a[:, :1].shape)
    if a.shape[1] > 1:
        return torch.cat((first, (g[:, 1:] * y[:, :-1].conj()).sum_to_size(a[:, 1:].shape)), 1)
    # piece by piece: a product of all positions would be as large as the answer
    rows = max(1, 4 * SIZE * y.shape[1] // y.numel())
    for now, past in zip(g[:, 1:].split(rows, 1), y[:, :-1].split(rows, 1), strict=True):
        first = first + (now * past.conj()).sum_to_size(a.shape)
    return first


def solve(a: Tensor, b: Tensor, h: Tensor, y: Tensor, ahead: bool) -> None:
    """Writes into `y` the states that follow `h`, from the first position to the last, or back from the last one to the first."""
    t = b.shape[1]
    chunks = min(t // CHUNK, SIZE * t // max(1, b.numel()))
    if chunks < 4:
        chunks = 1
    length = t // chunks
    order = range(length) if ahead else range(length - 1, -1, -1)
    done = slice(0, chunks * length) if ahead else slice(t - chunks * length, t)
    each_b, each_y = (z[:, done].unflatten(1, (chunks, length)).unbind(2) for z in (b, y))
    each_a = (a,) * length if a.shape[1] == 1 else a[:, done].unflatten(1, (chunks, length)).unbind(2)

    starts = h.unsqueeze(1)
    if chunks > 1:
        # what a chunk does to a state: product * h + end
        product, ends = (
            torch.ones_like(each_a[0]),
            torch.zeros_like(each_b[0]),
        )
        for j in order:
            torch.addcmul(each_b[j], each_a[j], ends, out=ends)
            product.mul_(each_a[j])
        states = torch.empty_like(ends)
        solve(product, ends, h, states, ahead)
        starts = torch.cat((starts, states[:, :-1]) if ahead else (states[:, 1:], starts), 1)
    for j in order:
        starts = torch.addcmul(each_b[j], each_a[j], starts, out=each_y[j])

    if chunks * length < t:  # what is left over
        rest, last = (slice(done.stop, t), y[:, done.stop - 1]) if ahead else (slice(0, done.start), y[:, done.start])
        solve(a if a.shape[1] == 1 else a[:, rest], b[:, rest], last, y[:, rest], ahead)
