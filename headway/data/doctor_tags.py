"""The doctor of tagged sentences: several tags, enough of each, and tags that can be believed.

Dropped, reported:  lines that cannot be read, with their sentences; sentences that are held out.
Kept, reported:     duplicates; the same sentence with other tags; sequences that BIO does not allow (`I-PER` after `O`
                    or after another entity); a word with another tag than it nearly always has; rare tags.
An error:           one tag only, because there is nothing to learn.
"""

from collections import Counter, defaultdict
from collections.abc import Set

import numpy as np

from headway.core.errors import DataError
from headway.data.conll import HINT, TaggedSentences
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun, excerpt, list_names

LEAST = 200  # sentences; with fewer a model learns them by heart
RARE = 10  # words of a tag
OFTEN, NEARLY_ALWAYS = (
    20,
    0.95,
)  # a word that is this frequent, with another tag than it has in this share of its places
Words = tuple[str, ...]


def examine_tags(
    given: TaggedSentences, least: int = LEAST, held_out: Set[Words] = frozenset()
) -> tuple[TaggedSentences, Report]:
    """The sentences that are used, and what was found. `held_out` are sentences that the model is to be judged by."""
    seen = Examination(given.lines, "sentence", lambda i: excerpt(" ".join(given.words[i]), 70))
    seen.report_unreadable(given.problems)
    seen.drop("held-out", np.array([w in held_out for w in given.words], dtype=bool), "that are also held out")
    kept = np.flatnonzero(seen.alive).tolist()
    if not kept:
        reasons = "; ".join(finding.message for finding in seen.finish()) or "no sentences"
        raise DataError(f"nothing is left of `{given.origin}`: {reasons}", HINT)
    used = given.select(kept)
    examine_copies(seen, given, kept)
    examine_sequences(seen, given, kept)
    examine_unusual(seen, given, kept)
    counts = Counter(tag for tags in used.tags for tag in tags)
    examine_balance(seen, counts)
    if len(kept) < least:
        message = f"too little data: {count_noun(len(kept), 'sentence')}; a model needs at least about {least:,}"
        seen.report_all("little-data", "warning", message, len(kept))
    total, lengths = counts.total(), [len(words) for words in used.words]
    usual = most_frequent_tags(used)
    baseline = (
        sum(usual[w] == t for ws, ts in zip(used.words, used.tags, strict=True) for w, t in zip(ws, ts, strict=True))
        / total
    )
    shares = ", ".join(f"`{excerpt(tag, 30)}` {n / total:.1%}" for tag, n in counts.most_common(8))
    summary = (
        f"{count_noun(len(counts), 'tag')}: {shares}{f' and {len(counts) - 8:,} more' if len(counts) > 8 else ''}",
        f"{total:,} words ({len(usual):,} different); per sentence: mean {np.mean(lengths):.1f}, at most {max(lengths):,}",
        f"always the most frequent tag of a word is right for {baseline:.1%} of the words",
    )
    statistics = {"sentences": len(kept), "words": total, "tags": dict(counts.most_common()), "baseline": baseline}
    origin, unit = given.origin, "sentence"
    return used, Report(origin, len(given), len(kept), seen.finish(), statistics, unit, summary)


def most_frequent_tags(given: TaggedSentences) -> dict[str, str]:
    """The tag that each word has most often: what a model must do better than."""
    return {word: counts.most_common(1)[0][0] for word, counts in tags_of_words(given).items()}


def tags_of_words(given: TaggedSentences) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for words, tags in zip(given.words, given.tags, strict=True):
        for word, tag in zip(words, tags, strict=True):
            found[word][tag] += 1
    return found


def examine_copies(seen: Examination, given: TaggedSentences, kept: list[int]) -> None:
    """Sentences that come again: with the same tags, and with other ones."""
    versions: dict[Words, set[Words]] = defaultdict(set)
    again: list[int] = []
    for i in kept:
        if given.tags[i] in versions[given.words[i]]:
            again.append(i)
        versions[given.words[i]].add(given.tags[i])
    seen.report("duplicate", again, "note", f"{count_noun(len(again), 'sentence')} seen before, with the same tags")
    torn = [i for i in kept if len(versions[given.words[i]]) > 1]
    message = f"{count_noun(len(torn), 'sentence')} that also stand here with other tags: one of them is wrong"
    seen.report("contradiction", torn, "warning", message)


def broken_places(tags: Words) -> list[int]:
    """Words with an `I-X` that continues nothing: before it stands neither `B-X` nor `I-X`."""
    before = ("O", *tags)
    return [i for i, tag in enumerate(tags) if tag.startswith("I-") and before[i] not in (tag, f"B-{tag[2:]}")]


def examine_sequences(seen: Examination, given: TaggedSentences, kept: list[int]) -> None:
    """Data that never begin an entity with `B-` where none precedes are of the older form IOB1, in which that is right."""
    broken = {i: places for i in kept if (places := broken_places(given.tags[i]))}
    examples = [
        f"{excerpt(given.words[i][p], 30)} has `{given.tags[i][p]}` after `{('O', *given.tags[i])[p]}`"
        for i, (p, *_) in broken.items()
    ]
    message = f"{count_noun(len(broken), 'sentence')} in which an entity begins with `I-` instead of `B-`"
    seen.report("broken-entity", list(broken), "warning", message, examples=examples)


def examine_unusual(seen: Examination, given: TaggedSentences, kept: list[int]) -> None:
    """Frequent words with another tag than they nearly always have: often a mistake of an annotator."""
    usual = tags_of_words(given.select(kept))
    unusual: dict[int, str] = {}
    for i in kept:
        for word, tag in zip(given.words[i], given.tags[i], strict=True):
            common, times = usual[word].most_common(1)[0]
            total = usual[word].total()
            if tag != common and total >= OFTEN and times >= NEARLY_ALWAYS * total:
                unusual.setdefault(i, f"`{excerpt(word, 30)}` is `{tag}` here and `{common}` {times:,} of {total:,} x")
    message = f"{count_noun(len(unusual), 'sentence')} in which a word has another tag than nearly always"
    seen.report("unusual-tag", list(unusual), "note", message, examples=list(unusual.values()))


def examine_balance(seen: Examination, counts: Counter[str]) -> None:
    if len(counts) == 1:
        seen.report_all("one-tag", "error", f"every word has the tag `{next(iter(counts))}`: nothing to learn")
    rare = sorted(tag for tag, count in counts.items() if count < RARE)
    if rare and len(counts) > 1:
        first = list_names(rare[:5]) + (", ..." if len(rare) > 5 else "")
        seen.report_all(
            "rare-tag", "note", f"{count_noun(len(rare), 'tag')} of fewer than {RARE} words ({first})", len(rare)
        )
