import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from headway.core.errors import RunError
from headway.core.files import read_json, write_text
from headway.core.recipe import Recipe
from headway.data.batches import PairBatch, PairBatches, pad
from headway.data.corpus import Corpus, collect
from headway.data.pairs import Pairs, one_line
from headway.data.tokens import Tokenizer, train_tokenizer
from headway.decode.beam import beam_search
from headway.decode.greedy import greedy
from headway.decode.hypothesis import Hypothesis
from headway.decode.side_by_side import side_by_side
from headway.evaluate.translation import bleu, chrf
from headway.layers.cross_entropy import linear_cross_entropy
from headway.models.encoder_decoder import EncoderDecoder


class Translation:
    """Translation: a sentence of one language in, the sentence of another out.

    loss: smoothed cross-entropy of the next target token; figures: BLEU and chrF of greedy translations of held-out sentences.
    """

    aliases = ("machine translation", "NMT", "neural machine translation")
    default_model = "transformer"

    def __init__(self, source: Tokenizer, target: Tokenizer) -> None:
        self.source, self.target = source, target

    # -- data --------------------------------------------------------------------------------------------------------

    @staticmethod
    def collect(recipe: Recipe) -> Corpus:
        return collect(recipe.data, recipe.seed)

    @classmethod
    def fit(cls, recipe: Recipe, corpus: Corpus) -> "Translation":
        """Train the tokenizers on the training pairs."""
        pairs = corpus.train
        kind, size = recipe.tokens.kind, recipe.tokens.size or 8000
        if recipe.tokens.joint:
            both = train_tokenizer(kind, [*pairs.sources, *pairs.targets], size)
            return cls(both, both)
        return cls(train_tokenizer(kind, pairs.sources, size), train_tokenizer(kind, pairs.targets, size))

    def save(self, folder: Path) -> None:
        if self.source is self.target:
            write_text(folder / "tokenizer.json", self.source.to_json())
        else:
            write_text(folder / "tokenizer.source.json", self.source.to_json())
            write_text(folder / "tokenizer.target.json", self.target.to_json())

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> "Translation":
        names = ["tokenizer.json"] if recipe.tokens.joint else ["tokenizer.source.json", "tokenizer.target.json"]
        tokenizers = []
        for name in names:
            value = read_json(folder / name)  # a missing or damaged file is told as such
            try:
                tokenizers.append(Tokenizer.from_json(json.dumps(value)))
            except RunError as problem:
                raise RunError(f"`{folder / name}` is damaged: {problem.message}", problem.hint) from problem
        return cls(tokenizers[0], tokenizers[-1])

    @property
    def vocabularies(self) -> tuple[int, ...]:
        return self.source.size, self.target.size

    # -- training ----------------------------------------------------------------------------------------------------

    def open(self, recipe: Recipe, corpus: Corpus, folder: Path) -> tuple[PairBatches, "Validation"]:
        """Batches and validation; the held-out pairs are written into the run."""
        held_out = zip(corpus.validation.sources, corpus.validation.targets, strict=True)
        rows = [json.dumps({"source": s, "target": t}, ensure_ascii=False) + "\n" for s, t in held_out]
        write_text(folder / "validation.jsonl", "".join(rows))
        budget = recipe.training.batch or 1
        return self.batches(corpus.train, budget, recipe.seed), Validation(self, corpus.validation, budget)

    def costliest(self, batches: PairBatches) -> PairBatch:
        """The longest pair alone."""
        return batches.collect([int(batches.lengths.max(1).argmax())])

    def tokens(self, batch: PairBatch) -> int:
        return int((batch.wanted != self.target.pad).sum())

    def batches(self, pairs: Pairs, budget: int, seed: int) -> PairBatches:
        special = (self.source.pad, self.source.bos, self.source.eos)
        sources, targets = self.source.encode(list(pairs.sources)), self.target.encode(list(pairs.targets))
        return PairBatches(sources, targets, budget=budget, seed=seed, special=special)

    def loss(self, model: Any, batch: PairBatch, smoothing: float) -> tuple[Tensor, Tensor, int]:
        """Summed smoothed loss, summed negative log-likelihood, and the number of tokens. Padding costs nothing here."""
        real = batch.wanted.flatten() != self.target.pad
        hidden = model(batch.source, batch.keep, batch.target).flatten(0, 1)
        wanted = batch.wanted.flatten()
        if not bool(real.all()):
            rows = real.nonzero()[:, 0]
            hidden, wanted = hidden.index_select(0, rows), wanted[rows]
        loss, nll = linear_cross_entropy(hidden, model.target.weight, wanted, smoothing)
        return loss, nll, len(wanted)

    # -- using -------------------------------------------------------------------------------------------------------

    def search(
        self, model: EncoderDecoder, texts: Sequence[str], beam: int = 1, penalty: float = 1.0, batch: int = 64
    ) -> list[list[tuple[str, Hypothesis]]]:
        """For each text its translations, best first. Texts are batched with others of like length; the answer does not depend on it.

        Batches are decoded side by side, one core each (`decode/side_by_side.py`); the longest come first, so that all end together.
        """
        ids = self.source.encode([text.strip() for text in texts])
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        results: list[list[tuple[str, Hypothesis]]] = [[] for _ in texts]

        def decode(rows: list[int]) -> list[list[Hypothesis]]:
            source = pad([[*ids[i], self.source.eos] for i in rows], self.source.pad)
            limits = [2 * len(ids[i]) + 10 for i in rows]
            arguments = (model, source, source != self.source.pad, self.target.bos, self.target.eos, limits)
            return [[h] for h in greedy(*arguments)] if beam == 1 else beam_search(*arguments, beam, penalty)

        batches = [order[start : start + batch] for start in range(0, len(order), batch)][::-1]
        for rows, found in zip(batches, side_by_side(decode, batches), strict=True):
            for i, hypotheses in zip(rows, found, strict=True):
                # an untrained model may write a line break, which would shift all lines after it
                decoded = [one_line(text) for text in self.target.decode([list(h.ids) for h in hypotheses])] if ids[i] else [""]
                hypotheses = hypotheses if ids[i] else hypotheses[:1]
                results[i] = list(zip(decoded, hypotheses, strict=True))
        return results

    def translate(self, model: EncoderDecoder, texts: Sequence[str], beam: int = 1, penalty: float = 1.0, batch: int = 64) -> list[str]:
        return [best[0][0] for best in self.search(model, texts, beam, penalty, batch)]

    @staticmethod
    def said(figures: dict[str, Any]) -> str:
        lines = [f"BLEU {figures['bleu']:.1f}  chrF {figures['chrf']:.1f}  {figures['nats']:.3f} nats per token"]
        return "\n".join([*lines, *(f"    {s}\n    -> {h}\n    ({r})" for s, h, r in figures["samples"][:2])])


class Validation:
    """The held-out pairs, judged again and again during training."""

    def __init__(self, task: Translation, pairs: Pairs, budget: int, sentences: int = 500) -> None:
        self.task, self.pairs, self.sentences = task, pairs, sentences
        self.budget = budget

    @cached_property
    def batches(self) -> list[PairBatch]:
        return self.task.batches(self.pairs, self.budget, 0).in_order()

    def __call__(self, model: Any) -> dict[str, Any]:
        """Nats per token over all pairs; BLEU and chrF of the first ones, greedily decoded; a few samples."""
        with torch.inference_mode():
            sums = [self.task.loss(model, batch, 0.0) for batch in self.batches]
        nats = sum(float(nll) for _, nll, _ in sums) / sum(count for _, _, count in sums)
        sources, references = list(self.pairs.sources[: self.sentences]), list(self.pairs.targets[: self.sentences])
        hypotheses = self.task.translate(model, sources)
        score, characters = bleu(hypotheses, references, resamples=0), chrf(hypotheses, references, resamples=0)
        return {
            "nats": nats,
            "bleu": score.value,
            "chrf": characters.value,
            "rank": characters.value,  # BLEU is zero for languages without spaces and for young models
            "signature": score.signature,
            "samples": [list(t) for t in zip(sources[:3], hypotheses[:3], references[:3], strict=True)],
        }
