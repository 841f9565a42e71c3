"""Questions about passages: JSON lines and SQuAD's form give the same, answers are found, and what is wrong is reported."""

import json
from pathlib import Path

import pytest
from pair_files import write

from headway.core.errors import DataError
from headway.data.doctor_questions import examine_questions
from headway.data.questions import Question, read_questions, write_questions

TEXT = "Rome is old. Anna lives in Rome."


def lines(*rows: dict[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_both_forms_give_the_same(tmp_path: Path) -> None:
    places = [{"text": "Rome", "answer_start": 27}, {"text": "in Rome", "answer_start": 24}]
    asked = [
        {"id": "1", "question": "Where?", "answers": places, "is_impossible": False},
        {"id": "2", "question": "Why?", "answers": [], "plausible_answers": places, "is_impossible": True},
    ]
    squad = {"version": "v2.0", "data": [{"title": "x", "paragraphs": [{"context": TEXT, "qas": asked}]}]}
    first = read_questions(write(tmp_path / "a.json", json.dumps(squad)))
    rows = lines(
        {"context": TEXT, "question": "Where?", "answers": ["Rome", "in Rome"], "start": 27},
        {"context": TEXT, "question": "Why?", "answer": ""},
    )
    second = read_questions(write(tmp_path / "a.jsonl", rows))
    assert first.rows == second.rows and first.fingerprint == second.fingerprint
    assert first.rows == (Question(TEXT, "Where?", ("Rome", "in Rome"), 27), Question(TEXT, "Why?", ("",), -1))
    assert read_questions(write(tmp_path / "b.jsonl", write_questions(first.rows))).rows == first.rows


def test_where_an_answer_stands(tmp_path: Path) -> None:
    rows = [
        {"answer": "Anna"},  # once: searched
        {"answer": "Rome"},  # twice: the first
        {"answer": "Rome", "start": 25},  # wrong: the nearest
        {"answer": " Rome", "start": 26},  # with the space before it
        {"answer": "Rome", "start": 27},
    ]
    path = write(tmp_path / "a.jsonl", lines(*({"context": TEXT, "question": "?", **row} for row in rows)))
    found = read_questions(path)
    assert [(row.start, row.note) for row in found.rows] == [
        (13, "searched"), (0, "several"), (27, "moved"), (27, ""), (27, ""),
    ]  # fmt: skip
    kinds = {f.kind: (f.severity, f.lines) for f in examine_questions(found, least=0)[1].findings}
    assert kinds["place-several"] == ("warning", (2,)) and kinds["place-moved"] == ("warning", (3,))
    assert kinds["place-searched"] == ("note", (1,)) and kinds["duplicate"] == ("note", (3, 5))
    assert kinds["contradiction"] == ("warning", (1, 2, 3, 4, 5))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"context": TEXT, "question": "?"}, "has no key `answer`; its keys are `context`, `question`"),
        ({"context": TEXT, "question": 3, "answer": ""}, "has a number under `question`, expected a text"),
        ({"context": "", "question": "?", "answer": ""}, "has nothing under `context`"),
        ({"context": TEXT, "question": "?", "answer": {"text": "x"}}, "has an object under `answer`"),
        ({"context": TEXT, "question": "?", "answer": "Rome", "start": "27"}, "has a string under `start`"),
        ({"context": TEXT, "question": "?", "answer": "Paris"}, 'the answer "Paris", which its context does not hold'),
    ],
)
def test_a_wrong_row_is_reported_and_the_rest_kept(tmp_path: Path, row: dict[str, object], expected: str) -> None:
    good = {"context": TEXT, "question": "Who?", "answer": "Anna"}
    found = read_questions(write(tmp_path / "a.jsonl", lines(good, row)))
    assert len(found) == 1 and found.problems[0].line == 2 and expected in found.problems[0].message
    with pytest.raises(DataError, match="cannot be used, 1 of 1 lines cannot be read"):
        read_questions(write(tmp_path / "b.jsonl", lines(row)))


def test_held_out_questions_are_not_learned(tmp_path: Path) -> None:
    rows = [{"context": TEXT, "question": q, "answer": "Anna"} for q in ("Who?", "Who lives?")]
    found = read_questions(write(tmp_path / "a.jsonl", lines(*rows)))
    used, report = examine_questions(found, held_out={(TEXT, "Who?")})
    assert [row.question for row in used.rows] == ["Who lives?"] and report.findings[0].kind == "held-out"
    with pytest.raises(DataError, match="nothing is left"):
        examine_questions(found, held_out={(TEXT, "Who?"), (TEXT, "Who lives?")})
