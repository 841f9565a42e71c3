"""The unigram language model over pieces: learn which substrings of the words to keep.

Every word w is a string of pieces drawn independently, so a segmentation x = (x_1 ... x_m) of w has probability

    P(x) = prod_i p(x_i),     x*(w) = argmax_x P(x)                       (Kudo 2018, arXiv:1804.10959, eq. 1 and 4)

Training starts with too many pieces and alternates two steps until `size` are left:

    estimate   p(x) = n(x) / sum_y n(y)           n(x): how often x occurs in the best segmentations ("hard" EM)
    prune      drop the pieces with the smallest  loss(x) = n(x) (log p(x) - log P(x*(x) without x))

The library has a trainer of its own, but it walks through hash tables in random order: two runs over the same text
differ in the order of ids and the last digits of log p (huggingface/tokenizers#668). A run must be a pure function of
its data, so the loop stands here; the best segmentations still come from the library. Pieces also start and end at
whole characters here.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from tokenizers import models

LONGEST = 16  # bytes in one piece
WORDS = 50_000  # the most frequent words vote; the rare rest of a large corpus costs memory and changes nothing
KEEP = 0.7  # share of the pieces that survives one pruning


def train_unigram(
    counts: Mapping[str, int], alphabet: Sequence[str], inside: frozenset[str], size: int
) -> list[tuple[str, float]]:
    """At most `size` pieces with their log p, first the whole `alphabet` (never dropped, so nothing is ever unknown).

    `inside` are the letters that continue a character (UTF-8 continuation bytes): no piece of several letters begins
    there.
    """
    words = sorted(counts, key=lambda w: (-counts[w], w))[:WORDS]
    room = size - len(alphabet)
    n = seed(words, counts, inside, 8 * room)
    pieces = sorted(n)
    log_p = estimate(n, pieces, alphabet)
    while True:
        n = segment(words, counts, log_p)
        log_p = estimate(n, pieces, alphabet)
        if len(pieces) <= room and all(n[x] for x in pieces):
            break
        loss = {x: n[x] * (log_p[x] - alternative(x, log_p)) for x in pieces if n[x]}
        pieces = sorted(loss, key=lambda x: (-loss[x], x))[: max(room, int(KEEP * len(pieces)))]
        log_p = estimate(n, pieces, alphabet)
    learned = sorted(pieces, key=lambda x: (-log_p[x], x))
    return [(x, log_p[x]) for x in (*alphabet, *learned)]


def seed(words: Sequence[str], counts: Mapping[str, int], inside: frozenset[str], most: int) -> Counter[str]:
    """Substrings that occur at least twice, those that cover the most text first."""
    found: Counter[str] = Counter()
    for w in words:
        cuts = [i for i in range(len(w)) if w[i] not in inside] + [len(w)]
        for a, start in enumerate(cuts):
            for end in cuts[a + 1 : a + 1 + LONGEST]:
                if 2 <= end - start <= LONGEST:
                    found[w[start:end]] += counts[w]
    best = sorted((x for x, n in found.items() if n >= 2), key=lambda x: (-found[x] * len(x), x))[:most]
    return Counter({x: found[x] for x in best})


def segment(words: Sequence[str], counts: Mapping[str, int], log_p: Mapping[str, float]) -> Counter[str]:
    """n(x): how often each piece occurs in the best segmentations of all words."""
    model = models.Unigram([("", 0.0), *log_p.items()], 0, False)  # the library wants an unknown piece; it cannot occur
    n: Counter[str] = Counter()
    for w in words:
        for token in model.tokenize(w):
            n[token.value] += counts[w]
    return n


def estimate(n: Mapping[str, int], pieces: Sequence[str], alphabet: Sequence[str]) -> dict[str, float]:
    """log p(x) = log n(x) / sum n, with half an occurrence for letters that were not seen."""
    weight = {x: max(n.get(x, 0), 0.5) for x in (*alphabet, *pieces)}
    total = math.log(math.fsum(weight.values()))
    return {x: round(math.log(w) - total, 6) for x, w in weight.items()}


def alternative(x: str, log_p: Mapping[str, float]) -> float:
    """log P of the best segmentation of the piece `x` into smaller pieces."""
    best = [0.0] + [-math.inf] * len(x)
    for end in range(1, len(x) + 1):
        for start in range(end):
            if end - start < len(x) and best[start] + (p := log_p.get(x[start:end], -math.inf)) > best[end]:
                best[end] = best[start] + p
    return best[-1]
