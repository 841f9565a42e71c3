"""A tour in cells, for an editor that runs `# %%` cells one by one, or for `python docs/tour.py`; nothing to download.

It trains a small language model on the findings of this repository, writes with it, looks at its attention, and trains
a model with a plain loop. The models are far too small to be good.
"""

# %% A language model on a text
import tempfile
from pathlib import Path

import torch

import headway

folder = Path(tempfile.mkdtemp())
text = Path(__file__).with_name("findings.md")
run = headway.train(
    "language",
    text=str(text),
    tokens="characters",
    context=64,
    options={"width": 48, "depth": 1, "heads": 2, "inner": 96},
    steps=60,
    out=folder / "gpt",
    quiet=True,
)
print(run)

# %% What it has learned, and what it writes
for score in run.scores:
    print(score.describe())
print(run.generate("The model ", length=80))

# %% Its attention: one map per layer, "h t s"
maps, _ = run.attention("The model ")
print([(m.name, m.weights.shape) for m in maps])

# %% The same with a recurrence: any causal mixer is a language model
lru = headway.train(
    "language",
    text=str(text),
    tokens="characters",
    context=64,
    model="lru",
    options={"width": 48, "depth": 1},
    steps=60,
    out=folder / "lru",
    quiet=True,
)
print(lru)

# %% A model and a loop of your own: learn one batch by heart
torch.manual_seed(1)
model = headway.model("gpt", vocabulary=20, width=32, depth=1, heads=2, inner=64)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
ids = torch.randint(20, (8, 12))
losses = []
for _ in range(60):
    logits = model.logits(model(ids))
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(f"loss {losses[0]:.2f} -> {losses[-1]:.2f}")
