"""How well a question was answered with words of a passage: exact match and the overlap of words, as SQuAD counts them.

    exact = 1 if the answers are equal after normalisation        F1 = 2 common / (predicted + true), counted in words

Normalisation: lower case, without punctuation, without the articles a, an and the, with single spaces. Where several
answers are right, the best agreement counts; the score of a corpus is the mean over its questions. An empty answer says
that the passage does not answer the question. Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250, section 6.1.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

from headway.core.errors import DataError

PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalise(answer: str) -> str:
    """The answer as it is compared."""
    return " ".join(ARTICLES.sub(" ", answer.lower().translate(PUNCTUATION)).split())


def exact_answer(predicted: str, answers: Sequence[str]) -> float:
    """1 if the predicted answer equals one of the true answers after normalisation, else 0.

    Also called SQuAD exact match, answer exact match.

    answers   all that are right; an empty one says that there is none
    """
    return float(any(normalise(predicted) == normalise(answer) for answer in require_answers(answers)))


def answer_f1(predicted: str, answers: Sequence[str]) -> float:
    """The overlap of words with the true answer that is nearest, between 0 and 1.

    Also called SQuAD F1, answer F1, token overlap F1.

    answers   all that are right; an empty one says that there is none
    """
    return max(_overlap(normalise(predicted).split(), normalise(a).split()) for a in require_answers(answers))


def _overlap(mine: list[str], gold: list[str]) -> float:
    if not mine or not gold:  # no answer: right if both say so
        return float(mine == gold)
    common = (Counter(mine) & Counter(gold)).total()
    return 2 * common / (len(mine) + len(gold))


def require_answers(answers: Sequence[str]) -> Sequence[str]:
    if not answers or isinstance(answers, str):
        raise DataError("a question needs a list of true answers", 'write `[""]` if there is none.')
    return answers
