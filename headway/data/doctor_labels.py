"""The doctor of labelled texts: are there several classes, enough of each, and labels that can be believed?

Dropped, reported:  rows without a text or without a label; rows whose text is held out.
Kept, reported:     duplicates; the same text under different labels (an annotator erred, or both are right);
                    rare classes, and one class that is nearly everything; damaged characters.
An error:           one class only, because there is nothing to learn.
"""

from collections import Counter, defaultdict
from collections.abc import Set

import numpy as np

from headway.core.errors import DataError
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun, excerpt, list_names
from headway.data.symptoms import SYMPTOMS, Side, is_blank
from headway.data.table import Table

LEAST_ROWS = 200  # with fewer a model learns them by heart
LEAST_OF_A_CLASS = 2  # one to learn from, one to be judged by
RARE = 10  # examples of a class
NEARLY_ALL = 0.9  # of the examples
MANY_CLASSES = 0.5  # classes per example: such a column holds no classes


def examine_labels(
    table: Table, text: str, label: str, least: int = LEAST_ROWS, held_out: Set[str] = frozenset()
) -> tuple[Table, Report]:
    """The rows that have a text in column `text` and a class in column `label`, and what was found.

    `held_out` are texts that the model is to be judged by: nothing is learned from them.
    """
    texts, labels = table.column(text), table.column(label)
    seen = Examination(table.lines, "row", lambda i: f"{excerpt(labels[i], 20)}: {excerpt(texts[i], 56)}")
    seen.report_unreadable(table.problems)
    seen.drop(
        "empty-text", np.array([is_blank(cell) for cell in texts], dtype=bool), f"with nothing in column `{text}`"
    )
    seen.drop(
        "empty-label", np.array([is_blank(cell) for cell in labels], dtype=bool), f"with nothing in column `{label}`"
    )
    hidden = np.array([cell in held_out for cell in texts], dtype=bool)
    seen.drop("held-out", hidden, "whose text is also in the held-out tables")
    kept = np.flatnonzero(seen.alive).tolist()
    if not kept:
        reasons = "; ".join(finding.message for finding in seen.finish())
        raise DataError(f"nothing is left of {table.origin}: {reasons}", "every row needs a text and a label.")
    examine_damage(seen, texts)
    examine_copies(seen, texts, labels, kept)
    counts = Counter(labels[i] for i in kept)
    examine_balance(seen, counts, labels, kept)
    if len(kept) < least:
        message = f"too little data: {count_noun(len(kept), 'row')}; a model needs at least about {least:,}"
        seen.report_all("little-data", "warning", message, len(kept))
    lengths = np.array([len(texts[i].split()) for i in kept])
    statistics = {
        "rows": len(kept),
        "classes": dict(counts.most_common()),
        "majority": counts.most_common(1)[0][1] / len(kept),
        "words": {"mean": float(lengths.mean()), "median": float(np.median(lengths)), "max": int(lengths.max())},
    }
    spread = f"mean {lengths.mean():.1f}, median {np.median(lengths):.0f}, at most {lengths.max():,}"
    summary = (describe_classes(counts), f"words per text: {spread}")
    total = len(table) + len(table.problems)
    return table.select(kept), Report(table.origin, total, len(kept), seen.finish(), statistics, "row", summary)


def describe_classes(counts: Counter[str]) -> str:
    total = counts.total()
    shares = [f"`{excerpt(name, 30)}` {count / total:.1%}" for name, count in counts.most_common(8)]
    more = f" and {len(counts) - 8:,} more" if len(counts) > 8 else ""
    return f"{count_noun(len(counts), 'class')}: {', '.join(shares)}{more}"


def examine_damage(seen: Examination, texts: tuple[str, ...]) -> None:
    """Damaged characters; odd white space does not hurt a classifier."""
    side = Side(texts)
    for symptom in SYMPTOMS:
        if symptom.severity == "warning":
            found = side.sightings(symptom.pattern)
            message = f"{count_noun(len(found), 'row')} with {symptom.words}"
            examples = [sighting.excerpt for sighting in found[:3]]
            seen.report(symptom.kind, [sighting.index for sighting in found], "warning", message, examples=examples)


def examine_copies(seen: Examination, texts: tuple[str, ...], labels: tuple[str, ...], kept: list[int]) -> None:
    """Texts that come again: with the same label, and with another one."""
    given: dict[str, set[str]] = defaultdict(set)
    again: list[int] = []
    for i in kept:
        if labels[i] in given[texts[i]]:
            again.append(i)
        given[texts[i]].add(labels[i])
    seen.report("duplicate", again, "note", f"{count_noun(len(again), 'row')} seen before, with the same label")
    torn = [i for i in kept if len(given[texts[i]]) > 1]
    message = f"{count_noun(len(torn), 'row')} whose text also has another label: one of them is wrong"
    seen.report("contradiction", torn, "warning", message)


def examine_balance(seen: Examination, counts: Counter[str], labels: tuple[str, ...], kept: list[int]) -> None:
    total, (largest, most) = counts.total(), counts.most_common(1)[0]
    if len(counts) == 1:
        seen.report_all(
            "one-class", "error", f"every {seen.unit} has the label `{excerpt(largest, 30)}`: nothing to learn"
        )
        return
    if len(counts) > MANY_CLASSES * total and total >= 2 * RARE:
        message = f"{len(counts):,} different labels for {count_noun(total, seen.unit)}"
        message += ": these seem to be texts or numbers, not classes"
        seen.report_all("many-classes", "error", message)
        return
    if most > NEARLY_ALL * total:
        message = f"{most / total:.1%} of the {seen.unit}s have the label `{excerpt(largest, 30)}`"
        message += ": always answering it is right as often"
        seen.report_all("imbalance", "warning", message)
    alone = {name for name, count in counts.items() if count < LEAST_OF_A_CLASS}
    rare = {name for name, count in counts.items() if LEAST_OF_A_CLASS <= count < RARE}
    words = "with only one example, which cannot both teach and judge"
    report_classes(seen, "single-example", "warning", words, alone, [i for i in kept if labels[i] in alone])
    words = f"with fewer than {RARE} examples"
    report_classes(seen, "rare-class", "note", words, rare, [i for i in kept if labels[i] in rare])


def report_classes(seen: Examination, kind: str, severity: str, words: str, classes: set[str], rows: list[int]) -> None:
    names = sorted(classes)
    first = list_names(names[:5]) + (", ..." if len(names) > 5 else "")
    seen.report(kind, rows, severity, f"{count_noun(len(names), 'class')} {words} ({first})")
