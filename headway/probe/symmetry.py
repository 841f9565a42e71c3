"""Permutation symmetry: hidden units and attention heads have no order, so reordering them leaves the function alone.

    W_2 phi(W_1 x + b) = (W_2 P^T) phi(P W_1 x + P b)        [head_1 ... head_h] W_O = [head_p(1) ... head_p(h)] W_O'

A layer of m units has m! equivalent sets of weights. The control reorders one side only. Where a residual connection or
a position gives units or heads an identity, the function changes. Hecht-Nielsen 1990; lecture D.
"""

import copy
import math
from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn

from headway.layers.attention.attend import Attend
from headway.layers.attention.multihead import Multihead
from headway.probe.finding import Finding, NotApplicableError
from headway.probe.subject import LISTS, Subject
from headway.tasks.panels import Mark, Plot

ROWS = 8
ROUNDING = 1e-9  # of the largest output, in double precision
MOST = 12  # places that are tried
Reorder = Callable[[nn.Module, Tensor, bool], None]  # model, permutation, both sides?


def permutation_symmetry(subject: Subject) -> Finding:
    """Reorder each hidden layer and the heads of each attention, on both sides and on one side only."""
    places = {**linear_pairs(subject.model), **head_groups(subject.model)}
    if not places:
        raise NotApplicableError("the model has no two linear layers in a row and no multi-head attention")
    batch, random = subject.few(ROWS), subject.random()
    with torch.no_grad():
        before = subject.run(batch).y
    found, logs = {}, 0.0
    for name, (units, reorder) in list(places.items())[:MOST]:
        order = torch.roll(torch.randperm(units, generator=random), 1)
        found[name] = [change(subject, batch, before, reorder, order, both) for both in (True, False)]
        logs += math.lgamma(units + 1) / math.log(10) * (found[name][0] < ROUNDING)
    free = [name for name, (both, _) in found.items() if both < ROUNDING]
    fixed = [name for name in found if name not in free]
    reading = f"In {len(free)} of {len(found)} places units or heads can be reordered without changing the output"
    reading += f": about 10^{logs:.0f} other sets of weights compute this function" if free else ""
    reading += f"; not in {', '.join(f'`{n}`' for n in fixed[:3])}{' ...' if len(fixed) > 3 else ''}." if fixed else "."
    marks = tuple(
        Mark(
            "points",
            range(1, len(found) + 1),
            [math.log10(max(row[i], 1e-17)) for row in found.values()],
            name,
            labels=list(found),
        )
        for i, name in enumerate(("both sides", "one side (control)"))
    )
    caption = "Relative to the largest output: rounding is about -15, and the control should be far above it."
    panel = Plot(
        "Largest change of the output", marks, "place (its name under the pointer)", "log10 of the change", caption
    )
    numbers = {f"change/{n}": row[0] for n, row in found.items()} | {f"control/{n}": row[1] for n, row in found.items()}
    return Finding(reading, "exact", f"outputs of {len(before)} rows before and after", numbers, (panel,))


def change(subject: Subject, batch: object, before: Tensor, reorder: Reorder, order: Tensor, both: bool) -> float:
    """The largest change of the output, relative to its largest value."""
    model = copy.deepcopy(subject.model)
    with torch.no_grad():
        reorder(model, order, both)
        after = subject.with_model(model).run(batch).y
    real = before.isfinite()  # choices that are hidden have a logarithm of -inf
    return float((after - before)[real].abs().max() / before[real].abs().max().clamp(min=1e-300))


def linear_pairs(model: nn.Module) -> dict[str, tuple[int, Reorder]]:
    """Linear layers of one module that follow each other with fitting sizes: the units between them."""
    places: dict[str, tuple[int, Reorder]] = {}
    for parent, module in model.named_modules():
        # queries and keys do not follow each other
        attends = any(name == "query" or isinstance(child, Attend) for name, child in module.named_children())
        if attends or (isinstance(module, LISTS) and parent):
            continue
        linear = [
            (f"{parent}.{name}".strip("."), m)
            for name, m in module.named_modules()
            if isinstance(m, nn.Linear) and only_lists_between(module, name)
        ]
        for (first, a), (second, b) in pairwise(linear):
            if a.out_features == b.in_features and a.out_features > 1:
                places[f"{first} - {second.rpartition('.')[2]}"] = (a.out_features, reorder_units(first, second))
    return places


def only_lists_between(module: nn.Module, name: str) -> bool:
    """Whether a descendant is a child, or an item of lists of children."""
    for part in name.split(".")[:-1]:
        module = getattr(module, part)
        if not isinstance(module, LISTS):
            return False
    return True


def reorder_units(first: str, second: str) -> Reorder:
    def reorder(model: nn.Module, order: Tensor, both: bool) -> None:
        a, b = model.get_submodule(first), model.get_submodule(second)
        for parameter in (a.weight, a.bias):
            if isinstance(parameter, Tensor):
                parameter.data = parameter.data[order]
        if both:
            b.weight.data = b.weight.data[:, order]  # type: ignore[union-attr,index,operator]

    return reorder


def head_groups(model: nn.Module) -> dict[str, tuple[int, Reorder]]:
    heads = {n: m.heads for n, m in model.named_modules() if isinstance(m, Multihead) and m.heads > 1}
    return {f"{name} (heads)": (count, reorder_heads(name)) for name, count in heads.items()}


def reorder_heads(name: str) -> Reorder:
    def reorder(model: nn.Module, order: Tensor, both: bool) -> None:
        layer = model.get_submodule(name)
        if not isinstance(layer, Multihead):
            return
        # (Q, K, V) x heads x width of a head; some have no bias
        for parameter in (p for p in (layer.project.weight, layer.project.bias) if p is not None):
            parts = parameter.data.unflatten(0, (3, layer.heads, -1))
            parameter.data = parts[:, order].flatten(0, 2).clone()
        if both:
            parts = layer.output.weight.data.unflatten(1, (layer.heads, -1))
            layer.output.weight.data = parts[:, order].flatten(1).clone()

    return reorder
