"""One update of a learner where it is known in closed form: without a gradient only weight decay moves, and the average follows."""

from typing import Literal

import pytest
import torch

from headway.models.gpt import GPT, Config
from headway.training.learner import Learner
from headway.training.plan import Settings

RATE, DECAY, KEPT = 0.5, 0.25, 0.75


@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
def test_without_a_gradient_matrices_shrink_and_the_average_follows(optimizer: Literal["muon", "adamw"]) -> None:
    torch.manual_seed(3)
    net = GPT(Config(width=6, depth=1, heads=2, inner=10, context=4), 7)
    with torch.no_grad():
        for parameter in net.parameters():  # nothing is zero, or shrinking would not show
            parameter.uniform_(1.0, 2.0)
    learner = Learner(net, Settings(1, 1, 1e-3, decay=DECAY, optimizer=optimizer))
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    learner.step(RATE, learner.norm(), clip=1.0, average=KEPT)
    average = dict(learner.average.named_parameters())
    for name, parameter in net.named_parameters():
        share = 1 - RATE * DECAY if parameter.dim() == 2 else 1.0  # biases and norms are not decayed
        torch.testing.assert_close(parameter, share * before[name])
        torch.testing.assert_close(average[name], (KEPT + (1 - KEPT) * share) * before[name])
