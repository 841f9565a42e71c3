"""Attention that saves work, against attention that does not: dense products, torch's kernel, patterns written as loops."""

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from headway.core.errors import ConfigError
from headway.layers.attention.big_bird import BigBird
from headway.layers.attention.linear import Linear
from headway.layers.attention.linformer import Linformer
from headway.layers.attention.longformer import Longformer
from headway.layers.attention.multihead import Multihead
from headway.layers.attention.performer import Performer, orthogonal
from headway.layers.masks import Causal, Everything, First, Matrix, Window

pytestmark = pytest.mark.usefixtures("doubles")
B, H, E = 3, 2, 5
D = H * E
CLOSE = {"rtol": 0.0, "atol": 1e-10}


def heads(mixer: nn.Module, x: Tensor) -> tuple[Tensor, ...]:
    """Q, K and V, each "b h t e", from weights that lie as in torch's multi-head attention."""
    return tuple(rearrange(y, "b t (h e) -> b h t e", h=mixer.heads) for y in mixer.project(x).chunk(3, -1))


def joined(mixer: nn.Module, y: Tensor) -> Tensor:
    return mixer.output(rearrange(y, "b h t e -> b t (h e)"))


def dense(mixer: nn.Module, x: Tensor, allowed: Tensor) -> Tensor:
    return joined(mixer, F.scaled_dot_product_attention(*heads(mixer, x), attn_mask=allowed))


def same_with_gradients(mixer: nn.Module, found: Callable[[Tensor], Tensor], expected: Callable[[Tensor], Tensor], x: Tensor) -> None:
    outcome = []
    for run in (found, expected):
        x = x.detach().requires_grad_()
        mixer.zero_grad()
        y = run(x)
        (y * torch.linspace(-1, 1, y.numel()).view_as(y)).sum().backward()
        outcome.append((y.detach(), x.grad, mixer.project.weight.grad.clone(), mixer.output.weight.grad.clone()))
    for a, b in zip(*outcome, strict=True):
        torch.testing.assert_close(a, b, **CLOSE)


def stepped(mixer: nn.Module, x: Tensor) -> tuple[Tensor, list[int]]:
    """Outputs one by one, and how many numbers the state held after each."""
    state, ys, sizes = mixer.start(len(x)), [], []
    for t in range(x.shape[1]):
        y, state = mixer.step(x[:, t], state)
        ys.append(y)
        sizes.append(sum(part[0].numel() for part in state))
    return torch.stack(ys, 1), sizes


# -- sparse: longformer and big bird ---------------------------------------------------------------------------------------------

LONGFORMERS = [
    {"window": 3, "dilation": 1, "first": 2},
    {"window": 3, "dilation": 4, "first": 0},
    {"window": 40, "dilation": 2, "first": 3},
    {"window": 0, "dilation": 1, "first": 1},
    {"window": 2, "dilation": 300, "first": 1},
    {"window": 500, "dilation": 1, "first": 500},
]
BIRDS = [
    {"block": 4, "window": 1, "first": 1, "random": 2},
    {"block": 3, "window": 0, "first": 0, "random": 5},
    {"block": 16, "window": 2, "first": 2, "random": 0},
    {"block": 200, "window": 1, "first": 1, "random": 1},
]
LENGTHS = [1, 2, 33, 101]


def longformer_sees(m: Longformer, t: int, s: int, length: int) -> bool:
    if t < m.first or s < m.first:
        return True
    return any(s == t + j * m.dilation for j in range(-m.window, m.window + 1))


def big_bird_sees(m: BigBird, t: int, s: int, length: int) -> bool:
    i, j, first = t // m.block, s // m.block, m.first // m.block
    there = i + 1 if m.causal else math.ceil(length / m.block)
    return i < first or j < first or abs(i - j) <= m.window or j in [int(u) % there for u in m.u[i]]


SPARSE = [(Longformer, longformer_sees, way) for way in LONGFORMERS] + [(BigBird, big_bird_sees, way) for way in BIRDS]
sparse = pytest.mark.parametrize(
    ("make", "sees", "way"), SPARSE, ids=lambda v: "-".join(map(str, v.values())) if isinstance(v, dict) else ""
)
either = pytest.mark.parametrize("mask", [None, Causal()], ids=["everything", "causal"])


@sparse
@either
def test_the_pattern_is_its_definition(make: type, sees: Callable, way: dict[str, int], mask: Causal | None) -> None:
    mixer = make(D, H, mask, **way)
    for length in LENGTHS:
        rule = [[sees(mixer, t, s, length) and (mask is None or s <= t) for s in range(length)] for t in range(length)]
        assert torch.equal(mixer.pattern(length), torch.tensor(rule))


@sparse
@either
def test_sparse_is_dense_under_its_pattern(make: type, sees: Callable, way: dict[str, int], mask: Causal | None) -> None:
    mixer = make(D, H, mask, **way)
    for length in LENGTHS:
        x = torch.randn(B, length, D)
        same_with_gradients(mixer, mixer, lambda x: dense(mixer, x, mixer.pattern(x.shape[1])), x)


@sparse
@either
def test_a_padded_row_has_the_pattern_of_its_own_length(make: type, sees: Callable, way: dict[str, int], mask: Causal | None) -> None:
    mixer, lengths = make(D, H, mask, **way), [101, 58, 1]
    keep = torch.arange(101)[None, :] < torch.tensor(lengths)[:, None]
    x = torch.where(keep[..., None], torch.randn(3, 101, D), 1e3).requires_grad_()
    y = mixer(x, keep)
    y.sum().backward()
    assert y.isfinite().all() and x.grad.isfinite().all()
    for row, length in enumerate(lengths):
        alone = x[row : row + 1, :length]
        torch.testing.assert_close(y[row : row + 1, :length], dense(mixer, alone, mixer.pattern(length)), **CLOSE)


@pytest.mark.parametrize(("make", "sees", "way"), SPARSE)
def test_no_query_is_without_a_key(make: type, sees: Callable, way: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a row is zero in torch's kernel of today, but was NaN, and is in the formula."""
    kernel, keep = F.scaled_dot_product_attention, torch.arange(101)[None, :] < torch.tensor([[101], [58], [0]])

    def strict(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Tensor:
        assert attn_mask is None or attn_mask.any(-1).all()
        return kernel(q, k, v, attn_mask)

    monkeypatch.setattr(F, "scaled_dot_product_attention", strict)
    make(D, H, **way)(torch.randn(3, 101, D), keep)


@pytest.mark.parametrize(("make", "sees", "way"), SPARSE)
def test_sparse_steps(make: type, sees: Callable, way: dict[str, int]) -> None:
    mixer, x = make(D, H, Causal(), **way), torch.randn(B, 101, D)
    y, sizes = stepped(mixer, x)
    torch.testing.assert_close(y, mixer(x), **CLOSE)
    if make is Longformer:  # what is out of reach is forgotten
        assert max(sizes) == min(101, mixer.first + mixer.window * mixer.dilation) * 2 * D


def test_random_blocks_are_everywhere_and_travel_with_the_weights() -> None:
    """A block is drawn by another with probability 1 - (1 - 1/n)^r; 60 x 60 pairs, so 4 standard errors are 4 sqrt(p (1 - p) / 3600)."""
    torch.manual_seed(1)
    bird, other = (BigBird(D, H, block=1, window=0, first=0, random=3) for _ in range(2))
    seen = bird.pattern(60)
    off = seen[~torch.eye(60, dtype=torch.bool)].double().mean().item()
    p = 1 - (1 - 1 / 60) ** 3
    assert abs(off - p) < 4 * math.sqrt(p * (1 - p) / 3600)
    assert seen.triu(1).any() and not torch.equal(other.pattern(60), seen)
    other.load_state_dict(bird.state_dict())
    x = torch.randn(1, 60, D)
    assert torch.equal(other.pattern(60), seen) and torch.equal(other(x), bird(x))
    assert torch.equal(bird.to(torch.bfloat16).pattern(60), seen)


# -- kernels: linear and performer -----------------------------------------------------------------------------------------------


def elu_features(mixer: Linear, x: Tensor) -> Tensor:
    return F.elu(x) + 1


def random_features(mixer: Performer, x: Tensor) -> Tensor:
    """exp(w . x - |x|^2 / 2) / sqrt(r) for x / e^(1/4), one number at a time over the features."""
    x = x / E**0.25
    columns = [torch.exp((x * w).sum(-1) - (x * x).sum(-1) / 2) for w in mixer.w]
    return torch.stack(columns, -1) / math.sqrt(len(columns))


KERNELS = [(Linear, elu_features), (Performer, random_features)]
kernels = pytest.mark.parametrize(("make", "features"), KERNELS, ids=["linear", "performer"])


@kernels
@either
@pytest.mark.parametrize("length", [1, 64, 65, 200])
def test_kernel_attention_is_the_quadratic_formula(make: type, features: Callable, mask: Causal | None, length: int) -> None:
    """phi(Q) (phi(K)^T V) = (phi(Q) phi(K)^T) V, in chunks or not."""
    mixer = make(D, H, mask)

    def written_out(x: Tensor) -> Tensor:
        q, k, v = heads(mixer, x)
        a = features(mixer, q) @ features(mixer, k).mT
        a = a.tril() if mask else a
        return joined(mixer, a / a.sum(-1, keepdim=True) @ v)

    same_with_gradients(mixer, mixer, written_out, torch.randn(B, length, D))


@kernels
def test_kernel_attention_steps_with_a_state_that_does_not_grow(make: type, features: Callable) -> None:
    mixer, x = make(D, H, Causal()), torch.randn(B, 150, D)
    y, sizes = stepped(mixer, x)
    torch.testing.assert_close(y, mixer(x), **CLOSE)
    assert len(set(sizes)) == 1


@kernels
@either
def test_large_numbers_stay_numbers(make: type, features: Callable, mask: Causal | None) -> None:
    """Keys whose features are below the smallest float32, e^-103, all of them: forward, step and gradients agree with float64."""
    mixer = make(D, H, mask)
    with torch.no_grad():
        mixer.project.bias[D : 2 * D] -= 300.0  # |k|^2 / 2 is 1e5, elu(k) + 1 is e^-300
    x = torch.randn(B, 150, D, requires_grad=True)
    exact = mixer(x)
    assert exact.isfinite().all() and exact.std() > 1e-3
    mixer, x = mixer.float(), x.detach().float().requires_grad_()
    y = mixer(x)
    y.square().sum().backward()
    assert y.isfinite().all() and x.grad.isfinite().all() and exact.sub(y).abs().max() < 0.1
    if mask:
        assert stepped(mixer, x.detach())[0].sub(y).abs().max() < 1e-3


@kernels
def test_a_large_key_of_the_future_leaves_the_past_alone(make: type, features: Callable) -> None:
    """In float32, inside one chunk: a common maximum would cancel on paper and erase the past in the computer."""
    mixer, x = make(D, H, Causal()).float(), torch.randn(1, 60, D).float()
    with torch.no_grad():
        mixer.project.bias[D : 2 * D] -= 200.0
    changed = x.clone()
    changed[:, 30] *= 500
    assert torch.equal(mixer(changed)[:, :30], mixer(x)[:, :30])


@kernels
def test_a_row_of_nothing_but_padding_is_not_nan(make: type, features: Callable) -> None:
    x = torch.randn(2, 5, D, requires_grad=True)
    keep = torch.tensor([[True] * 5, [False] * 5])
    for mixer in (make(D, H), Linformer(D, H), Longformer(D, H), BigBird(D, H)):
        y = mixer(x, keep)
        y[0].sum().backward()
        assert y.isfinite().all() and x.grad.isfinite().all()


def estimates(w: Tensor, q: Tensor, k: Tensor) -> Tensor:
    """phi(q) . phi(k) from each group of e rows of w: as many independent estimates of exp(q . k / sqrt(e)) as there are groups."""
    performer = Performer(E, 1, features=len(w))
    performer.w = w
    return (performer.logarithm(q) + performer.logarithm(k)).exp().unflatten(-1, (-1, E)).mean(-1)


def test_random_features_estimate_the_exponential() -> None:
    """E phi(q) . phi(k) = exp(q . k / sqrt(e)), within 4 standard errors."""
    q, k = 0.4 * torch.randn(2, 6, E)
    found, exact = estimates(orthogonal(20_000 * E, E), q, k), ((q * k).sum(-1) / math.sqrt(E)).exp()
    error = found.std(-1) / math.sqrt(20_000)
    assert ((found.mean(-1) - exact).abs() < 4 * error).all() and (error < 0.02 * exact).all()


def test_orthogonal_features_have_the_smaller_error() -> None:
    """Mean squared errors are those of Choromanski et al. 2020: lemma 2 for independent rows, theorem 2 for orthogonal ones.

    mse = exp(|q + k|^2) SM^2 (1 - exp(-|q + k|^2)) / r, and less by 2 (r - 1) / (r (e + 2)) (SM - exp(-(|q|^2 + |k|^2) / 2))^2 at least.
    """
    draws, q, k = 40_000, torch.tensor([0.6, 0.0, 0.5, 0.0, 0.3]), torch.tensor([0.0, 0.7, 0.2, 0.1, -0.3])
    z, sm = (q + k).square().sum(), (q @ k).exp()
    independent = float(z.exp() * sm**2 * (1 - (-z).exp()) / E)
    less = float(2 * (E - 1) / (E * (E + 2)) * (sm - (-(q @ q + k @ k) / 2).exp()) ** 2)
    ours, theirs = ((estimates(w, q * E**0.25, k * E**0.25) - sm).square() for w in (orthogonal(draws * E, E), torch.randn(draws * E, E)))
    error, control = (4 * float(x.std()) / math.sqrt(draws) for x in (ours, theirs))
    assert abs(theirs.mean() - independent) < control
    assert ours.mean() - error < independent - less and ours.mean() + error < independent


def test_features_are_orthogonal_and_each_is_normal() -> None:
    """Each entry is N(0, 1), each squared length is chi^2 with e degrees of freedom; 4.5 standard errors, since 80 means are looked at."""
    assert orthogonal(4 * E + 3, E).shape == (4 * E + 3, E)
    w = orthogonal(4000 * E, E).unflatten(0, (-1, E))
    gram = w @ w.mT
    assert gram.sub(torch.diag_embed(gram.diagonal(dim1=1, dim2=2))).abs().max() < 1e-12
    for draws, mean, variance in ((w, 0, 1), (w**2, 1, 2), (w**4, 3, 96), (w.square().sum(-1), E, 2 * E)):
        assert ((draws.mean(0) - mean).abs() < 4.5 * math.sqrt(variance / len(draws))).all()


def test_performer_converges_to_softmax_attention_as_one_over_the_root_of_the_features() -> None:
    """Slope of log error over log r: four standard errors of the fit, from the spread of the draws, plus what the curve bends.

    The output is a ratio of means over r / e independent groups, so its mean squared error is A / r + B / r^2 + ..., where B / A is about
    the relative variance of one feature, exp(|q + k|^2). The inputs are small enough that this is below 4 and B / (A r) below 0.05
    everywhere: half the logarithm has a slope within 0.05 of -1/2.
    """
    performer, x, draws = Performer(E, 1), 0.3 * torch.randn(1, 12, E), 150
    sizes = [E * 2**i for i in range(4, 9)]
    q, k, v = heads(performer, x)
    assert (q[0, 0, :, None] + k[0, 0, None, :]).square().sum(-1).max() / math.sqrt(E) < math.log(4)
    exact, errors = joined(performer, F.scaled_dot_product_attention(q, k, v)), torch.empty(len(sizes), draws)
    with torch.no_grad():
        for row, r in enumerate(sizes):
            for column in range(draws):
                performer.w = orthogonal(r, E)
                errors[row, column] = (performer(x) - exact).square().mean()
    u = torch.tensor(sizes).log()
    c = (u - u.mean()) / (u - u.mean()).square().sum()
    slope = c @ errors.mean(1).log() / 2
    error = (c * errors.std(1) / errors.mean(1) / math.sqrt(draws) / 2).square().sum().sqrt()
    print(f"slope {slope:.3f} +- {error:.3f}")
    assert error < 0.03 and abs(slope + 0.5) < 4 * error + 0.05


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

EVERY = [Linformer, Performer, Linear, BigBird, Longformer]


@pytest.mark.parametrize("make", EVERY)
def test_what_cannot_be_done_is_refused(make: type) -> None:
    name = {"BigBird": "big_bird"}.get(make.__name__, make.__name__.lower())
    for mask in (Window(3), Causal() & Window(3), Window(2) | First(1), Matrix(torch.eye(4, dtype=torch.bool))):
        with pytest.raises(
            ConfigError, match=rf"`{name}` cannot use a mask of the kind .*`Everything\(\)` or `Causal\(\)`\nHint: take `multihead`"
        ):
            make(D, H, mask)
    assert not make(D, H, Everything()).causal


def test_linformer_says_why_it_cannot_be_causal() -> None:
    reason = (
        r"cannot be causal: its projections mix all positions, so the future would leak.*\nHint: take `performer`, `linear` or `longformer`"
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
