"""Decoding of texts: sentences in batches of like length, a limit that fits the data, and what a person should know of each output.

The length limit of an output follows from training: 1.5 times the ratio of lengths that 999 of 1,000 training pairs stayed below, times
the source, plus 10. What still reaches the limit is marked, counted and reported.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from headway.core.errors import RunError
from headway.core.files import write_json
from headway.core.side_by_side import side_by_side
from headway.data.batches import pad
from headway.data.pairs import one_line
from headway.data.sentences import split_sentences
from headway.data.tokens import Tokenizer
from headway.decode.beam import beam_search
from headway.decode.greedy import greedy
from headway.decode.hypothesis import Hypothesis
from headway.models.encoder_decoder import EncoderDecoder
from headway.tasks.held_out import read_kept
from headway.tasks.uses import Translated
from headway.tasks.vocabulary import unseen_characters

FILE = "seen.json"


@dataclass(frozen=True)
class Seen:
    """What training has seen: how long sources and targets were, in tokens, and which characters the sources had."""

    source_median: int
    target_median: int
    source_longest: int
    ratio: float  # 99.9th percentile of (target + 1) / (source + 1)
    characters: str

    @classmethod
    def of(cls, texts: Sequence[str], sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> "Seen":
        s, t = (np.array([len(row) for row in side], dtype=np.float64) for side in (sources, targets))
        ratio = round(float(np.quantile((t + 1) / (s + 1), 0.999)), 4)
        return cls(int(np.median(s)), int(np.median(t)), int(s.max()), ratio, "".join(sorted(set().union(*texts))))

    @property
    def typical(self) -> tuple[int, int]:
        return max(1, self.source_median), max(1, self.target_median)

    def limit(self, source: int) -> int:
        """The most tokens that an output of a source of this length may have."""
        return math.ceil(1.5 * self.ratio * (source + 1)) + 10

    def save(self, folder: Path) -> None:
        write_json(folder / FILE, asdict(self))

    @classmethod
    def load(cls, folder: Path) -> "Seen":
        return read_kept(cls, folder / FILE)


@dataclass(frozen=True)
class Found:
    """One output of the search."""

    text: str
    hypothesis: Hypothesis
    penalty: float

    @property
    def cut(self) -> bool:
        return self.hypothesis.cut


EMPTY = Found("", Hypothesis((), 0.0), 0.0)  # of a text without tokens


class Engine(Protocol):
    """Another program that searches as we do."""

    def search(
        self, ids: Sequence[Sequence[int]], limits: Sequence[int], beam: int, penalty: float, batch: int
    ) -> list[list[Hypothesis] | None]:
        """For each source its hypotheses, best first; None where our own search must answer."""


class Searcher:
    """Finds outputs for texts; the answer for a text does not depend on the others. `engine` may search in our place."""

    def __init__(self, source: Tokenizer, target: Tokenizer, seen: Seen) -> None:
        self.source, self.target, self.seen = source, target, seen
        self.engine: Engine | None = None

    def search(
        self, model: EncoderDecoder, texts: Sequence[str], beam: int = 1, penalty: float = 1.0, batch: int = 64
    ) -> list[list[Found]]:
        """For each text its outputs, best first.

        Batches are decoded side by side, one core each (`core/side_by_side.py`); the longest come first, so that all end together.
        """
        device = next(iter(model.parameters())).device
        ids = self.source.encode([text.strip() for text in texts])
        limits = [self.seen.limit(len(row)) for row in ids]
        found: list[list[Hypothesis] | None] = [None] * len(ids)
        if self.engine and ids:
            found = self.engine.search(ids, limits, beam, penalty, batch)
        order = sorted((i for i, answer in enumerate(found) if answer is None), key=lambda i: len(ids[i]))

        def decode(rows: list[int]) -> list[list[Hypothesis]]:
            source = pad([[*ids[i], self.source.eos] for i in rows], self.source.pad).to(device)
            marks = self.target.bos, self.target.eos
            arguments = (model, source, source != self.source.pad, *marks, [limits[i] for i in rows])
            return [[h] for h in greedy(*arguments)] if beam == 1 else beam_search(*arguments, beam, penalty)

        batches = [order[start : start + batch] for start in range(0, len(order), batch)][::-1]
        for rows, answers in zip(batches, side_by_side(decode, batches), strict=True):
            for i, answer in zip(rows, answers, strict=True):
                found[i] = answer
        if any(row and not answer for row, answer in zip(ids, found, strict=True)):
            hint = "its weights are damaged: restore `weights.safetensors` from a copy, or train again."
            raise RunError("the model gives no probabilities, so no output can be found", hint)
        return [
            self._outputs(answer or [], penalty) if row else [EMPTY] for row, answer in zip(ids, found, strict=True)
        ]

    def _outputs(self, hypotheses: list[Hypothesis], penalty: float) -> list[Found]:
        """Their texts; an untrained model may write a line break, which would shift all lines after it."""
        texts = self.target.decode([list(h.ids) for h in hypotheses])
        return [Found(one_line(text), h, penalty) for text, h in zip(texts, hypotheses, strict=True)]

    def translate(
        self, model: EncoderDecoder, texts: Sequence[str], beam: int, penalty: float, batch: int, best: int
    ) -> list[list[Translated]]:
        """The `best` translations of each text. Several sentences are split, translated and joined; n-best lists are of the whole."""
        parts = [split_sentences(text) if best == 1 else [text] for text in texts]
        flat = [sentence for sentences in parts for sentence in sentences]
        found = iter(self.search(model, flat, max(beam, best), penalty, batch))
        results = []
        for text, sentences in zip(texts, parts, strict=True):
            mine = [next(found) for _ in sentences]
            warnings = self.warnings(text, sentences, mine)
            if best > 1 or len(mine) == 1:
                results.append([Translated(f.text, f.hypothesis.score(penalty), warnings) for f in mine[0][:best]])
            else:
                joined = " ".join(f[0].text for f in mine if f[0].text)
                results.append([Translated(joined, sum(f[0].hypothesis.score(penalty) for f in mine), warnings)])
        return results

    def warnings(self, text: str, sentences: Sequence[str], found: Sequence[Sequence[Found]]) -> tuple[str, ...]:
        """What should make a person look twice at this translation."""
        warnings = unseen_characters(text, self.seen.characters)
        longest = max((len(row) for row in self.source.encode(list(sentences))), default=0)
        if longest > self.seen.source_longest:
            warnings.append(f"a sentence of {longest} tokens, longer than any in training ({self.seen.source_longest})")
        if any(f[0].cut for f in found):
            warnings.append("the output reached the length limit and was cut")
        return tuple(warnings)
