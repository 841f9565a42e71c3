"""Boolean circuits as ReLU nets."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal
from headway.lab.depth.parity_forms import every_input
from headway.lab.depth.threshold_circuit import Circuit, by_logic, by_thresholds, random_circuit, to_network
from headway.lab.old import Experiment
from headway.lab.relu_net import ReluNet


@dataclass(frozen=True)
class Config:
    inputs: int = 10  # bits; all 2^inputs rows are tried
    widths: tuple[int, ...] = (10, 10, 10, 8, 8, 4)  # gates of each level, 50 in 6 levels
    circuits: int = 12  # random circuits

    def __post_init__(self) -> None:
        require((2 <= self.inputs <= 14, "inputs is 2 to 14"), (self.circuits >= 1, "circuits >= 1"))
        require((len(self.widths) >= 2 and all(w >= 2 for w in self.widths), "at least two levels, each of two gates or more"))


def jacobian(net: ReluNet, x: np.ndarray) -> np.ndarray:
    """∂ outputs / ∂ inputs at points (p, inputs), of shape (p, outputs, inputs): W_D diag(z > 0) … W_1."""
    h, made = x, np.broadcast_to(np.eye(net.inputs), (len(x), net.inputs, net.inputs))
    for w, b in net.layers[:-1]:
        z = h @ w.T + b
        h, made = np.maximum(z, 0), (z > 0)[:, :, None] * (w @ made)
    return net.layers[-1][0] @ made


def threshold_jacobian(circuit: Circuit, x: np.ndarray, step: float = 1e-7) -> np.ndarray:
    """The same for threshold units, by central differences."""
    moves = step * np.eye(x.shape[1])
    return np.stack([(by_thresholds(circuit, x + e)[-1] - by_thresholds(circuit, x - e)[-1]) / (2 * step) for e in moves], axis=2)


def by_torch(net: ReluNet, x: np.ndarray) -> np.ndarray:
    """The Jacobian at one point, by torch's automatic differentiation."""
    import torch

    def forward(t: torch.Tensor) -> torch.Tensor:
        for w, b in net.layers[:-1]:
            t = torch.relu(torch.from_numpy(w) @ t + torch.from_numpy(b))
        return torch.from_numpy(net.layers[-1][0]) @ t + torch.from_numpy(net.layers[-1][1])

    return torch.autograd.functional.jacobian(forward, torch.from_numpy(x)).numpy()


class CircuitToNetwork(Experiment):
    """A Boolean circuit of s gates and depth D is a ReLU net with at most 2s units and D hidden layers, and with gradients.

    On bits, with σ = ReLU and integer weights w,

        NOT x = σ(1 - x),     AND = σ(Σx - (k - 1)),     OR = 1 - σ(1 - Σx),     1{⟨w, x⟩ > b} = σ(z + ½) - σ(z - ½),  z = ⟨w, x⟩ - b

    for b halfway between integers, because |z| >= ½ then. An affine map behind a layer is absorbed by the next. Gates take values of the
    level before (one that is needed later passes through an AND of one input, which counts as a gate). A circuit of threshold units is
    constant around almost every point, so its derivatives are 0; the net has others. They are compared inside the cube, not on bits,
    where a ReLU net has its kinks.
    """

    lecture = "E"
    kinds = ("EXACT",)
    cost = "S"
    source = "Muroga 1971, Threshold Logic and Its Applications; Arora et al. 2018, https://arxiv.org/abs/1611.01491"
    assumptions = (
        "inputs are 0 or 1",
        "integer weights, and thresholds halfway between integers",
        "levels take values of the level before",
    )
    aliases = ("circuits are ReLU networks", "Boolean circuits by neural networks")
    panels = 2
    small = {"inputs": 6, "circuits": 3}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x, inside = every_input(c.inputs), rng.random((200, c.inputs))
        s, D = sum(c.widths), len(c.widths)
        wrong, units, hidden, nodes, flat, alive, gaps = [], [], [], [], [], [], []
        for _ in range(c.circuits):
            circuit = random_circuit(c.inputs, c.widths, rng)
            net, truth = to_network(circuit, c.inputs), by_logic(circuit, x)
            wrong.append(int(np.sum(net(x) != truth)))
            units.append(int(np.sum(by_thresholds(circuit, x)[-1] != truth)))
            hidden.append(len(net.widths))
            nodes.append(net.nodes)
            slopes = jacobian(net, inside)
            flat.append(float(np.mean(threshold_jacobian(circuit, inside) != 0)))
            alive.append(float(np.mean(np.any(slopes != 0, axis=(1, 2)))))
            gaps.append(float(np.max(np.abs(by_torch(net, inside[0]) - slopes[0]))))
        none = np.zeros(c.circuits, dtype=int)
        yield equal(f"gates of a circuit, {D} levels", s, sum(len(level) for level in circuit))
        yield equal(f"logic and ReLU net differ, of {x.shape[0]} inputs", np.array(wrong), none)
        yield equal("logic and threshold units differ", np.array(units), none)
        yield at_most("units of the net, 2s", nodes, 2 * s, kind="EXACT")
        yield equal("hidden layers of the net are D", np.array(hidden), none + D)
        yield close("Jacobian and torch's", gaps, np.zeros(c.circuits), 1e-12)
        yield equal("threshold units: share of derivatives that are not 0", np.array(flat), np.zeros(c.circuits))
        yield at_least("ReLU nets: share of points with a derivative that is not 0, mean", float(np.mean(alive)), 1 / 200, kind="EXACT")
        parts = [circuit[: level + 1] for level in range(D)]
        steps = np.concatenate([threshold_jacobian(part, inside) for part in parts], axis=1)
        slopes = np.concatenate([jacobian(to_network(part, c.inputs), inside) for part in parts], axis=1)
        self.pictures = np.mean(steps != 0, axis=0), np.mean(slopes != 0, axis=0)  # gates of all levels, inputs

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x = every_input(c.inputs)
        circuit = random_circuit(c.inputs, c.widths, rng)[:1]
        whole = [[replace(g, b=g.b - 0.5) if g.kind == "threshold" else g for g in level] for level in circuit]
        if not any(g.kind == "threshold" for g in circuit[0]):
            whole = [[replace(g, kind="threshold", w=(1,) * len(g.inputs), b=1.0) for g in circuit[0]]]
        yield equal("thresholds at integers: values that differ", int(np.sum(to_network(whole, c.inputs)(x) != by_logic(whole, x))), 0)
        net = to_network(circuit, c.inputs)
        (w, b), last = net.layers
        yield equal("every bias smaller by 1", int(np.sum(ReluNet(((w, b - 1), last))(x) != by_logic(circuit, x))), 0)
        halves = np.full((1, c.inputs), 0.5)
        gap = float(np.max(np.abs(net(halves) - by_thresholds(circuit, halves)[-1])))
        yield at_most("inputs that are not bits: net and threshold units at (½, …, ½)", gap, 0.0, kind="EXACT")
        yield at_least("threshold units: share of derivatives that are not 0", float(self.pictures[0].mean()), 1 / 200, kind="EXACT")

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for panel, picture, name in zip(axes, self.pictures, ("Threshold units", "ReLU net"), strict=True):
            shown = panel.imshow(picture, cmap="cividis", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
            for end in np.cumsum(c.widths)[:-1]:
                panel.axhline(end - 0.5, color=style.PAPER, linewidth=1)
            panel.set(title=f"{name}: derivatives", xlabel="input", ylabel="gate, level below level", xticks=range(c.inputs))
            panel.grid(False)
        axes[1].figure.colorbar(shown, ax=list(axes), label="share of points with ∂ ≠ 0", shrink=0.9)
