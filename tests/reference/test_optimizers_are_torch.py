"""Every update rule against torch's own over 20 steps in float64, and its defining property where there is a closed form."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from headway.core import registry
from headway.training.optimizers.adam import Adam
from headway.training.optimizers.adamw import AdamW, fused_adamw
from headway.training.optimizers.heavy_ball import HeavyBall
from headway.training.optimizers.nesterov import Nesterov
from headway.training.optimizers.sgd import SGD

STEPS, DECAY = 20, 0.1
Make = Callable[[Any], torch.optim.Optimizer]
PEERS: dict[str, Make] = {
    "gradient_descent": lambda p: torch.optim.SGD(p, lr=0.05),
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
    "heavy_ball": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.05),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.05),
    "adam": lambda p: torch.optim.Adam(p, lr=0.05),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.05),
}


def trained(make: Make, decay: float) -> list[torch.Tensor]:
    """The parameters of a small network after 20 steps; one of them has a gradient only in every third step."""
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)).double()
    late = nn.Parameter(torch.ones(3, dtype=torch.float64))
    optimizer = make([{"params": [*net.parameters(), late], "weight_decay": decay}])
    for step in range(STEPS):
        x = torch.randn(16, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(step))
        scale = late if step % 3 == 0 else 1.0
        (net(x) * scale - x[:, :3].sin()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return [p.detach() for p in (*net.parameters(), late)]


@pytest.mark.parametrize("decay", [0.0, DECAY])
@pytest.mark.parametrize("name", PEERS)
def test_twenty_steps_are_those_of_torch(name: str, decay: float) -> None:
    rule = registry.get("optimizers", name).load()
    for mine, its in zip(trained(lambda p: rule(p, 0.05), decay), trained(PEERS[name], decay), strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-12)


def test_every_optimizer_has_a_peer() -> None:
    """Muon is compared with the singular value decomposition, in contracts/test_muon.py."""
    assert set(registry.entries("optimizers")) == {*PEERS, "muon"}


def test_the_fused_kernel_of_training_is_the_written_rule() -> None:
    mine = trained(lambda p: AdamW(p, 0.05, betas=(0.9, 0.98)), DECAY)
    for one, other in zip(mine, trained(lambda p: fused_adamw(p, 0.05), DECAY), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_decay_is_a_penalty_for_sgd_and_not_for_adam() -> None:
    """Loshchilov & Hutter 2019: with plain SGD shrinking and an L2 penalty agree, with Adam they do not."""
    w = nn.Parameter(torch.tensor([2.0, -3.0]))
    w.grad = torch.zeros(2)
    SGD([w], 0.5, weight_decay=DECAY).step()
    torch.testing.assert_close(w.detach(), (1 - 0.5 * DECAY) * torch.tensor([2.0, -3.0]))
    AdamW([w], 0.5, weight_decay=DECAY).step()
    torch.testing.assert_close(w.detach(), (1 - 0.5 * DECAY) ** 2 * torch.tensor([2.0, -3.0]))
    before = w.detach().clone()
    Adam([w], 0.5, weight_decay=DECAY).step()
    torch.testing.assert_close(w.detach(), before - 0.5 * before.sign(), rtol=1e-4, atol=1e-4)  # whatever the size


def quadratic(optimizer: type[HeavyBall] | type[Nesterov] | type[SGD], rate: float, steps: int, **options: float) -> float:
    """How far from the minimum of (w1^2 + 100 w2^2) / 2 a method is, of 1 at the beginning."""
    w = nn.Parameter(torch.tensor([1.0, 1.0], dtype=torch.float64) / 2**0.5)
    made = optimizer([w], rate, **options)
    for _ in range(steps):
        w.grad = w.detach() * torch.tensor([1.0, 100.0], dtype=torch.float64)
        made.step()
    return float(w.detach().norm())


def test_momentum_needs_the_root_of_the_condition_number() -> None:
    """Polyak 1964: the best rates contract by (k - 1) / (k + 1) and (sqrt k - 1) / (sqrt k + 1) per step; k = 100 here."""
    plain = quadratic(SGD, 2 / 101, 100)
    ball = quadratic(HeavyBall, (2 / 11) ** 2, 100, momentum=(9 / 11) ** 2)
    assert plain == pytest.approx((99 / 101) ** 100, rel=1e-6)
    assert ball < 100 * 200 * (9 / 11) ** 100 < 1e-3 * plain
    assert quadratic(Nesterov, 1 / 100, 100, momentum=9 / 11) < 1e-2 * plain
