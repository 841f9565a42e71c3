"""Positions that act inside attention, against the papers' formulas written another way; and the positions of a grid."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from headway.core import registry
from headway.core.errors import UsageError
from headway.layers.attention.attend import recorded
from headway.layers.attention.multihead import Multihead
from headway.layers.masks import Causal
from headway.layers.positions.alibi import Alibi, slopes
from headway.layers.positions.learned_grid import LearnedGrid
from headway.layers.positions.relative import Relative
from headway.layers.positions.rotary import Rotary
from headway.layers.scores.additive import Additive
from headway.layers.scores.dot import Dot
from headway.layers.scores.scaled import Scaled
from headway.layers.scores.unit_norm import UnitNorm

pytestmark = pytest.mark.usefixtures("doubles")
B, T, S, H, E = 3, 7, 5, 2, 11
CLOSE = {"rtol": 0.0, "atol": 1e-12}
INSIDE = [entry.load() for entry in registry.entries("positions").values() if entry.facts["acts"] == "scores"]


def far_from_the_start(module: nn.Module) -> nn.Module:
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    return module


def scores(position: nn.Module, q: Tensor, k: Tensor, first_query: int, first_key: int) -> Tensor:
    """What attention sees of q and k at these places: keys before the first are made up and cut off again."""
    before = torch.randn(*k.shape[:2], first_key, k.shape[3])
    k = torch.cat((before, k), 2)
    dots = position.turn(q, first_query) @ position.turn(k, 0).transpose(-2, -1)
    bias = position.bias(q, k, first_query)
    return (dots if bias is None else dots + bias)[..., first_key:]


def test_all_three_are_here() -> None:
    assert {kind.__name__ for kind in INSIDE} >= {"Rotary", "Alibi", "Relative"}


@pytest.mark.parametrize("kind", INSIDE)
@pytest.mark.parametrize(("width", "heads"), [(E, H), (8, 3)])
def test_scores_depend_on_the_distance_only(kind: type[nn.Module], width: int, heads: int) -> None:
    """Moving queries and keys together changes nothing; moving one of them does."""
    position = far_from_the_start(kind(width, heads))
    for batch, t, s in ((B, T, S), (1, 1, S), (1, 3, T)):
        q, k = torch.randn(batch, heads, t, width), torch.randn(batch, heads, s, width)
        here = scores(position, q, k, 4, 2)
        for moved in (1, 13, 1500):  # the last lies beyond the table of `rotary`
            torch.testing.assert_close(scores(position, q, k, 4 + moved, 2 + moved), here, rtol=0.0, atol=1e-9)
        assert (scores(position, q, k, 6, 2) - here).abs().amax((0, 2, 3)).min() > 1e-3


@pytest.mark.parametrize("kind", INSIDE)
def test_a_position_alone_is_that_position_of_the_whole(kind: type[nn.Module]) -> None:
    """What stepping relies on: the row of the query at `offset`, given the keys up to it, is the row of the whole."""
    position = far_from_the_start(kind(E, H))
    q, k = torch.randn(B, H, T, E), torch.randn(B, H, T, E)
    whole, turned = position.bias(q, k, 0), position.turn(q, 0)
    for t in range(T):
        torch.testing.assert_close(position.turn(q[:, :, t : t + 1], t), turned[:, :, t : t + 1], **CLOSE)
        if whole is not None:
            alone = position.bias(q[:, :, t : t + 1], k[:, :, : t + 1], t)
            torch.testing.assert_close(alone, whole[:, :, t : t + 1, : t + 1], **CLOSE)


@pytest.mark.parametrize("kind", INSIDE)
def test_order_is_seen(kind: type[nn.Module]) -> None:
    """Attention without positions gives a permuted sequence a permuted answer; with a position it does not."""
    x, order = torch.randn(1, T, E * H), torch.randperm(T)
    for position, equal in ((None, True), (kind, False)):
        mixer = far_from_the_start(Multihead(E * H, H, position=position))
        assert torch.allclose(mixer(x[:, order]), mixer(x)[:, order], atol=1e-10) == equal


@pytest.mark.parametrize("kind", INSIDE)
def test_attention_with_it_steps_as_it_runs(kind: type[nn.Module]) -> None:
    mixer = far_from_the_start(Multihead(E * H, H, Causal(), position=kind))
    x = torch.randn(B, T, E * H)
    state, whole = mixer.start(B), mixer(x)
    for t in range(T):
        y, state = mixer.step(x[:, t], state)
        torch.testing.assert_close(y, whole[:, t], **CLOSE)


@pytest.mark.parametrize("width", [1, 2, 8, 11])
def test_rotary_is_a_product_with_complex_numbers(width: int) -> None:
    """Pairs are complex numbers z_i, turned by exp(1j t w_i)."""
    x, pairs = torch.randn(B, H, T, width), width // 2
    for offset in (0, 3, 1020, 4000):  # inside the table, across its end, beyond it
        t = np.arange(offset, offset + T)[:, None]
        z = x.numpy()[..., 0 : 2 * pairs : 2] + 1j * x.numpy()[..., 1 : 2 * pairs : 2]
        z = z * np.exp(1j * t * 10000.0 ** (-2 * np.arange(pairs) / (2 * pairs or 1)))
        expected = x.numpy().copy()
        expected[..., 0 : 2 * pairs : 2], expected[..., 1 : 2 * pairs : 2] = z.real, z.imag
        np.testing.assert_allclose(Rotary(width, H).turn(x, offset).numpy(), expected, atol=1e-12)
    assert Rotary(width, H).bias(x, x, 0) is None
    assert not list(Rotary(width, H).parameters()) and not Rotary(width, H).state_dict()


def test_alibi_has_the_slopes_of_the_paper() -> None:
    """Section 3 prints 1/2 ... 1/256 for 8 heads and 1/sqrt 2 ... 1/2^8 for 16; the authors' code adds 1/sqrt 2, 1/2 sqrt 2 ... for 12."""
    eight = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert slopes(8) == eight
    assert slopes(12) == pytest.approx([*eight, 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5], rel=1e-15)
    assert slopes(16) == pytest.approx([2 ** (-i / 2) for i in range(1, 17)], rel=1e-15)
    assert slopes(1) == [1 / 256] and slopes(2) == [1 / 16, 1 / 256] and slopes(3) == [1 / 16, 1 / 256, 1 / 4]
    assert all(len(slopes(n)) == len(set(slopes(n))) == n for n in range(1, 70))


def test_alibi_is_minus_slope_times_distance() -> None:
    for offset in (0, 4):
        found = Alibi(E, 12).bias(torch.randn(B, 12, T, E), torch.randn(B, 12, S, E), offset)
        assert found.shape == (1, 12, T, S)
        for h, t, s in np.ndindex(12, T, S):
            assert float(found[0, h, t, s]) == pytest.approx(-slopes(12)[h] * abs(offset + t - s), rel=1e-15)
    x = torch.randn(B, H, T, E)
    assert Alibi(E, H).turn(x, 3) is x and not list(Alibi(E, H).parameters())


@pytest.mark.parametrize(
    ("batch", "t", "s", "offset"), [(3, 7, 5, 0), (3, 7, 7, 0), (1, 1, 6, 5), (1, 3, 9, 6), (2, 6, 1, 2), (3, 1, 1, 0)]
)
def test_relative_has_the_four_terms_of_the_paper(batch: int, t: int, s: int, offset: int) -> None:
    """A_ij = q_i k_j + q_i W_r R_(i-j) + u k_j + v W_r R_(i-j), one number at a time; the first term is the score's."""
    position = far_from_the_start(Relative(E, H))
    q, k = torch.randn(batch, H, t, E), torch.randn(batch, H, s, E)
    found = (q @ k.transpose(-2, -1) / math.sqrt(E) + position.bias(q, k, offset)).detach().numpy()
    u, v, w = (p.detach().numpy() for p in (position.u, position.v, position.weight))
    assert u.shape == v.shape == (H, 1, E) and w.shape == (H, E, H * E)
    for b, h, i, j in np.ndindex(batch, H, t, s):
        distance = offset + i - j
        angles = [distance / 10000 ** (2 * n / (H * E)) for n in range(H * E // 2)]
        r = np.array([math.sin(a) for a in angles] + [math.cos(a) for a in angles])
        query, key, far = q[b, h, i].numpy(), k[b, h, j].numpy(), w[h] @ r
        terms = query @ key + query @ far + u[h, 0] @ key + v[h, 0] @ far
        assert found[b, h, i, j] == pytest.approx(terms / math.sqrt(E), abs=1e-12)


def test_relative_gradients_are_those_of_the_formula() -> None:
    for batch, t in ((1, 2), (2, 3)):  # both orders of the product
        position = far_from_the_start(Relative(3, 3))  # h e = 9 is odd: one cosine less than sines
        q, k = torch.randn(batch, 3, t, 3, requires_grad=True), torch.randn(batch, 3, 4, 3, requires_grad=True)
        values = dict(position.named_parameters())

        def run(q: Tensor, k: Tensor, *parameters: Tensor, own: nn.Module = position, names: tuple[str, ...] = tuple(values)) -> Tensor:
            return torch.func.functional_call(Biased(own), {f"own.{n}": p for n, p in zip(names, parameters, strict=True)}, (q, k))

        assert torch.autograd.gradcheck(run, (q, k, *values.values()))


class Biased(nn.Module):
    def __init__(self, own: nn.Module) -> None:
        super().__init__()
        self.own = own

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return self.own.bias(q, k, 2)


def test_a_grid_is_rows_beside_columns() -> None:
    for width in (6, 7):
        positions = LearnedGrid(width, longest=5)
        found = positions(3, 5)
        assert found.shape == (3, 5, width)
        for y, x in np.ndindex(3, 5):
            assert torch.equal(found[y, x], torch.cat((positions.rows[y], positions.columns[x])))
        assert len({tuple(p.tolist()) for p in found.flatten(0, 1)}) == 15
        found.square().sum().backward()
        assert positions.rows.grad is not None and bool((positions.rows.grad[3:] == 0).all() and (positions.rows.grad[:3] != 0).all())
    for size in ((6, 2), (2, 6)):
        with pytest.raises(
            UsageError, match=rf"a grid of {size[0]} x {size[1]} patches was asked of .* that end at 5\nHint: .* `longest` 6"
        ):
            positions(*size)


@pytest.mark.parametrize("odd", [0, 1], ids=["even", "odd"])
def test_rotary_survives_every_change_of_type(odd: int) -> None:
    """There is no complex buffer that `Module.to` could cut: the angles are exact in the type that comes in."""
    mixer, x = Multihead(8 + 2 * odd, 2, Causal(), position=Rotary), torch.randn(B, T, 8 + 2 * odd)
    exact = mixer(x)
    assert not list(mixer.position.buffers())
    mixer = mixer.to(torch.float32)
    single = mixer(x.float())
    torch.testing.assert_close(single.double(), exact, rtol=0.0, atol=1e-5)
    # The weights were rounded to float32, the angles were not.
    torch.testing.assert_close(mixer.to(torch.float64)(x), exact, rtol=0.0, atol=1e-6)
    for kind in (torch.bfloat16, torch.float16):
        torch.testing.assert_close(mixer.to(kind)(x.to(kind)).double(), exact, rtol=0.0, atol=0.05)
    x, place = torch.randn(B, H, T, 6), Rotary(6, H)
    place.float().turn(x.float(), 0)
    torch.testing.assert_close(place.turn(x, 5), Rotary(6, H).turn(x, 5), rtol=0.0, atol=1e-15)


def test_what_rotary_makes_in_inference_serves_training() -> None:
    place, x = Rotary(6, H), torch.randn(B, H, T, 6)
    with torch.inference_mode():
        place.turn(x, 2000)
    x = x.requires_grad_()
    place.turn(x, 2000).square().sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach(), **CLOSE)  # turning keeps lengths


@pytest.mark.parametrize(
    ("score", "scale"), [(Scaled, E**-0.5), (Dot, 1.0), (partial(UnitNorm, alpha=-0.5), E**0.5), (Additive, E**-0.5)]
)
def test_relative_terms_are_on_the_scale_of_the_score(score: Callable, scale: float) -> None:
    """All four terms of the paper have one factor, the score's own.

    With 1 / sqrt(e) for the last three and sqrt(e) for the first, as it once was under `unit_norm`, they are weakened
    by e: at the start of a GPT of width 128 with 2 heads their spread was 0.08 beside 0.99.
    """
    mixer, x = Multihead(H * E, H, Causal(), score, Relative), torch.randn(B, T, H * E)
    far_from_the_start(mixer)
    with recorded(mixer) as maps:
        whole = mixer(x)
    torch.testing.assert_close(mixer(x), whole, **CLOSE)
    ((found,),) = maps.values()
    q, k, _ = mixer._split(x)
    u, v, w = (p.detach() for p in (mixer.position.u, mixer.position.v, mixer.position.weight))
    scores = torch.full((B, H, T, T), -math.inf)
    for t, s in zip(*np.tril_indices(T), strict=True):
        angles = [(t - s) / 10000 ** (2 * n / (H * E)) for n in range(H * E // 2)]
        far = w @ torch.tensor([math.sin(a) for a in angles] + [math.cos(a) for a in angles])
        others = (q[:, :, t] * far).sum(-1) + (u[:, 0] * k[:, :, s]).sum(-1) + (v[:, 0] * far).sum(-1)
        scores[:, :, t, s] = mixer.attend.score(q[:, :, t : t + 1], k[:, :, s : s + 1])[..., 0, 0] + scale * others
    torch.testing.assert_close(found, scores.softmax(-1), **CLOSE)
