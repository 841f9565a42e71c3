"""The doctor of inputs and outputs of any task as text: less than of translations, because lengths may have any ratio.

Dropped, reported:  pairs with an empty side; a side longer than the limit; pairs whose input is held out.
Kept, reported:     duplicates; an input with several outputs; damaged characters.
"""

from collections import defaultdict
from collections.abc import Set

import numpy as np

from headway.core.errors import DataError
from headway.data.doctor import examine_characters, examine_empty, words_in
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun, excerpt
from headway.data.pairs import Pairs

LEAST = 100  # pairs of a task; with fewer a model learns them by heart


def examine_inputs(
    pairs: Pairs, limit: int, least: int = LEAST, held_out: Set[str] = frozenset()
) -> tuple[Pairs, Report]:
    """The pairs that are used, and what was found. `limit` is the longest side allowed, in words."""
    sources, targets = pairs.sources, pairs.targets
    seen = Examination(pairs.lines, "pair", lambda i: f"{excerpt(sources[i], 38)} | {excerpt(targets[i], 38)}")
    seen.report_unreadable(pairs.problems)
    examine_empty(seen, pairs)
    examine_characters(seen, pairs)
    lengths = np.array([max(words_in(s), words_in(t)) for s, t in zip(sources, targets, strict=True)])
    seen.drop("too-long", lengths > limit, f"longer than {limit} words")
    seen.drop("held-out", np.array([text in held_out for text in sources], dtype=bool), "whose input is also held out")
    kept = np.flatnonzero(seen.alive).tolist()
    if not kept:
        reasons = "; ".join(finding.message for finding in seen.finish()) or "no pairs"
        raise DataError(f"nothing is left of `{pairs.origin}`: {reasons}", "every line needs an input and an output.")
    outputs: dict[str, set[str]] = defaultdict(set)
    again: list[int] = []
    for i in kept:
        if targets[i] in outputs[sources[i]]:
            again.append(i)
        outputs[sources[i]].add(targets[i])
    several = [i for i in kept if len(outputs[sources[i]]) > 1]
    seen.report("duplicate", again, "note", f"{count_noun(len(again), 'pair')} seen before, word for word")
    message = f"{count_noun(len(several), 'pair')} whose input has other outputs as well"
    seen.report("several-targets", several, "note", message)
    if len(kept) < least:
        message = f"too little data: {count_noun(len(kept), 'pair')}; a task needs at least about {least:,}"
        seen.report_all("little-data", "warning", message, len(kept))
    used = Pairs(tuple(sources[i] for i in kept), tuple(targets[i] for i in kept), tuple(pairs.lines[i] for i in kept),
                 pairs.origin)  # fmt: skip
    words = f"words: median {np.median(lengths[kept]):.0f}, at most {lengths[kept].max():,}"
    total, statistics = len(pairs) + len(pairs.problems), {"pairs": len(kept)}
    return used, Report(pairs.origin, total, len(kept), seen.finish(), statistics, "pair", (words,))
