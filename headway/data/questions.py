"""Questions about passages, answered by a part of the passage: JSON lines, or the nested JSON of SQuAD.

    {"context": "Anna lives in Rome.", "question": "Where does Anna live?", "answer": "Rome", "start": 14}

`start` is the first character of the answer; without it the first occurrence is meant. An empty answer says that the
passage does not answer the question. Several right answers are a list (`"answers": ["Rome", "in Rome"]`); the first one
is learned, all count when a run is judged. SQuAD: {"data": [{"paragraphs": [{"context", "qas": [{"question", "answers":
[{"text", "answer_start"}], "is_impossible"}]}]}]}, Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from headway.core.errors import DataError
from headway.data.input_file import InputFile
from headway.data.messages import excerpt, list_names
from headway.data.rows import Problem, jsonl_rows, kind_of, raise_unreadable

HINT = 'write one object per line: {"context": "Anna lives in Rome.", "question": "Where does Anna live?", "answer": "Rome"}.'


@dataclass(frozen=True)
class Question:
    """A passage, what is asked, and all right answers."""

    context: str
    question: str
    answers: tuple[str, ...]  # ("",) if the passage does not answer the question
    start: int  # the first character of the first answer; -1 if there is none
    note: str = ""  # how `start` was found, if it was not given or was wrong


@dataclass(frozen=True)
class Questions:
    """`lines` says where each question stood: its line, or in SQuAD's JSON its number (from 1)."""

    rows: tuple[Question, ...]
    lines: tuple[int, ...]
    origin: str
    problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, rows: Sequence[int]) -> "Questions":
        return Questions(tuple(self.rows[i] for i in rows), tuple(self.lines[i] for i in rows), self.origin)

    @cached_property
    def fingerprint(self) -> str:
        return hashlib.sha256(write_questions(self.rows).encode("utf-8", "surrogatepass")).hexdigest()


def write_questions(rows: Sequence[Question]) -> str:
    """JSON lines that `read_questions` reads."""
    kept = ({k: v for k, v in asdict(row).items() if k != "note"} for row in rows)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)


def read_questions(path: str) -> Questions:
    file = InputFile(str(path))
    found = list(squad(file) if file.suffix == ".json" else (examine_row(row) for row in jsonl_rows(file)))
    good = [row for row in found if not isinstance(row, Problem)]
    bad = [row for row in found if isinstance(row, Problem)]
    unit = "question" if file.suffix == ".json" else "line"
    raise_unreadable(bad, len(good), file.path, HINT, unit)
    if not good:
        raise file.is_empty()
    return Questions(tuple(row for _, row in good), tuple(n for n, _ in good), file.path, tuple(bad))


Found = tuple[int, Question] | Problem


def squad(file: InputFile) -> Iterator[Found]:
    """The questions of SQuAD's nested JSON, counted from 1."""
    hint = 'SQuAD\'s form is {"data": [{"paragraphs": [{"context": ..., "qas": [...]}]}]}; or name a .jsonl file.'
    try:
        value = json.loads(file.text())
        paragraphs = [paragraph for article in value["data"] for paragraph in article["paragraphs"]]
        asked = [(paragraph["context"], qa) for paragraph in paragraphs for qa in paragraph["qas"]]
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{file} is not JSON: {str(problem).lower()}", hint) from problem
    except (KeyError, TypeError) as problem:
        raise DataError(f"{file} is not of SQuAD's form: {problem} is missing or no list", hint) from problem
    for number, (context, qa) in enumerate(asked, 1):
        if not isinstance(qa, dict):
            yield Problem(number, f"is {kind_of(qa)}, expected an object in braces")
            continue
        answers = [] if qa.get("is_impossible") else qa.get("answers", [])
        try:
            texts = [answer["text"] for answer in answers]
            start = {"start": answers[0]["answer_start"]} if answers else {}
        except (KeyError, TypeError):
            yield Problem(number, "has answers without `text` and `answer_start`", hint)
            continue
        yield examine_row((number, {"context": context, "question": qa.get("question"), "answers": texts, **start}))


def examine_row(row: tuple[int, dict[str, object]] | Problem) -> Found:
    """A question whose first answer stands where `start` says, or why it is none."""
    if isinstance(row, Problem):
        return row
    number, value = row
    given = value.get("answers", value.get("answer"))
    answers = [given] if isinstance(given, str) else given
    missing = [name for name in ("context", "question") if name not in value]
    missing += ["answer"] if "answer" not in value and "answers" not in value else []
    if missing:
        return Problem(number, f"has no key {list_names(missing)}; its keys are {list_names(value)}", HINT)
    context, question, start = value["context"], value["question"], value.get("start")
    for name, text in (("context", context), ("question", question)):
        if not isinstance(text, str) or not text.strip():
            return Problem(number, f"has {kind_of(text) if text != '' else 'nothing'} under `{name}`, expected a text")
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        return Problem(number, f"has {kind_of(given)} under `answer`, expected a text or a list of texts")
    if start is not None and (not isinstance(start, int) or isinstance(start, bool)):
        return Problem(number, f"has {kind_of(start)} under `start`, expected the number of a character")
    return place_answer(number, str(context), str(question), tuple(answers) or ("",), start)


def place_answer(number: int, context: str, question: str, answers: tuple[str, ...], start: int | None) -> Found:
    """The question with the place of its first answer: at `start`, or at the nearest occurrence, or at the first."""
    answer = answers[0].strip()
    if not answer:
        return number, Question(context, question, ("",), -1)
    if start is not None and start >= 0:
        start += len(answers[0]) - len(answers[0].lstrip())
        if context.startswith(answer, start):
            return number, Question(context, question, answers, start)
    places = [match.start() for match in re.finditer(re.escape(answer), context)]
    if not places:
        return Problem(number, f'has the answer "{excerpt(answer, 40)}", which its context does not hold')
    if start is None:
        note = "several" if len(places) > 1 else "searched"
        return number, Question(context, question, answers, places[0], note)
    return number, Question(context, question, answers, min(places, key=lambda i: abs(i - start)), "moved")
