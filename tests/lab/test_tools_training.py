"""Networks that the lab trains: a step is that of torch, the state of torch's generator stays, and made data are what they claim."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from headway.lab.tools.layer_twins import hidden_layer_net
from headway.lab.tools.made_tables import defaults
from headway.lab.tools.made_texts import bags, occurrence, pairs
from headway.lab.tools.motifs import CELL, PATTERNS, as_local, mean_distance, motifs
from headway.lab.tools.training import Settings, accuracy, descended, fit, predict, seeded


def test_fit_takes_the_steps_of_torch() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(8, 3)), rng.normal(size=(8, 1))
    with seeded(rng):
        net = nn.Linear(3, 1, dtype=torch.double)
    twin = nn.Linear(3, 1, dtype=torch.double)
    twin.load_state_dict(net.state_dict())
    settings = Settings(5, 8, 0.1, optimizer="sgd", schedule="constant", decay=0.0, clip=1e9)
    losses = fit(net, x, y, settings, rng, functional.mse_loss)
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
    for expected in losses:
        loss = functional.mse_loss(twin(torch.tensor(x)), torch.tensor(y))
        assert abs(float(loss.detach()) - expected) < 1e-12
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert np.allclose(predict(net, x), twin(torch.tensor(x)).detach().numpy(), atol=1e-12)


def test_descent_tells_the_loss_before_each_step() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.double, requires_grad=True)
    found = descended(torch.optim.SGD([x], lr=0.1), lambda: x.square().sum(), 4)  # x <- 0.8 x
    assert np.allclose(found, 5 * 0.64 ** np.arange(4)) and np.allclose(x.detach(), 0.8**4 * np.array([1, 2]))


def test_every_example_is_seen_once_in_an_epoch() -> None:
    seen: list[float] = []

    def loss(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        seen.extend(targets[:, 0].tolist())
        return outputs.sum()

    x = np.arange(12.0)[:, None]
    fit(
        nn.Linear(1, 1, dtype=torch.double),
        x,
        x,
        Settings(6, 4, 0.0, optimizer="sgd", decay=0.0),
        np.random.default_rng(0),
        loss,
    )
    assert sorted(seen[:12]) == sorted(seen[12:]) == list(range(12)) and seen[:12] != seen[12:]


def test_seeded_leaves_the_generator_of_torch_alone() -> None:
    before = torch.get_rng_state()
    with seeded(np.random.default_rng(0)):
        first = torch.rand(3)
    with seeded(np.random.default_rng(0)):
        assert torch.equal(first, torch.rand(3))
    assert torch.equal(before, torch.get_rng_state())


def test_accuracy_is_that_of_the_highest_score() -> None:
    assert accuracy(nn.Identity(), np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.4]]), np.array([1, 0, 0])) == 2 / 3


def test_a_picture_holds_the_pattern_of_its_class_in_one_cell() -> None:
    pictures, labels = motifs(3, 50, np.random.default_rng(0))
    for picture, label in zip(pictures[:, 0], labels, strict=True):
        cells = [picture[i : i + CELL, j : j + CELL] for i in range(0, 9, CELL) for j in range(0, 9, CELL)]
        assert any(np.array_equal(cell, PATTERNS[label]) for cell in cells)
    order = np.random.default_rng(1).permutation(81)
    moved, _ = motifs(3, 50, np.random.default_rng(0), order)
    assert np.array_equal(moved.reshape(50, -1), pictures.reshape(50, -1)[:, order])


def test_distance_of_kept_pixels() -> None:
    kept = np.zeros((2, 9), dtype=bool)
    kept[0, [0, 1, 3]] = True  # a corner: distances 1, 1 and √2
    kept[1, 0] = True  # alone: does not count
    assert abs(mean_distance(kept, 3) - (2 + 2**0.5) / 3) < 1e-12
    row = np.zeros((4, 81), dtype=bool)
    row[:, :4] = True
    assert as_local(row, 9, np.random.default_rng(0)) == 0.0


def test_twins_have_the_same_units() -> None:
    sizes = {
        name: sum(p.numel() for p in hidden_layer_net(name, 9, 4, 3, 5)[1].parameters())
        for name in ("S-CONV", "S-LOCAL", "S-FC")
    }
    assert sizes == {"S-CONV": 4 * 9 + 4, "S-LOCAL": 9 * (4 * 9 + 4), "S-FC": 36 * 82}
    x = torch.zeros(2, 1, 9, 9)
    assert all(hidden_layer_net(name, 9, 4, 3, 5)(x).shape == (2, 5) for name in sizes)


def test_made_texts_and_tables() -> None:
    rng = np.random.default_rng(0)
    words, labels = pairs(50, 200, 12, rng)
    first = [int(np.argmax(row == 0) > np.argmax(row == 1)) for row in words]
    assert first == labels.tolist() and np.all((words == 0).sum(1) == 1)
    words, labels = bags(50, 400, 12, rng)
    assert 0.3 < labels.mean() < 0.7 and np.array_equal(
        occurrence(words, 50).sum(1), [len(set(row)) for row in words.tolist()]
    )
    columns, labels = defaults(20_000, rng)
    assert np.all(np.abs(columns.mean(0)) < 0.05) and 0.02 < labels.mean() < 0.045  # ISL: 3.33 %
