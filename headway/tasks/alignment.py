"""Word alignments from cross-attention: what the model looked at when it wrote each target word.

The target is forced through the model, and each target word is linked with the source word its row of the map weighs most. Which
layer and head shows the alignment best differs from model to model; it is chosen on validation pairs, never on the pairs to be judged.
A row may belong to the token that is written there (shift 0) or to the one entered (shift 1): that is part of the choice.
Och & Ney 2003 for the error rate; Garg et al. 2019, https://arxiv.org/abs/1909.02074, for reading alignments off a Transformer.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import nn

from headway.core.config import from_json
from headway.core.errors import ConfigError, RunError
from headway.core.files import read_json, write_json
from headway.data.batches import pad
from headway.data.tokens import Tokenizer
from headway.evaluate.alignment import aer, links, to_words
from headway.layers.attention.attend import Attend, recorded
from headway.models.encoder_decoder import EncoderDecoder
from headway.tasks.pairs import HeldOut
from headway.tasks.task import Score
from headway.tasks.uses import Map

Links = set[tuple[int, int]]
FILE = "alignment.json"


class TwoTokenizers(Protocol):
    source: Tokenizer
    target: Tokenizer


@dataclass(frozen=True)
class AlignmentHead:
    """Where alignments are read: a cross-attention, one head of it (or None for the mean of all), and the shift of its rows."""

    name: str
    head: int | None
    shift: int

    def __str__(self) -> str:
        return f"{self.name}, {'mean of heads' if self.head is None else f'head {self.head + 1}'}, shift {self.shift}"


@dataclass(frozen=True)
class CrossMaps:
    """The cross-attention of one sentence pair: maps by module, and the word that each token belongs to."""

    maps: dict[str, np.ndarray]  # h t s
    source_words: list[int]
    target_words: list[int]

    def links(self, head: AlignmentHead) -> Links:
        weights = self.maps[head.name]
        chosen = weights.mean(0) if head.head is None else weights[head.head]
        rows = chosen[head.shift : head.shift + len(self.target_words)]
        return set(links(to_words(rows, self.target_words, [*self.source_words, -1])))

    def heads(self) -> list[AlignmentHead]:
        """Every place to read from."""
        return [
            AlignmentHead(name, head, shift)
            for name, m in self.maps.items()
            for head in [None, *(range(len(m)) if len(m) > 1 else [])]
            for shift in (0, 1)
        ]


def attends(model: object) -> bool:
    return isinstance(model, nn.Module) and any(isinstance(module, Attend) for module in model.modules())


def cross_maps(
    task: TwoTokenizers, model: EncoderDecoder, sources: Sequence[str], targets: Sequence[str], batch: int = 32
) -> list[CrossMaps]:
    """Force each target through the model and keep its cross-attention."""
    if not attends(model):
        raise RunError(
            "this model has no attention to read alignments from", "train `attention_seq2seq` or `transformer` instead."
        )
    device = next(iter(model.parameters())).device
    read, written = [task.source.words(text) for text in sources], [task.target.words(text) for text in targets]
    order = sorted(range(len(read)), key=lambda i: len(read[i][0]) + len(written[i][0]))
    found: dict[int, CrossMaps] = {}
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        s = pad([[*read[i][0], task.source.eos] for i in rows], task.source.pad).to(device)
        t = pad([[task.target.bos, *written[i][0], task.target.eos] for i in rows], task.target.pad).to(device)
        with torch.inference_mode(), recorded(model) as maps:  # type: ignore[arg-type]
            model(s, s != task.source.pad, t)
        cross = {name: calls[0].cpu().numpy() for name, calls in maps.items() if place(name)[0] == "cross"}
        for row, i in enumerate(rows):
            columns, lines = len(read[i][0]) + 1, len(written[i][0]) + 2
            found[i] = CrossMaps(
                {name: m[row, :, :lines, :columns] for name, m in cross.items()}, read[i][1], written[i][1]
            )
    return [found[i] for i in range(len(read))]


def align_pairs(
    task: TwoTokenizers,
    model: EncoderDecoder,
    head: AlignmentHead,
    sources: Sequence[str],
    targets: Sequence[str],
    portion: int = 1000,
) -> list[Links]:
    """The links of every pair; maps are kept for one portion of the pairs at a time."""
    found: list[Links] = []
    for start in range(0, len(sources), portion):
        part = slice(start, start + portion)
        found += [maps.links(head) for maps in cross_maps(task, model, sources[part], targets[part])]
    return found


def choose_head(task: TwoTokenizers, model: EncoderDecoder, part: HeldOut) -> AlignmentHead:
    """The head with the lowest error rate on validation pairs, by gold links where there are any, else by word co-occurrence."""
    gold = [set(a) for a in part.alignments] if part.alignments is not None else dice_links(part.sources, part.targets)
    maps = cross_maps(task, model, part.sources, part.targets)
    return min(maps[0].heads(), key=lambda head: aer([m.links(head) for m in maps], gold))


def judge_alignment(
    task: TwoTokenizers, model: EncoderDecoder, parts: dict[str, HeldOut], folder: Path
) -> tuple[Score, ...]:
    """Choose the head on validation pairs and keep it in the run; the error rate of the test part, where its links are known."""
    if not attends(model):
        return ()
    head, part = choose_head(task, model, parts["validation"].first(200)), parts.get("test")
    write_head(head, folder)
    if part is None or part.alignments is None:
        return ()
    rate = aer(align_pairs(task, model, head, part.sources, part.targets), [set(a) for a in part.alignments])
    return (Score("test", "AER", rate, digits=3, signature=f"Och-Ney 2003, {head}"),)


def write_head(head: AlignmentHead, folder: Path) -> None:
    write_json(folder / FILE, asdict(head))


def read_head(task: TwoTokenizers, model: EncoderDecoder, folder: Path) -> AlignmentHead | None:
    """The head that the run keeps, if it keeps one."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        head = from_json(AlignmentHead, read_json(path), str(path))
    except ConfigError as problem:
        raise RunError(problem.message, "delete the file; it is made anew.") from problem
    if head not in cross_maps(task, model, ["a"], ["b"])[0].heads():
        raise RunError(f"`{path}` names {head}, which this model does not have", "delete the file; it is made anew.")
    return head


def dice_links(sources: Sequence[str], targets: Sequence[str]) -> list[Links]:
    """A rough alignment without any model, to choose a head by where there is no gold: each target word with the source word that
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


def attention_maps(task: TwoTokenizers, model: EncoderDecoder, source: str, target: str) -> list[Map]:
    """The attention of every layer and head for one sentence pair, computed by the explicit formula."""
    device = next(iter(model.parameters())).device
    source_ids, target_ids = task.source.encode([source])[0], task.target.encode([target])[0]
    s = pad([[*source_ids, task.source.eos]], task.source.pad).to(device)
    t = pad([[task.target.bos, *target_ids]], task.target.pad).to(device)
    with torch.inference_mode(), recorded(model) as maps:  # type: ignore[arg-type]
        model(s, s != task.source.pad, t)
    read, written = [*task.source.pieces(source_ids), "⟨end⟩"], [*task.target.pieces(target_ids), "⟨end⟩"]
    entered = ["⟨start⟩", *written[:-1]]  # a decoder position enters one token and is asked for the next
    labels = {"encoder": (read, read), "decoder": (entered, entered), "cross": (written, read)}
    found = []
    for name, calls in maps.items():
        kind, layer = place(name)
        rows, columns = labels[kind]
        found += [Map(name, kind, layer, w[0].cpu().numpy(), tuple(rows), tuple(columns)) for w in calls]
    return found


def place(name: str) -> tuple[str, int]:
    """Kind and layer (from 1) of an attention module: `decoder.0.cross` is ("cross", 1), `attention` is ("cross", 1)."""
    parts = name.split(".")
    layer = next((int(part) + 1 for part in parts if part.isdigit()), 1)
    return (parts[0], layer) if parts[-1] == "mixer" else ("cross", layer)
