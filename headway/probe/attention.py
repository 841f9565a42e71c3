"""What attention heads do, and what the model loses without each of them.

    entropy    -sum_s A_ts ln A_ts: 0 for a head that looks at one position, ln n for one that looks at n alike
    distance   sum_s A_ts |t - s|: how far away it looks, in positions
    cost       loss without the head - loss with it: its output is 0 in the place of sum_s A_ts v_s

Clark et al. 2019, https://arxiv.org/abs/1906.04341; Michel et al. 2019, https://arxiv.org/abs/1905.10650; lecture E.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from headway.layers.attention.attend import Attend, recorded
from headway.probe.batch_parts import mask_of
from headway.probe.finding import Finding, NotApplicableError
from headway.probe.subject import Subject
from headway.tasks.panels import Matrix

ROWS = 32
NONE = "the model has no attention whose weights are a matrix"


def attention_heads(subject: Subject) -> Finding:
    """Entropy of each head, and its distance where queries and keys are positions of one sequence."""
    batch = subject.few(ROWS)
    with torch.no_grad(), recorded(subject.model) as maps:
        subject.loss_of(subject.model, batch)
    layers = {name: calls[0] for name, calls in maps.items() if calls and calls[0].ndim == 4}
    if not layers:
        raise NotApplicableError(NONE)
    entropies, distances, most = {}, {}, []
    for name, a in layers.items():
        entropy, seen = entropy_of(a), (a > 0).sum(-1).clamp(min=1).double().log()
        real = real_queries(batch, a)
        entropies[name] = [float(entropy[:, h][real].mean()) for h in range(a.shape[1])]
        most.append(float(seen.amax(1)[real].mean()))
        if a.shape[-1] == a.shape[-2] and "cross" not in name:
            far = distance_of(a)
            distances[name] = [float(far[:, h][real].mean()) for h in range(a.shape[1])]
    every = [e for row in entropies.values() for e in row]
    sharpest = min(entropies, key=lambda n: min(entropies[n]))
    head = int(np.argmin(entropies[sharpest])) + 1
    reading = (
        f"Heads have an entropy of {np.mean(every):.2f} nats on average, where equal weights would have {np.mean(most):.2f}; "
        f"the most selective is head {head} of `{sharpest}` ({min(every):.2f})."
    )
    panels = [heads_panel("Entropy of each head", entropies, "nats; 0 for a head that looks at one position.")]
    if distances:
        panels.append(
            heads_panel(
                "Distance of each head", distances, "Positions between a query and what it looks at, on average."
            )
        )
    numbers = {f"entropy/{n}": v for n, v in entropies.items()} | {f"distance/{n}": v for n, v in distances.items()}
    basis = f"the attention weights of {len(next(iter(layers.values())))} examples"
    return Finding(reading, "exact", basis, numbers, tuple(panels))


def entropy_of(a: Tensor) -> Tensor:
    """Of each query, in nats."""
    return torch.special.entr(a).sum(-1)


def distance_of(a: Tensor) -> Tensor:
    """How far each query looks, in positions."""
    place = torch.arange(a.shape[-1], dtype=a.dtype)
    return (a * (place[:, None] - place).abs()).sum(-1)


def real_queries(batch: Any, a: Tensor) -> Tensor:
    """Which queries "b t" look at something and are no padding."""
    mask = mask_of(batch, (a.shape[0], a.shape[2]))
    looks = a.sum((1, 3)) > 0
    return looks if mask is None else looks & mask


def head_ablation(subject: Subject) -> Finding:
    """The loss when one head at a time gives 0."""
    batch, costs = subject.few(ROWS), {}
    base = subject.loss(batch)
    with torch.no_grad(), recorded(subject.model) as maps:
        subject.loss_of(subject.model, batch)
    heads = {name: calls[0].shape[1] for name, calls in maps.items() if calls and calls[0].ndim == 4}
    if not heads:
        raise NotApplicableError(NONE)
    modules = {name.removesuffix(".attend"): m for name, m in subject.model.named_modules() if isinstance(m, Attend)}
    for name, count in heads.items():
        costs[name] = [loss_without(subject, batch, modules[name], h) - base for h in range(count)]
    every = [c for row in costs.values() for c in row]
    dearest = max(costs, key=lambda n: max(costs[n]))
    free = sum(c <= 0 for c in every)
    reading = (
        f"The loss of {base:.3f} grows most ({max(every):+.3f}) without head {int(np.argmax(costs[dearest])) + 1} of `{dearest}`; "
        f"{free} of {len(every)} heads could go at no cost on these examples."
    )
    panel = heads_panel(
        "What the loss grows by without a head", costs, "One head at a time; the costs of several do not add up.", 3
    )
    basis = f"the loss of {len(subject.run(batch).x)} examples without each head in turn"
    return Finding(reading, "exact", basis, {"loss": base} | {f"cost/{n}": v for n, v in costs.items()}, (panel,))


def loss_without(subject: Subject, batch: Any, attend: Attend, head: int) -> float:
    def silence(module: Any, args: Any, out: Tensor) -> Tensor:
        out = out.clone()
        out[:, head] = 0.0
        return out

    hook = attend.register_forward_hook(silence)
    try:
        return subject.loss(batch)
    finally:
        hook.remove()


def heads_panel(title: str, values: dict[str, list[float]], caption: str, digits: int = 2) -> Matrix:
    """A row for each layer, a column for each head."""
    wide = max(map(len, values.values()))
    table = np.array([[*row, *[np.nan] * (wide - len(row))] for row in values.values()])
    return Matrix(
        title,
        tuple(map(short, values)),
        tuple(str(h + 1) for h in range(wide)),
        table,
        "layer",
        "head",
        caption,
        digits,
    )


def short(name: str) -> str:
    """`decoder.0.cross` as `cross 0`, `encoder.1.mixer` as `encoder 1`: a row has room for few letters."""
    parts = [part for part in name.split(".") if part != "mixer"]
    return " ".join([parts[-1], *(p for p in parts if p.isdigit())] if parts[-1:] == ["cross"] else parts)
