"""Word alignments from cross-attention: what the model looked at when it wrote each target word.

The target is forced through the model, and each target word is linked with the source word its row of the map weighs most. Which
layer and head shows the alignment best differs from model to model; it is chosen on validation pairs, never on the pairs to be judged.
A row may belong to the token that is written there (shift 0) or to the one entered (shift 1): that is part of the choice.
Och & Ney 2003 for the error rate; Garg et al. 2019, https://arxiv.org/abs/1909.02074, for reading alignments off a Transformer.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from headway.core.errors import RunError
from headway.data.batches import pad
from headway.evaluate.alignment import aer, links, to_words
from headway.layers.attention.attend import recorded
from headway.train.run import Run

Links = set[tuple[int, int]]


@dataclass(frozen=True)
class View:
    """Where to look: a cross-attention, one head of it (or None for the mean of all), and the shift of its rows."""

    name: str
    head: int | None
    shift: int

    def __str__(self) -> str:
        return f"{self.name}, {'mean of heads' if self.head is None else f'head {self.head + 1}'}, shift {self.shift}"


@dataclass(frozen=True)
class Looks:
    """The cross-attention of one sentence pair: maps by module, and the word that each token belongs to."""

    maps: dict[str, np.ndarray]  # h t s
    source_words: list[int]
    target_words: list[int]

    def links(self, view: View) -> Links:
        weights = self.maps[view.name]
        chosen = weights.mean(0) if view.head is None else weights[view.head]
        tokens = len(self.target_words)
        rows = chosen[view.shift : view.shift + tokens]
        return set(links(to_words(rows, self.target_words, [*self.source_words, -1])))


def look(run: Run, sources: Sequence[str], targets: Sequence[str], batch: int = 32) -> list[Looks]:
    """Force each target through the model and keep its cross-attention."""
    task = run.task
    read = [task.source.words(text) for text in sources]
    written = [task.target.words(text) for text in targets]
    order = sorted(range(len(read)), key=lambda i: len(read[i][0]) + len(written[i][0]))
    found: list[Looks | None] = [None] * len(read)
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        s = pad([[*read[i][0], task.source.eos] for i in rows], task.source.pad)
        t = pad([[task.target.bos, *written[i][0], task.target.eos] for i in rows], task.target.pad)
        with torch.inference_mode(), recorded(run.model) as maps:
            run.model(s, s != task.source.pad, t)
        cross = {name: calls[0].numpy() for name, calls in maps.items() if not name.endswith("mixer")}
        if not cross:
            raise RunError(
                f"`{run.recipe.model.name}` has no attention to read alignments from",
                "train `attention_seq2seq` or `transformer` instead.",
            )
        for place, i in enumerate(rows):
            columns, lines = len(read[i][0]) + 1, len(written[i][0]) + 2
            maps_of_pair = {name: m[place, :, :lines, :columns] for name, m in cross.items()}
            found[i] = Looks(maps_of_pair, read[i][1], written[i][1])
    return [f for f in found if f is not None]


def aligned(run: Run, view: View, sources: Sequence[str], targets: Sequence[str], portion: int = 1000) -> list[Links]:
    """The links of every pair; maps are kept for one portion of the pairs at a time."""
    found: list[Links] = []
    for start in range(0, len(sources), portion):
        part = slice(start, start + portion)
        found += [looks.links(view) for looks in look(run, sources[part], targets[part])]
    return found


def views(looks: Looks) -> list[View]:
    """Every place to look."""
    return [
        View(name, head, shift)
        for name, m in looks.maps.items()
        for head in [None, *(range(len(m)) if len(m) > 1 else [])]
        for shift in (0, 1)
    ]


def choose(looks: Sequence[Looks], gold: Sequence[Links]) -> View:
    """The view with the lowest alignment error rate on these pairs."""
    return min(views(looks[0]), key=lambda view: aer([look.links(view) for look in looks], list(gold)))


def dice_links(sources: Sequence[str], targets: Sequence[str]) -> list[Links]:
    """A rough alignment without any model, to choose a view by where there is no gold: each target word with the source word that
    it co-occurs with most in these pairs, 2 c(s,t) / (c(s) + c(t)) (Dice 1945)."""
    words = [(s.split(), t.split()) for s, t in zip(sources, targets, strict=True)]
    source_count = Counter(a for s, _ in words for a in set(s))
    target_count = Counter(b for _, t in words for b in set(t))
    both = Counter((a, b) for s, t in words for a in set(s) for b in set(t))
    result = []
    for s, t in words:
        scores = [[2 * both[a, b] / (source_count[a] + target_count[b]) for a in s] for b in t]
        result.append({(int(np.argmax(row)), j) for j, row in enumerate(scores) if row})
    return result
