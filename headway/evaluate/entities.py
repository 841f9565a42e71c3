"""How many entities were found: a stretch of words with its type counts as found if both ends and the type are right.

    precision = right / predicted        recall = right / true        F1 = 2 right / (predicted + true)

summed over all sentences (micro), as `conlleval` of the CoNLL-2000 task counts it (Tjong Kim Sang & Buchholz 2000,
https://doi.org/10.3115/1117601.1117631). Tags are `B-X` (an entity of type X begins), `I-X` (it goes on) and `O` (none);
`E-X` (it ends) and `S-X` (one word) are read as well. As there, an `I-X` that continues nothing begins an entity.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.core.errors import DataError

Tags = Sequence[str]
Entity = tuple[str, int, int]  # its type, its first word, and one after its last
BEGINS, GOES_ON, LAST = ("B", "S"), ("I", "E"), ("E", "S")
RESAMPLES, SEED = 1000, 12345


@dataclass(frozen=True)
class EntityScore:
    """Micro F1 between the ends of its 95 % bootstrap interval over sentences, and what it is made of."""

    f1: float  # 2 right / (predicted + true)
    low: float
    high: float
    precision: float  # the share of predicted entities that are right
    recall: float  # the share of true entities that were found
    by_type: dict[str, float]  # F1 of each type


def are_entities(tags: Tags) -> bool:
    """Whether these tags, of a whole corpus, mark entities: all are `O`, `B-X`, `I-X` ... and some begin."""
    marks = {tag[:2] for tag in tags}
    return marks <= {"O", "B-", "I-", "E-", "S-"} and bool(marks & {"B-", "I-", "S-"})


def entities(tags: Tags) -> list[Entity]:
    """The entities of one sentence, in order."""
    found: list[Entity] = []
    start, kind, before = 0, "", "O"  # the entity that is open (kind "": none), and the mark before
    for i, tag in enumerate([*tags, "O"]):
        mark, _, name = tag.partition("-")
        continues = mark in GOES_ON and kind == name and before not in LAST
        if kind and not continues:
            found.append((kind, start, i))
            kind = ""
        if mark in (*BEGINS, *GOES_ON) and not continues:
            start, kind = i, name
        before = mark
    return found


def entity_f1(predicted: Sequence[Tags], true: Sequence[Tags]) -> EntityScore:
    """Micro F1 of entities over sentences.

    Also called entity F1, span F1, conlleval, chunk F1.
    """
    if [len(tags) for tags in predicted] != [len(tags) for tags in true] or not true:
        raise DataError(
            "predicted and true tags are not of the same words", "give one tag per word, sentence by sentence."
        )
    right, guessed, wanted = Counter[str](), Counter[str](), Counter[str]()
    counts = []
    for a, b in zip(predicted, true, strict=True):
        mine, gold = set(entities(a)), set(entities(b))
        counts.append((len(mine & gold), len(mine), len(gold)))
        for counter, found in ((right, mine & gold), (guessed, mine), (wanted, gold)):
            counter.update(kind for kind, _, _ in found)
    rows = np.array(counts, dtype=np.float64)
    hits, p, t = rows.sum(0).tolist()
    generator, n = np.random.default_rng(SEED), len(rows)
    sums = np.array([np.bincount(generator.choice(n, size=n), minlength=n) @ rows for _ in range(RESAMPLES)])
    low, high = np.quantile(f1(sums[:, 0], sums[:, 1] + sums[:, 2]), [0.025, 0.975])
    value = float(f1(np.array(hits), np.array(p + t)))
    by_type = {k: 2 * right[k] / (guessed[k] + wanted[k]) for k in sorted({*guessed, *wanted})}
    return EntityScore(
        value, min(value, float(low)), max(value, float(high)), hits / (p or 1), hits / (t or 1), by_type
    )


def f1(right: np.ndarray, both: np.ndarray) -> np.ndarray:
    """2 right / (predicted + true); 0 where there is neither."""
    return 2 * right / np.maximum(both, 1)
