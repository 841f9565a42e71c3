"""The doctor of a parallel corpus: reports what is odd, with line numbers, and what will be done about it.

Dropped, reported:  pairs with an empty side; a side longer than the limit; lengths more than 9 times off the usual
                    ratio; and training pairs whose source is held out for evaluation, because a score on seen
                    sentences is worth nothing.
Kept, reported:     everything else. In particular duplicates: a sentence that stands ten times in a memory was needed
                    ten times, and its frequency is information. Characters are never changed.

Lengths are tokens if a tokenizer is given, otherwise words (and at least a sixteenth of the characters, so that the
limit also holds for scripts that write no spaces). Ratios are of characters and relative to the median of the corpus,
so that Chinese, which needs a third of the characters of English, is not all outliers.
"""

from collections import defaultdict
from typing import Protocol

import numpy as np

from headway.core.errors import DataError
from headway.data.drift import find_drift, log_lengths, unrelated
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun, excerpt
from headway.data.pair_statistics import describe, examine_cost, examine_tokens, measure
from headway.data.pairs import Pairs
from headway.data.symptoms import SYMPTOMS, Side, Sighting, is_blank, name_spaces

WILD, UNLIKELY = 9.0, 3.0  # times off the usual ratio: dropped, reported
GAP = 40  # characters; short texts reach any ratio by accident ("Yes." - "Ja, das finde ich auch.")
MUCH_DRIFT = 0.2  # of the file
MUCH_UNTRANSLATED = 0.05  # of the pairs; a few names and numbers are the same in both languages
LEAST_PAIRS = 1000  # with fewer a model learns them by heart


class Encoder(Protocol):
    """What the doctor needs of a tokenizer."""

    @property
    def unknown(self) -> int | None: ...
    def encode(self, texts: list[str]) -> list[list[int]]: ...


def examine(
    pairs: Pairs,
    *,
    heldout: Pairs | None = None,
    tokenizer: Encoder | None = None,
    limit: int = 256,
    least: int = LEAST_PAIRS,
) -> tuple[Pairs, Report]:
    """The pairs that training will use, and what was found.

    `limit` is the longest side allowed, in words; fewer than `least` pairs are too little data (0 for pairs to be
    judged by).
    """
    seen = Examination(
        pairs.lines, "pair", lambda i: f"{excerpt(pairs.sources[i], 38)} | {excerpt(pairs.targets[i], 38)}"
    )
    seen.report_unreadable(pairs.problems)
    examine_empty(seen, pairs)
    examine_characters(seen, pairs)
    examine_alignment(seen, pairs)
    sides = [list(pairs.sources), list(pairs.targets)]
    words = np.array([[words_in(text) for text in side] for side in sides], dtype=np.int64)
    ids = [tokenizer.encode(side) for side in sides] if tokenizer else []
    lengths = np.array([[len(tokens) for tokens in side] for side in ids], dtype=np.int64) if tokenizer else words
    unit = "tokens" if tokenizer else "words"
    seen.drop("too-long", words.max(axis=0) > limit, f"longer than {limit} words")
    examine_ratios(seen, pairs)
    if heldout is not None:
        hidden = set(heldout.sources)
        found = np.array([source in hidden for source in pairs.sources], dtype=bool)
        seen.drop("held-out", found, f"whose source is held out for evaluation ({heldout.origin})")
    kept = np.flatnonzero(seen.alive).tolist()
    if not kept:
        raise nothing_left(seen, pairs.origin)
    examine_repetitions(seen, pairs, kept)
    if len(kept) < least:
        message = f"too little data: {count_noun(len(kept), 'pair')}; a model needs at least about {least:,}"
        message += " to learn more than these"
        seen.report_all("little-data", "warning", message, len(kept))
    statistics = measure(pairs, lengths, kept, unit)
    if tokenizer:
        statistics["tokens"] = examine_tokens(seen, pairs, ids, kept, tokenizer.unknown)
    statistics["cost"] = examine_cost(seen, lengths, kept, unit)
    used = Pairs(
        tuple(pairs.sources[i] for i in kept),
        tuple(pairs.targets[i] for i in kept),
        tuple(pairs.lines[i] for i in kept),
        pairs.origin,
    )
    total = len(pairs) + len(pairs.problems)
    return used, Report(pairs.origin, total, len(kept), seen.finish(), statistics, "pair", describe(statistics))


def nothing_left(seen: Examination, origin: str) -> DataError:
    dropped = {finding.kind: finding.message for finding in seen.finish() if finding.action == "dropped"}
    if "held-out" in dropped:
        hint = "training and validation hold the same sentences: name another validation file, or none."
    elif "too-long" in dropped:
        hint = "one sentence per line; or allow longer ones: `--data.longest 500`."
    else:
        hint = "every line needs a text on both sides."
    return DataError(f"nothing is left of {origin}: {'; '.join(dropped.values()) or 'no pairs'}", hint)


def words_in(text: str) -> int:
    return max(len(text.split()), len(text) // 16)


def examine_empty(seen: Examination, pairs: Pairs) -> None:
    source, target = (
        np.array([is_blank(text) for text in side], dtype=bool) for side in (pairs.sources, pairs.targets)
    )
    cases = (
        ("the source side", source & ~target),
        ("the target side", target & ~source),
        ("both sides", source & target),
    )
    where = ", ".join(f"{wrong.sum()} on {side}" for side, wrong in cases if wrong.any())
    seen.drop("empty", source | target, f"with an empty line: {where}")


def examine_characters(seen: Examination, pairs: Pairs) -> None:
    """Every symptom of headway/data/symptoms.py, on both sides."""
    source, target = Side(pairs.sources), Side(pairs.targets)
    for symptom in SYMPTOMS:
        found = source.sightings(symptom.pattern), target.sightings(symptom.pattern)
        more = ""
        if symptom.kind == "white-space":
            texts = [side.texts[s.index] for side, part in zip((source, target), found, strict=True) for s in part]
            more = f" ({', '.join(name_spaces(texts))})"
        report_sides(seen, symptom.kind, symptom.severity, symptom.words + more, found)
    decomposed = source.decomposed(), target.decomposed()
    report_sides(
        seen,
        "not-normalised",
        "warning",
        "Unicode not in the composed form NFC (the same word in two spellings)",
        decomposed,
    )
    (left, left_scripts), (right, right_scripts) = source.foreign(), target.foreign()
    scripts = " and ".join(sorted({*left_scripts, *right_scripts}))
    report_sides(seen, "foreign-script", "note", f"{scripts} letters, rare on their side", (left, right))


def report_sides(
    seen: Examination, kind: str, severity: str, words: str, found: tuple[list[Sighting], list[Sighting]]
) -> None:
    excerpts = {sighting.index: sighting.excerpt for sighting in [*found[1], *found[0]]}
    indices = sorted(excerpts)
    counts = {"source": len(found[0]), "target": len(found[1])}
    sides = " and ".join(f"{count} on the {name} side" for name, count in counts.items() if count)
    message = f"{count_noun(len(indices), 'pair')} with {words}: {sides}"
    seen.report(kind, indices, severity, message, examples=[excerpts[i] for i in indices[:3]])


def examine_alignment(seen: Examination, pairs: Pairs) -> None:
    """Files of equal length that are shifted against each other, or do not belong together at all."""
    sources, targets, lines = pairs.sources, pairs.targets, pairs.lines
    drift = find_drift(sources, targets)
    if drift:
        much = drift.stop - drift.start > MUCH_DRIFT * len(pairs)
        place = f"lines {lines[drift.start]} to {lines[drift.stop - 1]} do not seem to be translations of each other"
        direction = "further down" if drift.shift > 0 else "further up"
        reason = (
            f"the sources fit the targets {count_noun(abs(drift.shift), 'line')} {direction}"
            if drift.shift
            else "no shift mends it"
        )
        seen.report("drift", range(drift.start, drift.stop), "error" if much else "warning", f"{place}; {reason}")
    elif unrelated(sources, targets):
        words = (
            "the lengths of sources and targets have nothing to do with each other, as if one side had been shuffled"
        )
        seen.report("unrelated", range(len(sources)), "warning", words)


def examine_ratios(seen: Examination, pairs: Pairs) -> None:
    """r = |log(a / b) - median|, and how many characters the shorter side lacks at the usual ratio."""
    a, b = log_lengths(pairs.sources), log_lengths(pairs.targets)
    usual = float(np.median((a - b)[seen.alive])) if seen.alive.sum() >= 20 else 0.0
    off = np.abs(a - b - usual)
    gap = np.abs(np.exp(a - usual / 2) - np.exp(b + usual / 2))
    words = "more than {:.0f} times off the usual ratio of lengths"
    seen.drop("wild-ratio", (off > np.log(WILD)) & (gap > GAP), words.format(WILD))
    unlikely = np.flatnonzero((off > np.log(UNLIKELY)) & (gap > GAP) & seen.alive).tolist()
    seen.report("unlikely-ratio", unlikely, "note", f"{count_noun(len(unlikely), 'pair')} {words.format(UNLIKELY)}")


def examine_repetitions(seen: Examination, pairs: Pairs, kept: list[int]) -> None:
    """Pairs that come again, sources with several translations, and pairs that are not translated."""
    sources, targets = pairs.sources, pairs.targets
    first: set[tuple[str, str]] = set()
    again: list[int] = []
    translations: dict[str, set[str]] = defaultdict(set)
    for i in kept:
        if (sources[i], targets[i]) in first:
            again.append(i)
        first.add((sources[i], targets[i]))
        translations[sources[i]].add(targets[i])
    seen.report(
        "duplicate",
        again,
        "note",
        f"{count_noun(len(again), 'pair')} seen before, word for word; frequency is information",
    )
    various = [i for i in kept if len(translations[sources[i]]) > 1]
    seen.report(
        "several-targets",
        various,
        "note",
        f"{count_noun(len(various), 'pair')} whose source has other translations as well",
    )
    same = [i for i in kept if sources[i] == targets[i]]
    severity = "warning" if len(same) > MUCH_UNTRANSLATED * len(kept) else "note"
    seen.report("untranslated", same, severity, f"{count_noun(len(same), 'pair')} with the same text on both sides")
