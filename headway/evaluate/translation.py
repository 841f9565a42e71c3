"""Scores of texts against references, with the signature that makes a score comparable and a bootstrap interval.

The bootstrap draws as many sentences as there are, with replacement, `resamples` times, and scores each draw (Koehn
2004). The interval holds the central 95 % of these scores.
"""

from dataclasses import dataclass

import numpy as np

from headway.core.errors import ConfigError, DataError, UnknownName
from headway.evaluate.metrics import Bleu, ChrF, Exact, Metric, forget_lines

SEED = 12345  # sacrebleu's own, so that intervals agree with its command line
METRICS: dict[str, type[Metric]] = {"bleu": Bleu, "chrf": ChrF, "exact": Exact}


@dataclass(frozen=True)
class Score:
    """`value` on the scale of 0 to 100, between the ends of its 95 % bootstrap interval."""

    name: str  # of the metric
    value: float
    low: float
    high: float
    signature: str  # the settings that make two scores comparable

    def __str__(self) -> str:
        return f"{self.name} {self.value:.1f} [{self.low:.1f}, {self.high:.1f}] {self.signature}"


def bleu(hypotheses: list[str], references: list[str], resamples: int = 1000, seed: int = SEED) -> Score:
    """Corpus BLEU of raw (detokenized) text. `resamples=0` skips the interval: low = high = value.

    Also called bilingual evaluation understudy, BLEU score.
    """
    return score("bleu", hypotheses, references, resamples, seed)


def chrf(hypotheses: list[str], references: list[str], resamples: int = 1000, seed: int = SEED) -> Score:
    """Corpus chrF2 of raw text: an F score of character n-grams. `resamples=0` skips the interval: low = high = value.

    Also called chrF2, character F-score.
    """
    return score("chrf", hypotheses, references, resamples, seed)


def exact_match(hypotheses: list[str], references: list[str], resamples: int = 1000, seed: int = SEED) -> Score:
    """The share of outputs that equal their reference, in percent; white space around them does not count.

    Also called exact match, EM, sequence accuracy.
    """
    return score("exact", hypotheses, references, resamples, seed)


def score(metric: str, hypotheses: list[str], references: list[str], resamples: int = 1000, seed: int = SEED) -> Score:
    """The score of a corpus by the name of the metric (`bleu`, `chrf`, `exact`), with its bootstrap interval."""
    _check(resamples, least=0)
    judge, counts = _count(metric, hypotheses, references)
    value = low = high = judge.score(counts.sum(0))
    if resamples:
        scores = np.sort(_resample(judge, counts, resamples, seed))
        tail = resamples // 40  # 2.5 % on each side, as in sacrebleu
        # With few sentences a resample is often worse than the whole; the interval never excludes the score itself.
        low, high = min(value, float(scores[tail])), max(value, float(scores[-tail - 1]))
    return Score(judge.name, value, low, high, judge.signature(resamples, seed))


def paired_bootstrap(
    a: list[str], b: list[str], references: list[str], metric: str = "bleu", resamples: int = 1000, seed: int = SEED
) -> float:
    """The p-value of "a and b are equally good", two-sided, from resamples that draw the same sentences for both.

        p = (1 + #{i : |d_i - d| >= |d|}) / (1 + resamples),   d = score(a) - score(b), d_i the same on resample i

    Centring d_i on d makes the resamples obey the hypothesis (Efron & Tibshirani 1993, section 16.4). sacrebleu's
    `PairedTest` is not used: it centres |d_i|, which calls two identical systems different with p = 1 / (1 +
    resamples). Also called paired bootstrap test.

    a        the outputs of one system
    b        the outputs of the other
    metric   `bleu`, `chrf` or `exact`
    """
    _check(resamples, least=1)
    judge, counts_a = _count(metric, a, references)
    _, counts_b = _count(metric, b, references)
    d = judge.score(counts_a.sum(0)) - judge.score(counts_b.sum(0))
    d_i = _resample(judge, counts_a, resamples, seed) - _resample(judge, counts_b, resamples, seed)
    return float((1 + np.count_nonzero(np.abs(d_i - d) >= abs(d) - 1e-9)) / (1 + resamples))


def _count(metric: str, hypotheses: list[str], references: list[str]) -> tuple[Metric, np.ndarray]:
    """The metric and its counts, one row per sentence."""
    if metric not in METRICS:
        raise UnknownName("metric", metric, METRICS)
    if not hypotheses:
        raise DataError("there are no translations to score", "expected one translation per reference.")
    if len(hypotheses) != len(references):
        raise DataError(
            f"{len(hypotheses)} translations cannot be compared with {len(references)} references",
            "both need the same number of lines; keep empty translations as empty lines.",
        )
    judge = METRICS[metric]()
    counts = np.array([judge.count(h, r) for h, r in zip(hypotheses, references, strict=True)], dtype=np.float64)
    forget_lines()
    return judge, counts


def _resample(judge: Metric, counts: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """The score of every resample. The same seed draws the same sentences, for any metric and system.

    One row of draws at a time is the same stream of numbers as sacrebleu's one large matrix, without its memory.
    """
    generator, n = np.random.default_rng(seed), len(counts)
    sums = (np.bincount(generator.choice(n, size=n), minlength=n) @ counts for _ in range(resamples))
    return np.array([judge.score(row) for row in sums])


def _check(resamples: int, least: int) -> None:
    if resamples < least:
        raise ConfigError(f"`resamples` is {resamples}, expected {least} or more", "1000 is customary.")
