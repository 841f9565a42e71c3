"""The doctor of questions about passages: answers that stand where they should, and nothing that is held out.

Dropped, reported:  rows that cannot be read, also those whose answer their passage does not hold; questions held out.
Kept, reported:     answers without a place (their first occurrence is taken) or with a wrong one (the nearest is);
                    duplicates; a question that the same passage answers in two ways.
An error:           no question has an answer, because there is nothing to learn.
"""

from collections import defaultdict
from collections.abc import Set

import numpy as np

from headway.core.errors import DataError
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun, excerpt
from headway.data.questions import HINT, Question, Questions

LEAST = 500  # questions; with fewer a model learns them by heart
Asked = tuple[str, str]  # passage and question


def asked(row: Question) -> Asked:
    return row.context, row.question


def examine_questions(
    given: Questions, least: int = LEAST, held_out: Set[Asked] = frozenset()
) -> tuple[Questions, Report]:
    """The questions that are used, and what was found. `held_out` are questions that the model is to be judged by."""
    rows = given.rows
    seen = Examination(
        given.lines, "question", lambda i: f"{excerpt(rows[i].question, 40)} -> {excerpt(rows[i].answers[0], 30)}"
    )
    seen.report_unreadable(given.problems)
    seen.drop("held-out", np.array([asked(row) in held_out for row in rows], dtype=bool), "that are also held out")
    kept = np.flatnonzero(seen.alive).tolist()
    if not kept:
        reasons = "; ".join(finding.message for finding in seen.finish())
        raise DataError(f"nothing is left of `{given.origin}`: {reasons}", HINT)
    examine_places(seen, given, kept)
    examine_copies(seen, given, kept)
    answered = [i for i in kept if rows[i].start >= 0]
    if not answered:
        seen.report_all("no-answers", "error", "no question has an answer: nothing to learn")
    if len(kept) < least:
        message = f"too little data: {count_noun(len(kept), 'question')}; a model needs at least about {least:,}"
        seen.report_all("little-data", "warning", message, len(kept))
    passages = np.array([len(context.split()) for context in {rows[i].context for i in kept}])
    answers = np.array([len(rows[i].answers[0].split()) for i in answered] or [0])
    summary = (
        f"{count_noun(len(passages), 'passage')} of {np.median(passages):.0f} words (median), at most {passages.max():,}",
        f"{count_noun(len(answered), 'answer')} of {np.median(answers):.0f} words (median), at most {answers.max():,}; "
        f"{len(kept) - len(answered):,} questions without an answer",
    )
    statistics = {"questions": len(kept), "answered": len(answered), "passages": len(passages)}
    total, origin = len(given) + len(given.problems), given.origin
    return given.select(kept), Report(origin, total, len(kept), seen.finish(), statistics, "question", summary)


def examine_places(seen: Examination, given: Questions, kept: list[int]) -> None:
    """Where answers were searched for."""
    words = {
        "searched": ("note", "without `start`, whose answer occurs once in the passage"),
        "several": ("warning", "without `start`, whose answer occurs several times; the first place was taken"),
        "moved": ("warning", "whose answer does not stand at `start`; the nearest place was taken"),
    }
    for note, (severity, message) in words.items():
        found = [i for i in kept if given.rows[i].note == note]
        seen.report(f"place-{note}", found, severity, f"{count_noun(len(found), 'question')} {message}")


def examine_copies(seen: Examination, given: Questions, kept: list[int]) -> None:
    """Questions that come again about the same passage: with the same answer, and with another one."""
    answers: dict[Asked, set[tuple[str, ...]]] = defaultdict(set)
    again: list[int] = []
    for i in kept:
        row = given.rows[i]
        if row.answers in answers[asked(row)]:
            again.append(i)
        answers[asked(row)].add(row.answers)
    seen.report("duplicate", again, "note", f"{count_noun(len(again), 'question')} seen before, with the same answer")
    torn = [i for i in kept if len(answers[asked(given.rows[i])]) > 1]
    message = f"{count_noun(len(torn), 'question')} that the same passage answers in another way: one of them is wrong"
    seen.report("contradiction", torn, "warning", message)
