"""Scores of what was written against what was expected: BLEU, chrF and exact match of one part, what they mean, and whether they differ."""

import dataclasses
from collections.abc import Mapping, Sequence

from headway.evaluate.translation import bleu, chrf, exact_match, paired_bootstrap
from headway.models.encoder_decoder import EncoderDecoder
from headway.tasks.pairs import HeldOut
from headway.tasks.search import Searcher
from headway.tasks.task import Judgement, Score, Validation

VALIDATED = 1000  # sentences that are translated at each validation
JUDGED = 1000  # sentences of a part that are translated at the end
YOUNG = 15.0  # chrF below which a model is ranked by its loss: before that chrF is noise
FEW = 100  # sentences below which it always is


def validate_part(searcher: Searcher, model: EncoderDecoder, part: HeldOut, loss: float) -> Validation:
    """BLEU, chrF and exact match of the first sentences, greedily decoded; a few samples. `loss` is that of all pairs.

    Weights are chosen by the mean of BLEU and chrF: of late validations, which hardly differ, one score alone chooses by chance
    (docs/findings.md, 2026-11-18).
    """
    sources, references = list(part.sources[:VALIDATED]), list(part.targets[:VALIDATED])
    found = [f[0].text for f in searcher.search(model, sources, beam=1)]
    values = {
        "BLEU": bleu(found, references, resamples=0).value,
        "chrF": chrf(found, references, resamples=0).value,
        "exact": sum(a == b for a, b in zip(found, references, strict=True)) / len(found),
        "loss": loss,
    }
    young = values["chrF"] < YOUNG or len(part.sources) < FEW
    samples = tuple(zip(sources[:3], found[:3], references[:3], strict=True))
    return Validation(values, -loss - 1000.0 if young else (values["BLEU"] + values["chrF"]) / 2, samples)


def judge_part(
    searcher: Searcher, model: EncoderDecoder, name: str, part: HeldOut, beam: int, penalty: float
) -> Judgement:
    """The scores of one part, its first sentences, and those that came out worst."""
    found = searcher.search(model, list(part.sources), beam, penalty)
    texts, references = [f[0].text for f in found], list(part.targets)
    made = (bleu(texts, references), chrf(texts, references), exact_match(texts, references))
    scores = tuple(Score(name, s.name, s.value, s.low, s.high, 1, s.signature) for s in made)
    cut = sum(f[0].cut for f in found)
    notes = (
        (f"{cut} of {len(found)} translations of the {name} part reached the length limit and were cut",) if cut else ()
    )
    notes = (*part.left_out, *notes)
    rows = tuple(zip(part.sources, texts, references, strict=True))
    order = sorted(range(len(rows)), key=lambda i: chrf([texts[i]], [references[i]], resamples=0).value)
    worst = tuple(rows[i] for i in order[:5] if texts[i] != references[i])
    outputs = tuple(zip(texts, references, strict=True))
    return Judgement(scores, rows[:5], verdict(scores), {name: len(found)}, "pairs", notes, worst, outputs)


def judge_parts(
    searcher: Searcher, model: EncoderDecoder, parts: Mapping[str, HeldOut], beam: int, penalty: float
) -> Judgement:
    """Scores of the first sentences of each test part, or of the validation part if it is the only one."""
    judged = {name: part for name, part in parts.items() if name != "validation"} or parts
    made = [judge_part(searcher, model, name, part.first(JUDGED), beam, penalty) for name, part in judged.items()]
    return dataclasses.replace(
        made[0],
        scores=tuple(score for found in made for score in found.scores),
        samples=tuple(row for found in made for row in found.samples),
        sizes={name: len(part.sources) for name, part in parts.items()} | {n: s for f in made for n, s in f.sizes.items()},
        notes=tuple(note for found in made for note in found.notes),
    )


def verdict(scores: Sequence[Score]) -> str:
    """What BLEU and exact match mean, in words."""
    value, exact = scores[0].value, scores[2].value
    if exact >= 95:
        return f"it has learned the task: {exact:.1f} % of its outputs equal the reference."
    if value < 1:
        return "it has learned nothing usable yet: train longer, or bring more data."
    if value < 10:
        return "it has learned some words, but its sentences are not usable yet: train longer, or bring more data."
    if value < 25:
        return "the gist can be recognised; each sentence needs checking."
    if value < 45:
        return "understandable on text like the training data; check before use."
    return "fluent on text like the training data; other text may be worse."


def difference(mine: Judgement, other: Judgement) -> str:
    """Paired bootstrap of BLEU: the same sentences are drawn for both."""
    a, b = ([text for text, _ in judgement.outputs] for judgement in (mine, other))
    p = paired_bootstrap(a, b, [reference for _, reference in mine.outputs])
    d = mine.scores[0].value - other.scores[0].value
    says = "not distinguishable from chance" if p > 0.05 else "more than chance"
    return f"BLEU {d:+.1f}, p = {p:.3f} (paired bootstrap): {says}"
