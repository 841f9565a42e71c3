"""Linformer is its equation; all attention that saves work costs what it says and refuses what it cannot do."""

import math

import pytest
import torch
from dense_attention import CLOSE, B, D, E, H, dense, heads, joined, same_with_gradients
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from headway.core.errors import ConfigError
from headway.layers.attention.big_bird import BigBird
from headway.layers.attention.linear_attention import LinearAttention
from headway.layers.attention.linformer import Linformer
from headway.layers.attention.longformer import Longformer
from headway.layers.attention.multihead import Multihead
from headway.layers.attention.performer import Performer
from headway.layers.masks import Causal, Everything, First, Matrix, Window

pytestmark = pytest.mark.usefixtures("doubles")


# -- linformer -------------------------------------------------------------------------------------------------------------------


def test_linformer_with_identities_for_projections_is_softmax_attention() -> None:
    mixer, x = Linformer(D, H, rank=9, longest=9), torch.randn(B, 9, D)
    with torch.no_grad():
        for projection in (mixer.e, mixer.f):
            projection.copy_(torch.eye(9))
    same_with_gradients(mixer, mixer, lambda x: dense(mixer, x, torch.ones(9, 9, dtype=torch.bool)), x)


def test_linformer_is_its_equation() -> None:
    mixer, x = Linformer(D, H, rank=4, longest=20), torch.randn(B, 9, D)
    q, k, v = heads(mixer, x)
    k, v = torch.einsum("rs,bhse->bhre", mixer.e[:, :9], k), torch.einsum("rs,bhse->bhre", mixer.f[:, :9], v)
    torch.testing.assert_close(mixer(x), joined(mixer, (q @ k.mT / math.sqrt(E)).softmax(-1) @ v), **CLOSE)


def test_linformer_says_what_is_too_long() -> None:
    with pytest.raises(
        ConfigError, match=r"the sequence has 21 positions, .* at most `longest` = 20\nHint: construct it with `longest=21`"
    ):
        Linformer(D, H, longest=20)(torch.randn(1, 21, D))


# -- all -------------------------------------------------------------------------------------------------------------------------

EVERY = [Linformer, Performer, LinearAttention, BigBird, Longformer]


@pytest.mark.parametrize("make", EVERY)
def test_what_cannot_be_done_is_refused(make: type) -> None:
    name = {"BigBird": "big_bird", "LinearAttention": "linear_attention"}.get(make.__name__, make.__name__.lower())
    for mask in (Window(3), Causal() & Window(3), Window(2) | First(1), Matrix(torch.eye(4, dtype=torch.bool))):
        with pytest.raises(
            ConfigError, match=rf"`{name}` cannot use a mask of the kind .*`Everything\(\)` or `Causal\(\)`\nHint: take `multihead`"
        ):
            make(D, H, mask)
    assert not make(D, H, Everything()).causal


def test_linformer_says_why_it_cannot_be_causal() -> None:
    reason = (
        r"cannot be causal: its projections mix all positions, so the future would leak.*"
        r"\nHint: take `performer`, `linear_attention` or `longformer`"
    )
    with pytest.raises(ConfigError, match=reason):
        Linformer(D, H, Causal())


@pytest.mark.parametrize(
    ("make", "way", "told"),
    [
        (Linformer, {"rank": 0, "longest": -1}, r"`rank` is 0, `longest` is -1; expected 1 or more\nHint: write `rank=1`"),
        (Performer, {"features": 0}, "`features` is 0; expected 1 or more"),
        (Longformer, {"window": -1}, "`window` is -1; expected 0 or more"),
        (Longformer, {"dilation": 0}, "`dilation` is 0; expected 1 or more"),
        (BigBird, {"block": 0}, "`block` is 0; expected 1 or more"),
        (BigBird, {"random": -2}, "`random` is -2; expected 0 or more"),
    ],
)
def test_sizes_are_checked(make: type, way: dict[str, int], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        make(D, H, **way)


COSTS = [(make, mask) for make in EVERY for mask in (None, Causal()) if not (make is Linformer and mask)]


class Largest(torch.utils._python_dispatch.TorchDispatchMode):
    """Notes the size of the largest tensor that any operation returns."""

    size = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for part in out if isinstance(out, tuple | list) else (out,):
            self.size = max(self.size, part.numel() if isinstance(part, Tensor) else 0)
        return out


@pytest.mark.parametrize(("make", "mask"), [*COSTS, (Multihead, None)])
def test_twice_the_length_costs_twice_as_much(make: type, mask: Causal | None) -> None:
    """Multiplications and the largest tensor, counted without the fused kernel, which hides both; multi-head attention is the control."""
    mixer = make(D, H, mask, **{Linformer: {"longest": 2048}, BigBird: {"block": 16}}.get(make, {})).float()
    flops, sizes = [], []
    for length in (1024, 2048):
        x = torch.randn(1, length, D).float()
        with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter, Largest() as largest:
            mixer(x)
        flops.append(counter.get_total_flops())
        sizes.append(largest.size)
    if make is Multihead:
        assert flops[1] > 3 * flops[0] and sizes[1] == H * 2048**2
    else:
        assert flops[1] < 2.05 * flops[0] and sizes[1] < 2.05 * sizes[0] and sizes[1] < H * 2048**2 / 2
