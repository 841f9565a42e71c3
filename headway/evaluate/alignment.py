"""Word alignments: read them off an attention map, read and write Pharaoh files, and measure their error.

With predicted links A, sure links S and possible links P (S is part of P), summed over the corpus (Och & Ney 2003,
section 4.1):

    precision = |A ∩ P| / |A|      recall = |A ∩ S| / |S|      AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

A link is a pair (source word, target word), counted from 0.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import ConfigError, DataError, raise_all

Link = tuple[int, int]
Matrix = NDArray[np.float64]
PHARAOH = re.compile(r"(\d+)([-?p])(\d+)", re.ASCII)


@dataclass(frozen=True)
class AlignmentScore:
    """All four figures of one alignment, each between 0 and 1. Only `aer` is better when small."""

    precision: float  # the share of predicted links that are possible
    recall: float  # the share of sure links that were predicted
    f1: float  # their harmonic mean
    aer: float  # the alignment error rate


def measure(
    predicted: Sequence[set[Link]], sure: Sequence[set[Link]], possible: Sequence[set[Link]] | None = None
) -> AlignmentScore:
    """Score a corpus, one set of links per sentence. Sure links count as possible, also if `possible` lacks them.

    Where nothing was predicted there is no wrong link (precision 1), where nothing is sure nothing was missed (recall
    1); if both are empty, the alignment is perfect. F1 is the harmonic mean of precision and recall.
    """
    possible = sure if possible is None else possible
    if not len(predicted) == len(sure) == len(possible):
        raise DataError(
            f"{len(predicted)} predicted alignments cannot be compared with "
            f"{len(sure)} sure and {len(possible)} possible ones",
            "all need one line per sentence pair; a pair without links is an empty line.",
        )
    a = sum(len(x) for x in predicted)
    s = sum(len(x) for x in sure)
    a_s = sum(len(x & y) for x, y in zip(predicted, sure, strict=True))
    a_p = sum(len(x & (y | z)) for x, y, z in zip(predicted, sure, possible, strict=True))
    precision = a_p / a if a else 1.0
    recall = a_s / s if s else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return AlignmentScore(precision, recall, f1, 1 - (a_s + a_p) / (a + s) if a + s else 0.0)


def aer(
    predicted: Sequence[set[Link]], sure: Sequence[set[Link]], possible: Sequence[set[Link]] | None = None
) -> float:
    """The alignment error rate of a corpus: 0 is perfect, 1 is all wrong. Och & Ney 2003.

    Also called alignment error rate.

    predicted   for each sentence the links that were predicted
    sure        the links that every annotator sees
    possible    links that are not wrong; None: only the sure ones
    """
    return measure(predicted, sure, possible).aer


def read_pharaoh(lines: Iterable[str], name: str = "the alignment") -> tuple[list[set[Link]], list[set[Link]]]:
    """The sure and the possible links of each line `0-0 1-2 3?2`, where `-` is sure and `?` (or `p`) only possible.

    Sure links are among the possible ones. All wrong links are reported at once, with their lines; `name` is the
    name of the file in that message.
    """
    sure: list[set[Link]] = []
    possible: list[set[Link]] = []
    problems = []
    for number, line in enumerate(lines, start=1):
        found = [(part, PHARAOH.fullmatch(part)) for part in line.split()]
        problems += [f"line {number}: `{part}` is not a link" for part, match in found if match is None]
        links_of_line = [(match[2], (int(match[1]), int(match[3]))) for _, match in found if match]
        sure.append({link for sign, link in links_of_line if sign == "-"})
        possible.append({link for _, link in links_of_line})
    raise_all(
        problems,
        DataError,
        f"{name} is not in Pharaoh format",
        "write `source-target` from 0, `0-0 1-2`; possible: `1?2`.",
    )
    return sure, possible


def write_pharaoh(sure: Sequence[set[Link]], possible: Sequence[set[Link]] | None = None) -> list[str]:
    """One line per sentence, links in order; `possible` ones that are not sure with `?`."""
    if possible is not None and len(possible) != len(sure):
        raise DataError(
            f"{len(sure)} lines of sure links and {len(possible)} of possible ones", "both need one per pair."
        )
    lines = []
    for i, certain in enumerate(sure):
        both = sorted(certain | (possible[i] if possible is not None else set()))
        lines.append(" ".join(f"{s}{'-' if (s, t) in certain else '?'}{t}" for s, t in both))
    return lines


def links(weights: Matrix, threshold: float = 0.0) -> set[Link]:
    """For each target word t the source word s of the largest weight, if that is at least `threshold`.

        A = {(s, t) : s = argmax_s' w[t, s'],  w[t, s] >= threshold}

    Of equal weights the first wins; a row without any weight (all zero, or not a number) links to nothing.
    """
    w = matrix(weights)
    if not w.shape[1]:
        return set()
    w = np.nan_to_num(w, nan=0.0)
    best = w.argmax(1)
    return {(int(s), t) for t, s in enumerate(best) if w[t, s] > 0 and w[t, s] >= threshold}


def to_words(weights: Matrix, target_words: Sequence[int], source_words: Sequence[int]) -> Matrix:
    """An attention map over tokens (t, s) as one over words: summed over source tokens, averaged over target tokens.

        W[T, S] = mean_{t in T} sum_{s in S} w[t, s]

    This keeps the attention that a word gives at 1 (Clark et al. 2019, arXiv:1906.04341, section 4.1). `target_words`
    and `source_words` hold the word index of each token (`Tokenizer.words`); -1 marks tokens of no word, such as the
    end of the sentence, and drops their row or column, with the attention they got.
    """
    w = matrix(weights)
    if w.shape != (len(target_words), len(source_words)):
        raise ConfigError(
            f"the weights are of shape {w.shape}, but there are {len(target_words)} target "
            f"and {len(source_words)} source tokens",
            "expected (target tokens, source tokens).",
        )
    of_target, of_source = membership(target_words), membership(source_words)
    tokens = np.maximum(of_target.sum(1, keepdims=True), 1)
    words: Matrix = of_target / tokens @ w @ of_source.T
    return words


def membership(words: Sequence[int]) -> Matrix:
    """M[word, token] = 1 where the token belongs to the word, up to the largest word index."""
    index = np.asarray(words, dtype=np.int64).reshape(-1)
    return np.equal.outer(np.arange(index.max(initial=-1) + 1), index).astype(np.float64)


def matrix(weights: Matrix) -> Matrix:
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 2:
        raise ConfigError(
            f"the weights are of shape {w.shape}, expected (target, source)", "take one sentence and one head."
        )
    return w
