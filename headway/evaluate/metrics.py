"""Metrics of a corpus that are functions of counts, summed over its sentences: BLEU, chrF and exact match.

    BLEU  = min(1, e^(1 - r/c)) exp( 1/4 sum_{n=1..4} log p_n )      (Papineni et al. 2002; Post 2018, arXiv:1804.08771)
    chrF2 = (1 + 2^2) P R / (2^2 P + R), over character 1- to 6-grams (Popović 2015)

Sentences are counted once; a bootstrap resample only adds the counts up again. sacrebleu publishes the counts of BLEU
and the formula over them. Of chrF it publishes only the final score, so counts and formula are written out here, and
the tests hold them against it.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.helpers import extract_all_char_ngrams
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

SPLITTERS = (Tokenizer13a, TokenizerRegexp)  # of sacrebleu, for BLEU
ORDERS = 4  # the longest n-gram of words in BLEU


class Metric(ABC):
    """A metric on the scale of 0 to 100, computed from counts that add up over sentences."""

    name: str

    @abstractmethod
    def count(self, hypothesis: str, reference: str) -> list[int]:
        """What one sentence adds to the counts."""

    @abstractmethod
    def score(self, sums: np.ndarray) -> float:
        """The score of a corpus from its summed counts."""

    @abstractmethod
    def signature(self, resamples: int, seed: int) -> str:
        """The settings that make two scores comparable, in sacrebleu's notation."""


class Bleu(Metric):
    name = "BLEU"

    def __init__(self) -> None:
        self.sentence = BLEU(effective_order=True)  # the counts do not depend on the order; this only avoids a warning

    def count(self, hypothesis: str, reference: str) -> list[int]:
        """Lengths c and r in words, then the n-grams of each order that are right, then all of each order."""
        s = self.sentence.sentence_score(hypothesis, [reference])
        return [s.sys_len, s.ref_len, *s.counts, *s.totals]

    def score(self, sums: np.ndarray) -> float:
        c, r, *ngrams = sums.tolist()
        return float(BLEU.compute_bleu(ngrams[:ORDERS], ngrams[ORDERS:], int(c), int(r), smooth_method="exp").score)

    def signature(self, resamples: int, seed: int) -> str:
        return _signature(BLEU(force=True), resamples, seed)


def forget_lines() -> None:
    """sacrebleu keeps every line that it has split into words, up to 65,536 of them: no use is made of one that is counted."""
    for kind in SPLITTERS:
        kind.__call__.cache_clear()


class ChrF(Metric):
    name = "chrF2"

    def count(self, hypothesis: str, reference: str) -> list[int]:
        """For each order the n-grams of the hypothesis, those of the reference, and those that they share."""
        counts = []
        for h, r in zip(
            *(extract_all_char_ngrams(text, CHRF.CHAR_ORDER) for text in (hypothesis, reference)), strict=True
        ):
            shared = sum(min(number, r[ngram]) for ngram, number in h.items() if ngram in r)
            counts += [
                h.total() if r else 0,
                r.total(),
                shared,
            ]  # a reference that is too short for an order does not count there
        return counts

    def score(self, sums: np.ndarray) -> float:
        h, r, shared = sums.reshape(-1, 3).T
        used = (h > 0) & (r > 0)
        if not used.any():
            return 0.0
        p, q, weight = (shared[used] / h[used]).mean(), (shared[used] / r[used]).mean(), CHRF.BETA**2
        return float(100 * (1 + weight) * p * q / (weight * p + q)) if p + q else 0.0

    def signature(self, resamples: int, seed: int) -> str:
        return _signature(CHRF(), resamples, seed)


class Exact(Metric):
    name = "exact match"

    def count(self, hypothesis: str, reference: str) -> list[int]:
        return [int(hypothesis.strip() == reference.strip()), 1]

    def score(self, sums: np.ndarray) -> float:
        return float(100 * sums[0] / sums[1])

    def signature(self, resamples: int, seed: int) -> str:
        return "nrefs:1" + (f"|bs:{resamples}|seed:{seed}" if resamples else "") + "|case:mixed|space:stripped"


def _signature(judge: Any, resamples: int, seed: int) -> str:
    judge.corpus_score([""], [[""]])  # sacrebleu knows its number of references only afterwards
    if resamples:
        judge.n_bootstrap, judge.seed = resamples, seed
    return str(judge.get_signature())
