"""CoNLL files: every form gives the same sentences, every broken line is reported, and the doctor finds what is odd."""

import gzip
from pathlib import Path

import pytest
from pair_files import write

from headway.core.errors import DataError
from headway.data.conll import TaggedSentences, read_conll, split_words, write_conll
from headway.data.doctor_tags import broken_places, examine_tags
from headway.data.findings import Report

WORDS = (("Anna", "sleeps", "."), ("in", "Rome"))
TAGS = (("B-PER", "O", "O"), ("O", "B-LOC"))
FORMS = {
    "tabs": "Anna\tB-PER\nsleeps\tO\n.\tO\n\nin\tO\nRome\tB-LOC\n",
    "spaces": "Anna B-PER\nsleeps O\n. O\n\n\nin O\nRome   B-LOC",
    "windows": "Anna\tB-PER\r\nsleeps\tO\r\n.\tO\r\n\r\nin\tO\r\nRome\tB-LOC\r\n",
    "conll-2003": "-DOCSTART- -X- -X- O\n\nAnna NNP B-NP B-PER\nsleeps VBZ B-VP O\n. . O O\n\nin IN B-PP O\nRome NNP B-NP B-LOC\n",
    "comments": "# text = Anna sleeps.\nAnna\tB-PER\nsleeps\tO\n.\tO\n\n# two\nin\tO\nRome\tB-LOC\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_sentences(tmp_path: Path, form: str) -> None:
    found = read_conll(write(tmp_path / "a.conll", FORMS[form]))
    assert (found.words, found.tags, found.problems) == (WORDS, TAGS, ())
    packed = read_conll(write(tmp_path / "a.conll.gz", gzip.compress(FORMS[form].encode())))
    assert packed.words == WORDS and packed.fingerprint == found.fingerprint


def test_universal_dependencies(tmp_path: Path) -> None:
    """The published example of a contraction: `zum` is one word on paper and two in the tree, which are the ones tagged."""
    rows = [
        "1-2\tzum" + "\t_" * 8,
        "1\tzu\tzu\tADP" + "\t_" * 6,
        "2\tdem\tder\tDET" + "\t_" * 6,
        "2.1\tx\tx\tVERB" + "\t_" * 6,
    ]
    found = read_conll(write(tmp_path / "a.conllu", "# sent_id = 1\n" + "\n".join(rows) + "\n\n"), word=2, tag=4)
    assert (found.words, found.tags, found.lines) == ((("zu", "dem"),), (("ADP", "DET"),), (3,))


def test_a_hash_with_a_tag_is_a_word(tmp_path: Path) -> None:
    found = read_conll(write(tmp_path / "a.conll", "the\tO\n#\tSYM\n1\tO\n\n"))
    assert found.words == (("the", "#", "1"),)


def test_a_broken_line_is_reported_and_its_sentence_left_out(tmp_path: Path) -> None:
    text = "a\tX\nb\tY\n\nc\tX\nd\ne\tY\n\nf\tX\ng\t\n\nh\tY\n"
    found = read_conll(write(tmp_path / "a.conll", text))
    assert found.words == (("a", "b"), ("h",)) and found.lines == (1, 11)
    assert [(p.line, p.message) for p in found.problems] == [(5, "has 1 column, expected 2"), (9, "has no tag")]
    with pytest.raises(DataError, match="4 of 5 lines cannot be read"):
        read_conll(write(tmp_path / "b.conll", "a\t\n\nb\t\n\nc\t\n\nd\t\n\ne\tX\n"))


def test_written_and_read_again(tmp_path: Path) -> None:
    assert read_conll(write(tmp_path / "a.conll", write_conll(WORDS, TAGS))).tags == TAGS


def test_words_of_a_text() -> None:
    text = "U.N. head Ekeus, aged 61, isn't in New-York (yet)."
    expected = "U.N.|head|Ekeus|,|aged|61|,|isn't|in|New-York|(|yet|)|.".split("|")
    assert list(split_words(text)) == expected
    assert split_words("a b).", {"b)."}) == ("a", "b).")


def report(rows: list[tuple[str, str]], **more: object) -> tuple[TaggedSentences, Report]:
    words, tags = (tuple(tuple(row[k].split()) for row in rows) for k in (0, 1))
    return examine_tags(TaggedSentences(words, tags, tuple(range(1, len(rows) + 1)), "a.conll"), **more)


def test_the_doctor() -> None:
    good = [(f"number {n} sleeps", "O B-X O") for n in range(30)]
    odd = [
        ("number 1 sleeps", "O B-X O"),  # a copy
        ("number 2 sleeps", "O O O"),  # other tags for the same words
        ("Anna sleeps well", "O I-X I-Y"),  # an entity that begins with `I-`, twice
        ("held out here", "O O O"),
        ("now number wakes", "O B-X O"),  # `number` is never an entity elsewhere
    ]
    used, found = report([*good, *odd], held_out={("held", "out", "here")})
    kinds = {finding.kind: finding for finding in found.findings}
    assert len(used) == 34 and kinds["held-out"].lines == (34,) and kinds["duplicate"].lines == (31,)
    assert kinds["contradiction"].lines == (3, 32) and kinds["broken-entity"].lines == (33,)
    assert kinds["broken-entity"].examples == ("sleeps has `I-X` after `O`",)
    unusual = ("`sleeps` is `I-X` here and `O` 32 of 33 x", "`number` is `B-X` here and `O` 32 of 33 x")
    assert kinds["unusual-tag"].examples == unusual and kinds["unusual-tag"].lines == (33, 35)
    assert kinds["rare-tag"].message == "2 tags of fewer than 10 words (`I-X`, `I-Y`)"
    assert found.statistics["baseline"] == pytest.approx(99 / 102)
    assert not [f for f in report(good)[1].findings if f.kind in ("broken-entity", "unusual-tag", "contradiction")]
    assert [f.kind for f in report([("a b", "X X")] * 3)[1].errors] == ["one-tag"]


def test_broken_places() -> None:
    assert broken_places(("B-X", "I-X", "I-X", "O", "I-X", "B-Y", "I-X")) == [4, 6]
