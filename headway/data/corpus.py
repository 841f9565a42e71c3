"""What a person's files hold: pairs to train on, pairs set apart, and what the doctor said of both."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.core.errors import DataError
from headway.core.recipe import Data
from headway.core.seeds import derive
from headway.data.doctor import examine
from headway.data.findings import Report
from headway.data.grammar.corpus import GoldPair, generate
from headway.data.pairs import Pairs, read_pairs, two_languages


@dataclass(frozen=True)
class Corpus:
    train: Pairs
    validation: Pairs
    reports: tuple[Report, ...]  # of the training pairs, and of the validation pairs where these came as files of their own

    @property
    def fingerprint(self) -> dict[str, str]:
        """What `--resume` compares: the number of pairs and a hash of their texts."""
        sides = {"train": self.train, "validation": self.validation}
        return {name: f"{len(pairs):,} pairs, sha256 {pairs.fingerprint}" for name, pairs in sides.items()}

    def said(self) -> str:
        return "\n".join(report.text() for report in self.reports)

    def to_json(self) -> dict[str, Any]:
        value = self.reports[0].to_json()
        return value | {"validation": self.reports[1].to_json()} if len(self.reports) > 1 else value


def collect(data: Data, seed: int) -> Corpus:
    """Read, examine, set apart. The same files and seed give the same corpus; whatever is dropped is in the reports."""
    if data.grammar is not None:
        train, report = examine(from_gold(generate(data.grammar, "train", seed)), limit=data.longest)
        return Corpus(train, from_gold(generate(500, "validation", seed)), (report,))
    languages = two_languages(data.languages)
    pairs = read_pairs(data.source, data.target, data.pairs, languages)
    if data.validation_source or data.validation_pairs:
        given = read_pairs(data.validation_source, data.validation_target, data.validation_pairs, languages)
        validation, second = examine(given, limit=data.longest, least=0)
        train, report = examine(pairs, heldout=validation, limit=data.longest)
        return Corpus(train, validation, (report, second))
    pairs, report = examine(pairs, limit=data.longest)
    return Corpus(*set_apart(pairs, seed), (report,))


def from_gold(pairs: Sequence[GoldPair]) -> Pairs:
    sources, targets = tuple(p.source for p in pairs), tuple(p.target for p in pairs)
    return Pairs(sources, targets, tuple(range(1, len(pairs) + 1)), "the embedded grammar")


def set_apart(pairs: Pairs, seed: int) -> tuple[Pairs, Pairs]:
    """A twentieth, at most 1,000 pairs, drawn by the seed; only sources that occur once, so that no copy stays in training."""
    count = min(1000, max(1, len(pairs) // 20))
    times = Counter(pairs.sources)
    single = [i for i, source in enumerate(pairs.sources) if times[source] == 1]
    if not single or len(pairs) < 2:
        raise DataError(
            f"{pairs.origin} holds no pair that could be set apart for validation (every source occurs more than once)",
            "bring validation pairs: `--validation-source` and `--validation-target`, or `--validation-pairs`.",
        )
    chosen = set(np.random.default_rng(derive(seed, "validation")).permutation(single)[:count].tolist())

    def part(inside: bool) -> Pairs:
        rows = [i for i in range(len(pairs)) if (i in chosen) == inside]
        sources, targets = (tuple(side[i] for i in rows) for side in (pairs.sources, pairs.targets))
        return Pairs(sources, targets, tuple(pairs.lines[i] for i in rows), pairs.origin)

    return part(False), part(True)
