"""The attention of every layer and head for one sentence pair, computed by the explicit formula."""

import torch

from headway.data.batches import pad
from headway.inspect.page import Map
from headway.layers.attention.attend import recorded
from headway.train.run import Run


def attention_maps(run: Run, source: str, target: str | None = None) -> tuple[list[Map], str]:
    """Maps for `source` and a target text (the run's own translation if none is given), and that target text."""
    task = run.task
    target = run.translate([source])[0] if target is None else target
    source_ids, target_ids = task.source.encode([source])[0], task.target.encode([target])[0]
    s = pad([[*source_ids, task.source.eos]], task.source.pad)
    t = pad([[task.target.bos, *target_ids]], task.target.pad)
    with torch.inference_mode(), recorded(run.model) as maps:
        run.model(s, s != task.source.pad, t)
    read, written = [*task.source.pieces(source_ids), "⟨end⟩"], [*task.target.pieces(target_ids), "⟨end⟩"]
    entered = ["⟨start⟩", *written[:-1]]  # a decoder position enters one token and is asked for the next
    labels = {"encoder": (read, read), "decoder": (entered, entered), "cross": (written, read)}
    found = []
    for name, calls in maps.items():
        for weights in calls:
            kind, layer = place(name)
            rows, columns = labels[kind]
            found.append(Map(name, kind, layer, weights[0].numpy(), tuple(rows), tuple(columns)))
    return found, target


def place(name: str) -> tuple[str, int]:
    """Kind and layer (from 1) of an attention module: `decoder.0.cross` is ("cross", 1), `attention` is ("cross", 1)."""
    parts = name.split(".")
    layer = next((int(part) + 1 for part in parts if part.isdigit()), 1)
    if parts[-1] == "mixer":
        return parts[0], layer
    return "cross", layer
