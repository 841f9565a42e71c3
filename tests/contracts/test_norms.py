"""What every norm of the room "norms" owes, and every arrangement that puts one around a sublayer."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.core import registry
from headway.layers.connections.deep_norm import deep
from headway.layers.connections.dense import Dense

pytestmark = pytest.mark.usefixtures("doubles")
B, T, D, GROWTH = 3, 7, 11, 5
EXACT = {"rtol": 0.0, "atol": 1e-10}
NORMS = [entry.load() for entry in registry.entries("norms").values()]
ALONE = [norm for norm in NORMS if not list(norm(D).buffers())]  # no statistics of others, in training either
each_norm = pytest.mark.parametrize("norm", NORMS, ids=lambda norm: norm.__name__)
RESIDUALS = {name: entry.load() for name, entry in registry.entries("connections").items() if hasattr(entry.load(), "final")}
each_residual = pytest.mark.parametrize("name", RESIDUALS)


def made(norm: Any) -> nn.Module:
    """Far from weight 1 and shift 0, where mistakes hide; with statistics that are not those of the start."""
    layer = norm(D)
    with torch.no_grad():
        for tensor in layer.parameters():
            tensor.add_(0.3 * torch.randn(D))
        for tensor in layer.buffers():
            tensor.add_(torch.rand(D))
    return layer.eval()


def residual(name: str) -> Any:
    return partial(RESIDUALS[name], alpha=deep(6).alpha) if name == "deep_norm" else RESIDUALS[name]


def test_the_room_is_covered() -> None:
    assert {norm.__name__ for norm in NORMS} >= {"LayerNorm", "RMSNorm", "BatchNorm"}
    assert {norm.__name__ for norm in ALONE} == {"LayerNorm", "RMSNorm"}
    assert set(RESIDUALS) >= {"pre_norm", "post_norm", "deep_norm"}


@each_norm
def test_one_width_and_any_other_axes(norm: Any) -> None:
    """A position's answer is the same in a sequence, in a step and in an image whose channels stand last."""
    layer, x = made(norm), torch.randn(B, T, D)
    y = layer(x)
    torch.testing.assert_close(layer(x[:, 2]), y[:, 2], **EXACT)
    torch.testing.assert_close(layer(x[:, :, None]), y[:, :, None], **EXACT)
    torch.testing.assert_close(layer(x[:, :4]), y[:, :4], **EXACT)
    torch.testing.assert_close(layer(x[1:2]), y[1:2], **EXACT)


@pytest.mark.parametrize("norm", ALONE, ids=lambda norm: norm.__name__)
def test_the_company_does_not_matter_in_training(norm: Any) -> None:
    layer, x = made(norm).train(), torch.randn(B, T, D)
    torch.testing.assert_close(layer(x)[1], layer(x[1:2])[0], **EXACT)


@each_norm
def test_the_scale_of_the_input_does_not_matter(norm: Any) -> None:
    layer, x = norm(D).train(), 10 * torch.randn(B, T, D)
    torch.testing.assert_close(layer(8 * x), layer(x), rtol=0.0, atol=1e-4)  # eps is what remains


@each_norm
def test_every_parameter_gets_a_gradient(norm: Any) -> None:
    for layer in (made(norm), made(norm).train()):
        (layer(torch.randn(B, T, D)) * torch.randn(B, T, D)).sum().backward()
        assert not [name for name, p in layer.named_parameters() if p.grad is None or not p.grad.abs().min() > 1e-9]


@each_norm
def test_eval_is_deterministic_and_changes_nothing(norm: Any) -> None:
    layer, x = made(norm), torch.randn(B, T, D)
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    first = layer(x)
    torch.manual_seed(99)
    assert torch.equal(layer(x), first)
    assert all(torch.equal(value, before[name]) for name, value in layer.state_dict().items())


@each_norm
def test_what_was_learned_and_counted_survives(norm: Any) -> None:
    layer, other, x = made(norm), norm(D).eval(), torch.randn(B, T, D)
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(x), layer(x)) and not torch.equal(norm(D).eval()(x), layer(x))


@each_norm
def test_gradients_are_those_of_the_formula(norm: Any) -> None:
    layer, x = made(norm), torch.randn(2, 3, D, requires_grad=True)
    chosen = {n: p.detach().clone().requires_grad_() for n, p in layer.named_parameters()}

    def run(x: Tensor, *values: Tensor) -> Tensor:
        return torch.func.functional_call(layer, dict(zip(chosen, values, strict=True)), (x,))

    assert torch.autograd.gradcheck(run, (x, *chosen.values()), fast_mode=True)
    if norm in ALONE:
        return
    layer.train()  # the statistics of the batch have gradients too; the running ones are not looked at
    assert torch.autograd.gradcheck(lambda x, w, b: torch.nn.functional.batch_norm(x, None, None, w, b, True), (x[:, 0], *chosen.values()))
    x.grad = None
    layer(x).square().sum().backward()
    z = x.detach().clone().requires_grad_()
    ((z - z.mean((0, 1))) / (z.var((0, 1), correction=0) + 1e-5).sqrt() * layer.weight + layer.bias).square().sum().backward()
    torch.testing.assert_close(x.grad, z.grad, **EXACT)


@each_residual
@each_norm
def test_any_norm_in_any_arrangement(name: str, norm: Any) -> None:
    around, x = residual(name)(D, 0.0, norm=norm).eval(), torch.randn(B, T, D)
    assert isinstance(around.norm, norm) and list(around.state_dict())[:1] == ["norm.weight"]
    assert around(x, torch.sin).shape == x.shape
    assert isinstance(RESIDUALS[name].final(D, norm), norm if name == "pre_norm" else nn.Identity)


@each_residual
def test_identity_at_zero_weights(name: str) -> None:
    """A sublayer of zeros leaves x alone under pre-norm; under post-norm and DeepNorm it leaves a normalised x alone."""
    linear = nn.Linear(D, D)
    nn.init.zeros_(linear.weight)
    nn.init.zeros_(linear.bias)
    around, x = residual(name)(D, 0.0).eval(), torch.randn(B, T, D)
    if name == "pre_norm":
        assert torch.equal(around(x, linear), x)
    else:
        once = around(x, linear)
        torch.testing.assert_close(once, nn.functional.layer_norm(x, (D,)), rtol=0.0, atol=1e-4)
        torch.testing.assert_close(around(once, linear), once, rtol=0.0, atol=1e-4)


def test_a_dense_connection_passes_everything_on() -> None:
    layers = [nn.Linear(D + k * GROWTH, GROWTH) for k in range(3)]
    stack, x = nn.Sequential(*(Dense(layer) for layer in layers)), torch.randn(B, T, D)
    y = stack(x)
    assert y.shape == (B, T, D + 3 * GROWTH) and torch.equal(y[..., :D], x)
    for k, layer in enumerate(layers):  # the k-th sees x and what those before it made
        seen, made = D + k * GROWTH, D + (k + 1) * GROWTH
        torch.testing.assert_close(y[..., seen:made], layer(y[..., :seen]), **EXACT)
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
    assert torch.equal(stack(x), nn.functional.pad(x, (0, 3 * GROWTH)))
    image = torch.randn(B, 2, 5, 7)
    grown = Dense(nn.Conv2d(2, 3, 1), axis=1)(image)
    assert grown.shape == (B, 5, 5, 7) and torch.equal(grown[:, :2], image)
