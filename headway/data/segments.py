"""Texts as an encoder reads them: `[CLS] A [SEP]`, or `[CLS] A [SEP] B [SEP]` for two segments.

`[CLS]` stands for the whole text: a class is read from its vector (BERT), or it is one token among others (a mean over
all of them). With the marks no text is empty. Devlin et al. 2019, https://arxiv.org/abs/1810.04805; lecture C.
"""

from collections.abc import Sequence

from headway.data.specials import CLASS, SEPARATOR

SINGLE, PAIR = 2, 3  # marks around one segment, and around two


def mark_text(ids: Sequence[int], longest: int) -> list[int]:
    """`[CLS] A [SEP]`, A cut to at most `longest` tokens."""
    return [CLASS, *ids[:longest], SEPARATOR]


def mark_pair(first: Sequence[int], second: Sequence[int], longest: int) -> tuple[list[int], list[int]]:
    """`[CLS] A [SEP] B [SEP]` and for each token its segment, 0 or 1; A and B together have at most `longest` tokens.

    The longer one is cut first, on the side that is away from the border: what is left still meets there.
    """
    half = longest // 2
    keep = min(len(first), max(half, longest - len(second)))
    a, b = first[len(first) - keep :], second[: longest - keep]
    return [CLASS, *a, SEPARATOR, *b, SEPARATOR], [0] * (len(a) + 2) + [1] * (len(b) + 1)
