"""The doctor of a parallel corpus: says what is odd, with line numbers, and what will be done about it.

Dropped, and told:  pairs with an empty side; a side longer than the limit; lengths more than 9 times off the usual ratio; and
                    training pairs whose source is held out for evaluation, because a score on seen sentences is worth nothing.
Kept, and told:     everything else. In particular duplicates: a sentence that stands ten times in a translation memory was needed
                    ten times, and its frequency is information. Characters are never changed.

Lengths are tokens if a tokenizer is given, otherwise words (and at least a sixteenth of the characters, so that the limit also
holds for scripts that write no spaces). Ratios are of characters and relative to the median of the corpus, so that Chinese, which
needs a third of the characters of English, is not all outliers.
"""

from collections import Counter, defaultdict
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from headway.core.errors import DataError
from headway.data.drift import find_drift, log_lengths, unrelated
from headway.data.findings import Examination, Finding, Report, counted
from headway.data.pairs import Pairs
from headway.data.symptoms import SYMPTOMS, Side, Sighting, is_blank, spaces_named

WILD, UNLIKELY = 9.0, 3.0  # times off the usual ratio: dropped, told
GAP = 40  # characters; short texts reach any ratio by accident ("Yes." - "Ja, das finde ich auch.")
LONG = 4.0  # times the median length: will cost memory
MUCH_DRIFT = 0.2  # of the file
MUCH_UNTRANSLATED = 0.05  # of the pairs; a few names and numbers are the same in both languages
MUCH_UNKNOWN = 0.01  # of the tokens

Lengths = npt.NDArray[np.int64]  # two rows, source and target


class Encoder(Protocol):
    """What the doctor needs of a tokenizer."""

    @property
    def unknown(self) -> int | None: ...
    def encode(self, texts: list[str]) -> list[list[int]]: ...


def examine(pairs: Pairs, *, heldout: Pairs | None = None, tokenizer: Encoder | None = None, limit: int = 256) -> tuple[Pairs, Report]:
    """The pairs that training will use, and what was found. `limit` is the longest side allowed, in words."""
    seen = Examination(pairs)
    examine_rows(seen)
    examine_characters(seen)
    examine_alignment(seen)
    sides = [list(pairs.sources), list(pairs.targets)]
    ids = [tokenizer.encode(side) for side in sides] if tokenizer else []
    sizes = [[len(tokens) for tokens in side] for side in ids] or [[words_in(text) for text in side] for side in sides]
    lengths, unit = np.array(sizes, dtype=np.int64), "tokens" if tokenizer else "words"
    words = np.array([[words_in(text) for text in side] for side in sides], dtype=np.int64)
    seen.drop("too-long", words.max(axis=0) > limit, f"longer than {limit} words")
    examine_ratios(seen)
    if heldout is not None:
        hidden = set(heldout.sources)
        found = np.array([source in hidden for source in pairs.sources], dtype=bool)
        seen.drop("held-out", found, f"whose source is held out for evaluation ({heldout.origin})")
    kept = np.flatnonzero(seen.alive).tolist()
    if not kept:
        reasons = "; ".join(finding.message for finding in seen.finished() if finding.action == "dropped")
        raise DataError(f"nothing is left of {pairs.origin}: {reasons or 'no pairs'}", "mend the lines, or raise the limit.")
    examine_repetitions(seen, kept)
    statistics = measured(pairs, lengths, kept, unit)
    if tokenizer:
        statistics["tokens"] = examine_tokens(seen, ids, kept, tokenizer.unknown)
    statistics["cost"] = examine_cost(seen, lengths, kept, unit)
    used = Pairs(
        tuple(pairs.sources[i] for i in kept),
        tuple(pairs.targets[i] for i in kept),
        tuple(pairs.lines[i] for i in kept),
        pairs.origin,
    )
    return used, Report(pairs.origin, len(pairs) + len(pairs.problems), len(kept), seen.finished(), statistics)


def words_in(text: str) -> int:
    return max(len(text.split()), len(text) // 16)


def examine_rows(seen: Examination) -> None:
    """Rows that the reader could not read, and rows with nothing on a side."""
    problems = seen.pairs.problems
    if problems:
        told = tuple(f"line {problem.line} {problem.message}" for problem in problems[:3])
        lines = tuple(problem.line for problem in problems[:20])
        message = f"{counted(len(problems), 'line')} that cannot be read"
        seen.findings.append(Finding("unreadable", len(problems), lines, told, "warning", "dropped", message))
    source, target = (np.array([is_blank(text) for text in side], dtype=bool) for side in (seen.pairs.sources, seen.pairs.targets))
    cases = (("the source side", source & ~target), ("the target side", target & ~source), ("both sides", source & target))
    where = ", ".join(f"{wrong.sum()} on {side}" for side, wrong in cases if wrong.any())
    seen.drop("empty", source | target, f"with an empty line: {where}")


def examine_characters(seen: Examination) -> None:
    """Every symptom of headway/data/symptoms.py, on both sides."""
    source, target = Side(seen.pairs.sources), Side(seen.pairs.targets)
    for symptom in SYMPTOMS:
        found = source.sightings(symptom.pattern), target.sightings(symptom.pattern)
        more = ""
        if symptom.kind == "white-space":
            texts = [side.texts[s.index] for side, part in zip((source, target), found, strict=True) for s in part]
            more = f" ({', '.join(spaces_named(texts))})"
        tell_sides(seen, symptom.kind, symptom.severity, symptom.words + more, found)
    decomposed = source.decomposed(), target.decomposed()
    tell_sides(seen, "not-normalised", "warning", "Unicode not in the composed form NFC (the same word in two spellings)", decomposed)
    (left, left_scripts), (right, right_scripts) = source.foreign(), target.foreign()
    scripts = " and ".join(sorted({*left_scripts, *right_scripts}))
    tell_sides(seen, "foreign-script", "note", f"{scripts} letters, rare on their side", (left, right))


def tell_sides(seen: Examination, kind: str, severity: str, words: str, found: tuple[list[Sighting], list[Sighting]]) -> None:
    excerpts = {sighting.index: sighting.excerpt for sighting in [*found[1], *found[0]]}
    indices = sorted(excerpts)
    sides = " and ".join(f"{len(list_)} on the {name} side" for name, list_ in zip(("source", "target"), found, strict=True) if list_)
    message = f"{counted(len(indices), 'pair')} with {words}: {sides}"
    seen.tell(kind, indices, severity, message, examples=[excerpts[i] for i in indices[:3]])


def examine_alignment(seen: Examination) -> None:
    """Files of equal length that are shifted against each other, or do not belong together at all."""
    sources, targets, lines = seen.pairs.sources, seen.pairs.targets, seen.pairs.lines
    drift = find_drift(sources, targets)
    if drift:
        much = drift.stop - drift.start > MUCH_DRIFT * len(seen.pairs)
        place = f"lines {lines[drift.start]} to {lines[drift.stop - 1]} do not seem to be translations of each other"
        direction = "further down" if drift.shift > 0 else "further up"
        reason = f"the sources fit the targets {counted(abs(drift.shift), 'line')} {direction}" if drift.shift else "no shift mends it"
        seen.tell("drift", range(drift.start, drift.stop), "error" if much else "warning", f"{place}; {reason}")
    elif unrelated(sources, targets):
        words = "the lengths of sources and targets have nothing to do with each other, as if one side had been shuffled"
        seen.tell("unrelated", range(len(sources)), "warning", words)


def examine_ratios(seen: Examination) -> None:
    """r = |log(a / b) - median|, and how many characters the shorter side lacks at the usual ratio."""
    a, b = log_lengths(seen.pairs.sources), log_lengths(seen.pairs.targets)
    usual = float(np.median((a - b)[seen.alive])) if seen.alive.sum() >= 20 else 0.0
    off = np.abs(a - b - usual)
    gap = np.abs(np.exp(a - usual / 2) - np.exp(b + usual / 2))
    words = "more than {:.0f} times off the usual ratio of lengths"
    seen.drop("wild-ratio", (off > np.log(WILD)) & (gap > GAP), words.format(WILD))
    unlikely = np.flatnonzero((off > np.log(UNLIKELY)) & (gap > GAP) & seen.alive).tolist()
    seen.tell("unlikely-ratio", unlikely, "note", f"{counted(len(unlikely), 'pair')} {words.format(UNLIKELY)}")


def examine_repetitions(seen: Examination, kept: list[int]) -> None:
    """Pairs that come again, sources with several translations, and pairs that are not translated."""
    sources, targets = seen.pairs.sources, seen.pairs.targets
    first: set[tuple[str, str]] = set()
    again: list[int] = []
    translations: dict[str, set[str]] = defaultdict(set)
    for i in kept:
        if (sources[i], targets[i]) in first:
            again.append(i)
        first.add((sources[i], targets[i]))
        translations[sources[i]].add(targets[i])
    seen.tell("duplicate", again, "note", f"{counted(len(again), 'pair')} seen before, word for word; frequency is information")
    various = [i for i in kept if len(translations[sources[i]]) > 1]
    seen.tell("several-targets", various, "note", f"{counted(len(various), 'pair')} whose source has other translations as well")
    same = [i for i in kept if sources[i] == targets[i]]
    severity = "warning" if len(same) > MUCH_UNTRANSLATED * len(kept) else "note"
    seen.tell("untranslated", same, severity, f"{counted(len(same), 'pair')} with the same text on both sides")


def examine_tokens(seen: Examination, ids: list[list[list[int]]], kept: list[int], unknown: int | None) -> dict[str, float]:
    """What the tokenizer makes of the texts."""
    tokens = sum(len(side[i]) for side in ids for i in kept)
    words = sum(len(side[i].split()) for side in (seen.pairs.sources, seen.pairs.targets) for i in kept)
    lost = {i: sum(side[i].count(unknown) for side in ids) for i in kept} if unknown is not None else {}
    lines = [i for i, count in lost.items() if count]
    share = sum(lost.values()) / max(tokens, 1)
    severity = "warning" if share > MUCH_UNKNOWN else "note"
    seen.tell("unknown-tokens", lines, severity, f"{counted(len(lines), 'pair')} with unknown tokens ({share:.2%} of all tokens)")
    longest = max(len(side[i]) for side in ids for i in kept)
    return {"tokens": tokens, "per_word": tokens / max(words, 1), "unknown": share, "longest": longest}


def examine_cost(seen: Examination, lengths: Lengths, kept: list[int], unit: str) -> dict[str, Any]:
    """Attention costs the square of the length: which lines take the memory."""
    longer = lengths[:, kept].max(axis=0)
    cost = longer.astype(np.float64) ** 2
    order = np.argsort(-longer, kind="stable")
    bound = LONG * max(1.0, float(np.median(longer)))
    long = [int(j) for j in order if longer[j] > bound]
    share = float(cost[long].sum() / max(cost.sum(), 1.0))
    message = f"{counted(len(long), 'pair')} over {LONG:.0f} times as long as the median, up to {longer.max():,} {unit}"
    seen.tell("costly", [kept[j] for j in long], "note", f"{message}, with {share:.0%} of the cost of attention ({unit} squared)")
    hundredth = order[: max(1, len(kept) // 100)]
    return {
        "longest_lines": [seen.pairs.lines[kept[int(j)]] for j in order[:5]],
        "share_of_longest_hundredth": float(cost[hundredth].sum() / max(cost.sum(), 1.0)),
    }


def measured(pairs: Pairs, lengths: Lengths, kept: list[int], unit: str) -> dict[str, Any]:
    """Sizes of what is kept."""
    statistics: dict[str, Any] = {"lines": len(kept), "unit": unit}
    for name, texts, row in zip(("source", "target"), (pairs.sources, pairs.targets), lengths[:, kept], strict=True):
        words = Counter(word for i in kept for word in texts[i].split())
        statistics[name] = {
            "words": words.total(), "vocabulary": len(words), "characters": sum(len(texts[i]) for i in kept),
            "mean": float(row.mean()), "median": float(np.median(row)), "max": int(row.max()),
        }  # fmt: skip
    ratios = [(len(pairs.sources[i]) + 1) / (len(pairs.targets[i]) + 1) for i in kept]
    statistics["ratio_median"] = float(np.median(ratios))
    return statistics
