"""Made texts of words by number, frequent ones first, whose label is in which words occur or in the order of two of them."""

import numpy as np
from numpy.random import Generator

Texts = tuple[np.ndarray, np.ndarray]  # words "n t" and labels "n"


def _words(vocabulary: int, shape: tuple[int, int], rng: Generator) -> np.ndarray:
    """Words with the frequencies of Zipf: that of the k-th word is proportional to 1/k."""
    shares = 1 / np.arange(1, vocabulary + 1)
    return rng.choice(vocabulary, shape, p=shares / shares.sum())


def bags(vocabulary: int, n: int, length: int, rng: Generator) -> Texts:
    """A label is drawn with the log-odds Σ ±2 for each informative word that occurs: one word in twenty is informative."""
    words = _words(vocabulary, (n, length), rng)
    worth = np.where(np.arange(vocabulary) % 20 == 7, np.where(np.arange(vocabulary) // 20 % 2, 2.0, -2.0), 0.0)
    odds = occurrence(words, vocabulary) @ worth
    odds -= np.median(odds)
    return words, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


def pairs(vocabulary: int, n: int, length: int, rng: Generator) -> Texts:
    """Each text holds the words 0 and 1 once, side by side near its end ("not good", "good, not"): the label is which of them is first."""
    words, labels = 2 + _words(vocabulary - 2, (n, length), rng), rng.integers(0, 2, n)
    places, rows = length - 2 - rng.integers(0, min(5, length - 1), n), np.arange(n)
    words[rows, places], words[rows, places + 1] = labels, 1 - labels
    return words, labels


def occurrence(words: np.ndarray, vocabulary: int) -> np.ndarray:
    """Which words occur in each text: rows of 0 and 1."""
    found = np.zeros((len(words), vocabulary), dtype=np.float32)
    np.put_along_axis(found, words, 1.0, axis=1)
    return found
