"""What a person's files of pairs hold: pairs to train on, pairs set apart, and what the doctor found in both."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from headway.core.errors import DataError, RunError, UsageError
from headway.core.files import parse_json, read_text, write_text
from headway.core.folds import current_fold, take_fold
from headway.core.seeds import derive
from headway.data.doctor import examine
from headway.data.findings import Report, unread
from headway.data.grammar.corpus import generate
from headway.data.input_file import split_lines
from headway.data.pairs import Pairs, read_pairs, two_languages

ENOUGH = 400  # pairs from which on a test part is set apart beside the validation part
MOST = 1000  # pairs of a held-out part


class PairData(Protocol):
    """The options that bring pairs."""

    @property
    def source(self) -> str | None: ...
    @property
    def target(self) -> str | None: ...
    @property
    def pairs(self) -> str | None: ...
    @property
    def languages(self) -> str | None: ...
    @property
    def grammar(self) -> int | None: ...
    @property
    def longest(self) -> int: ...


@dataclass(frozen=True)
class HeldOut:
    """A held-out part: sentences, their translations, and where they are known the links between their words."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    alignments: tuple[tuple[tuple[int, int], ...], ...] | None = None
    left_out: tuple[str, ...] = ()  # what could not be read of a person's files, in words

    def first(self, count: int) -> "HeldOut":
        return HeldOut(
            self.sources[:count], self.targets[:count], None if self.alignments is None else self.alignments[:count]
        )


@dataclass(frozen=True)
class PairCorpus:
    train: Pairs
    held_out: dict[str, HeldOut]  # "validation", and "test" (and more) where there is one
    reports: tuple[Report, ...]

    @property
    def fingerprint(self) -> dict[str, str]:
        parts = {"train": (self.train.sources, self.train.targets)} | {
            n: (p.sources, p.targets) for n, p in self.held_out.items()
        }
        return {n: f"{len(s):,} pairs, sha256 {Pairs(s, t, (), '').fingerprint}" for n, (s, t) in parts.items()}

    def describe(self) -> str:
        parts = ", ".join(f"{len(part.sources):,} for {name}" for name, part in self.held_out.items())
        return "\n".join(
            [*(report.text() for report in self.reports), f"learning from {len(self.train):,} pairs; held out: {parts}"]
        )

    @cached_property
    def characters(self) -> int:
        return sum(map(len, self.train.targets))

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(word for text in self.train.targets for word in re.findall(r"\w+|[^\w\s]", text))

    @property
    def words(self) -> int:
        """Different words of both sides."""
        return len(
            {word for text in self.train.sources for word in re.findall(r"\w+|[^\w\s]", text)} | self._counts.keys()
        )

    @property
    def unseen_words(self) -> float:
        """The probability of a word that was never seen: words that occur once, over all words (Good 1953); 0 for a regular language."""
        return sum(n == 1 for n in self._counts.values()) / max(1, self._counts.total())


def collect_pairs(data: PairData, seed: int) -> PairCorpus:
    """Read, examine, set apart. The same files and seed give the same corpus; whatever is dropped is in the reports."""
    if data.grammar is not None:
        return from_grammar(data.grammar, data.longest, seed)
    languages = two_languages(data.languages)
    pairs = read_pairs(data.source, data.target, data.pairs, languages)
    reports: list[Report] = []
    held_out: dict[str, HeldOut] = {}
    for name in ("validation", "test"):
        files = [getattr(data, f"{name}_{side}") for side in ("source", "target", "pairs")]
        if any(files):
            given, report = examine(read_pairs(files[0], files[1], files[2], languages), limit=data.longest)
            held_out[name] = HeldOut(given.sources, given.targets)
            reports.append(report)
    sources = tuple(text for part in held_out.values() for text in part.sources)
    hidden = Pairs(sources, sources, (), "the held-out files")
    pairs, report = examine(pairs, heldout=hidden if held_out else None, limit=data.longest)
    if "validation" not in held_out:
        pairs, held_out = set_apart(pairs, held_out, seed)
    return PairCorpus(pairs, held_out, (report, *reports))


def from_grammar(count: int, longest: int, seed: int) -> PairCorpus:
    """The embedded grammar: training pairs, a validation part, a test part, and one of combinations that training never shows."""
    gold = generate(count, "train", seed)
    pairs = Pairs(
        tuple(p.source for p in gold), tuple(p.target for p in gold), tuple(range(1, count + 1)), "the embedded grammar"
    )
    pairs, report = examine(pairs, limit=longest)
    parts = {}
    for name, size in (("validation", 500), ("test", 300), ("combinations", 300)):
        made = generate(size, name, seed)
        links = tuple(tuple(p.alignment) for p in made)
        parts[name] = HeldOut(tuple(p.source for p in made), tuple(p.target for p in made), links)
    return PairCorpus(pairs, parts, (report,))


def set_apart(pairs: Pairs, held_out: dict[str, HeldOut], seed: int) -> tuple[Pairs, dict[str, HeldOut]]:
    """A twentieth for validation and, in larger data, as much for a test; only sources that occur once: no copy stays in training."""
    parts = ["validation"] if len(pairs) < ENOUGH or "test" in held_out else ["validation", "test"]
    count = min(MOST, max(1, len(pairs) // 20))
    times = Counter(pairs.sources)
    single = [i for i, source in enumerate(pairs.sources) if times[source] == 1]
    if len(pairs) < 2:
        raise DataError(
            f"{pairs.origin} holds one pair: too little to learn from and to be judged by", "bring more pairs."
        )
    if not single:
        raise DataError(
            f"{pairs.origin} holds no pair that could be set apart for validation (every source occurs more than once)",
            "bring validation pairs: `--validation-source` and `--validation-target`, or `--validation-pairs`.",
        )
    order = np.random.default_rng(derive(seed, "validation")).permutation(single).tolist()
    chosen = {name: set(order[k * count : (k + 1) * count]) for k, name in enumerate(parts)}
    chosen = {name: rows for name, rows in chosen.items() if rows}
    taken = set().union(*chosen.values())
    rest = [i for i in range(len(pairs)) if i not in taken]
    if split := current_fold():
        rest, fold = take_fold([*rest, *chosen["validation"]], pairs.sources, [""] * len(pairs), split)
        chosen["validation"] = set(fold)
    if not rest:
        raise DataError(f"{pairs.origin} holds {len(pairs)} pairs: too little to set some apart", "bring more pairs.")

    def select(rows: Sequence[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return tuple(pairs.sources[i] for i in rows), tuple(pairs.targets[i] for i in rows)

    train = Pairs(*select(rest), tuple(pairs.lines[i] for i in rest), pairs.origin)
    return train, {name: HeldOut(*select(sorted(rows))) for name, rows in chosen.items()} | held_out


# -- in the run ----------------------------------------------------------------------------------------------------------


def write_held_out(corpus: PairCorpus, folder: Path) -> None:
    """The held-out parts as JSON lines in the run: it is judged, now and later, without the person's files."""
    (folder / "held_out").mkdir(exist_ok=True)
    for name, part in corpus.held_out.items():
        rows: list[dict[str, object]] = [
            {"source": s, "target": t} for s, t in zip(part.sources, part.targets, strict=True)
        ]
        for row, links in zip(rows, part.alignments or (), strict=False):
            row["alignment"] = [list(link) for link in links]
        write_text(
            folder / "held_out" / f"{name}.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        )


def read_held_out(folder: Path) -> dict[str, HeldOut]:
    """The parts that the run keeps; a damaged line is reported with its file."""
    parts: dict[str, HeldOut] = {}
    for path in sorted((folder / "held_out").glob("*.jsonl"), key=lambda p: (p.stem != "test", p.stem)):
        try:
            rows = [parse_json(line) for line in split_lines(read_text(path))]
            sources, targets = (tuple(row[side] for row in rows) for side in ("source", "target"))
            links = [tuple((int(s), int(t)) for s, t in row["alignment"]) for row in rows if "alignment" in row]
        except (ValueError, KeyError, TypeError) as problem:
            raise RunError(
                f"`{path}` is damaged: {problem}", "restore the file from a copy, or train again."
            ) from problem
        if not rows or not all(isinstance(text, str) for text in (*sources, *targets)):
            raise RunError(
                f"`{path}` is damaged: a line holds no pair of texts", "restore the file from a copy, or train again."
            )
        parts[path.stem] = HeldOut(sources, targets, tuple(links) if len(links) == len(rows) else None)
    if "validation" not in parts:
        path = folder / "held_out" / "validation.jsonl"
        raise RunError(f"`{path}` is missing", "restore the file from a copy, or train again.")
    return parts


def read_own(data: PairData) -> HeldOut:
    """Pairs that a person brings to evaluate a run by."""
    if data.pairs is None and (data.source is None or data.target is None):
        raise UsageError(
            "which pairs? `--source` and `--target`, or `--pairs`", "`headway evaluate --help` explains them."
        )
    pairs = read_pairs(data.source, data.target, data.pairs, two_languages(data.languages))
    return HeldOut(pairs.sources, pairs.targets, left_out=unread(pairs.problems, "pair"))
