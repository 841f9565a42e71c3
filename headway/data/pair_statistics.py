"""Sizes of a parallel corpus: words, lengths, tokens, and which lines cost the memory."""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.data.findings import Examination
from headway.data.messages import count_noun
from headway.data.pairs import Pairs

LONG = 4.0  # times the median length: will cost memory
MUCH_UNKNOWN = 0.01  # of the tokens

Lengths = npt.NDArray[np.int64]  # two rows, source and target


def examine_tokens(
    seen: Examination, pairs: Pairs, ids: list[list[list[int]]], kept: list[int], unknown: int | None
) -> dict[str, float]:
    """What the tokenizer makes of the texts."""
    tokens = sum(len(side[i]) for side in ids for i in kept)
    words = sum(len(side[i].split()) for side in (pairs.sources, pairs.targets) for i in kept)
    lost = {i: sum(side[i].count(unknown) for side in ids) for i in kept} if unknown is not None else {}
    lines = [i for i, count in lost.items() if count]
    share = sum(lost.values()) / max(tokens, 1)
    severity = "warning" if share > MUCH_UNKNOWN else "note"
    seen.report(
        "unknown-tokens",
        lines,
        severity,
        f"{count_noun(len(lines), 'pair')} with unknown tokens ({share:.2%} of all tokens)",
    )
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
    message = (
        f"{count_noun(len(long), 'pair')} over {LONG:.0f} times as long as the median, up to {longer.max():,} {unit}"
    )
    seen.report(
        "costly",
        [kept[j] for j in long],
        "note",
        f"{message}, with {share:.0%} of the cost of attention ({unit} squared)",
    )
    hundredth = order[: max(1, len(kept) // 100)]
    return {
        "longest_lines": [seen.lines[kept[int(j)]] for j in order[:5]],
        "share_of_longest_hundredth": float(cost[hundredth].sum() / max(cost.sum(), 1.0)),
    }


def measure(pairs: Pairs, lengths: Lengths, kept: list[int], unit: str) -> dict[str, Any]:
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


def describe(statistics: dict[str, Any]) -> tuple[str, ...]:
    """The sizes of both sides in words."""
    rows = []
    for side in ("source", "target"):
        numbers = statistics[side]
        size = f"{numbers['words']:,} words ({numbers['vocabulary']:,} different)"
        spread = f"mean {numbers['mean']:.1f}, median {numbers['median']:.0f}, at most {numbers['max']:,}"
        rows.append(f"{side}: {size}; {statistics['unit']} per line: {spread}")
    return tuple(rows)
