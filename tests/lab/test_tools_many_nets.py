"""Networks trained side by side are those trained one by one."""

import numpy as np
import torch

from headway.lab.tools.many_nets import fitted
from headway.lab.tools.training import seeded
from headway.models.shallow import Config, Shallow


def make() -> Shallow:
    return Shallow(Config(width=3, activation="tanh", dropout=0.0), 1, 1)


def test_each_net_is_trained_as_if_it_were_alone() -> None:
    x = np.linspace(-1, 1, 7)[:, None]
    targets = np.stack([np.sin(x[:, 0]), x[:, 0] ** 2])
    together = fitted(make, x, targets, np.random.default_rng(0), 20, 0.05)
    with seeded(np.random.default_rng(0)):
        nets = [make().double() for _ in targets]
    for net, wanted, found in zip(nets, torch.from_numpy(targets), together, strict=True):
        optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
        for _ in range(20):
            optimizer.zero_grad()
            (net.logits(net(torch.from_numpy(x)))[:, 0] - wanted).square().mean().backward()
            optimizer.step()
        alone = net.logits(net(torch.from_numpy(x)))[:, 0].detach().numpy()
        np.testing.assert_allclose(found, alone, rtol=1e-9, atol=1e-12)
