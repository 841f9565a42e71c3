"""Text of any size: nothing is lost on the way into the token file, and every token is learned from once per epoch."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError, RunError
from headway.data import documents as reading
from headway.data.input_file import InputFile
from headway.data.text import Text
from headway.data.token_files import Part, open_tokens, split, tokenize_part
from headway.data.tokens import KINDS, train_tokenizer
from headway.data.windows import Windows

PROSE = "The cat sat.  On  the\nmat, 12,345 times: Straße, naïve 東京 🙂 e\u0301.\n\n\tEnd   of   it \n"


def whole(text: Text) -> list[str]:
    return ["".join(document) for document in text.documents()]


# Pieces are cut at spaces before words, which random characters hardly ever make: half of the texts are made of little else.
SPACED = st.text(st.sampled_from("  \n\tabé東🙂"), max_size=300)
ANY = st.text(max_size=300).map(lambda t: t.replace("\0", "").replace("\ufeff", ""))


@settings(max_examples=120)
@given(SPACED | ANY, st.integers(2, 40))
def test_pieces_are_the_text(tmp_path_factory: pytest.TempPathFactory, content: str, size: int) -> None:
    plain, rows = (tmp_path_factory.mktemp("text") / name for name in ("a.txt", "a.jsonl"))
    plain.write_bytes(content.encode())
    rows.write_text(json.dumps({"text": content}))
    before, reading.PIECE = reading.PIECE, size
    try:
        for path in (plain, rows):
            assert whole(Text(str(path))) == [content] if content else not "".join(whole(Text(str(path))))
            assert all(len(piece) <= 2 * size for document in Text(str(path)).documents() for piece in document), (
                "nothing holds a whole file"
            )
    finally:
        reading.PIECE = before


def test_files_folders_rows_and_archives(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("two")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.md").write_text("\ufeffone")
    (tmp_path / "c.jsonl").write_text('{"text": "three"}\n\n{"text": "four", "id": 4}\n')
    with gzip.open(tmp_path / "d.txt.gz", "wt") as file:
        file.write("five")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG....")
    (tmp_path / ".hidden").write_text("no")
    folder = Text(str(tmp_path))
    assert whole(folder) == ["one", "two", "three", "four", "five"]
    assert folder.skipped == {"picture.png": "a PNG picture, not text"}
    assert (folder.size.files, folder.size.documents, folder.size.characters) == (4, 5, 19)


def test_characters_are_not_bytes_and_documents_have_ends(tmp_path: Path) -> None:
    sizes = []
    for rows in (["äb", "ç"], ["ä", "bç"], ["äb", "ç"]):
        (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": row}) + "\n" for row in rows))
        sizes.append(Text(str(tmp_path / "a.jsonl")).size)
        assert (sizes[-1].documents, sizes[-1].characters, sizes[-1].bytes) == (2, 3, 5)
    assert sizes[0].sha256 == sizes[2].sha256 != sizes[1].sha256, "the fingerprint knows where a document ends"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"gut\nk\xf6nig\n", "is not UTF-8: byte 0xf6 in line 2"),
        ("a.txt", b"abc\xc3", "ends in the middle of a UTF-8 character"),
        ("a.txt", b"", "holds no text"),
        ("a.txt", "text".encode("utf-16"), "UTF-16"),
        ("a.txt", b"%PDF-1.7", "is a PDF document, not text"),
        ("a.txt.gz", b"\x1f\x8b\x08rubbish", "cannot unpack"),
        ("a.jsonl", b'{"text": "a"}\n{"txt": "b"}\n', "line 2 has no field `text`; its fields are txt"),
        ("a.jsonl", b"{]\n", "line 1 is not JSON"),
    ],
)
def test_what_is_no_text_is_told(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        _ = Text(str(path)).size


@pytest.mark.parametrize("line", [1, 3, 40])
def test_the_line_is_counted_from_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: int) -> None:
    """Not from the beginning of the piece that the bad byte stands in."""
    monkeypatch.setattr(reading, "PIECE", 16)
    (tmp_path / "a.txt").write_bytes(b"five words on a line\n" * (line - 1) + b"k\xf6nig\n" + b"more\n" * 9)
    with pytest.raises(DataError, match=rf"byte 0xf6 in line {line}, byte 2 of the line"):
        _ = Text(str(tmp_path / "a.txt")).size


def test_the_byte_is_counted_from_the_beginning_of_its_line(tmp_path: Path) -> None:
    """Also if the line began several blocks before, and with half a character at the end of a block."""
    path = tmp_path / "a.txt"
    for before, byte in ((b"x" * 50, 51), (b"one\n" + "ä".encode() * 30, 61), (b"a" * 15 + "ä".encode() * 9, 34)):
        path.write_bytes(before + b"\xf6nig\n")
        with pytest.raises(DataError, match=f", byte {byte} of the line"):
            list(InputFile(str(path)).blocks(16))


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_spell_the_text_across_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Wherever a block of the file ends: also between two spaces, or inside a character."""
    (tmp_path / "a.txt").write_text(PROSE * 8)
    text, tokenizer = Text(str(tmp_path / "a.txt")), train_tokenizer(kind, [PROSE], 900)
    expected = tokenizer.encode([PROSE * 8])[0]
    assert tokenizer.decode([expected])[0] == PROSE * 8
    for piece in range(32, 64):  # long enough to hold a single space before a word
        monkeypatch.setattr(reading, "PIECE", piece)
        assert len(list(next(iter(text.documents())))) > 5
        made = tokenize_part(Part(text, 0, text.size.characters), tokenizer, tmp_path / "cache" / f"{piece}.tokens")
        assert isinstance(made.ids, np.memmap) and made.bytes == len((PROSE * 8).encode())
        assert made.ids.tolist() == expected, "pieces make no difference"


def test_documents_are_parted_and_the_halves_make_the_whole(tmp_path: Path) -> None:
    rows = ["first text", "second", "a third one"]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": row}) + "\n" for row in rows))
    text, tokenizer = Text(str(tmp_path / "a.jsonl")), train_tokenizer("bytes", rows, 260)
    every = tokenize_part(Part(text, 0, text.size.characters), tokenizer, tmp_path / "all.tokens").ids
    assert every.tolist().count(tokenizer.eos) == 2 and tokenizer.decode([every.tolist()])[0] == "".join(rows)
    parts = [tokenize_part(part, tokenizer, tmp_path / "part.tokens").ids.tolist() for part in split(text, 0.7)]
    assert [i for part in parts for i in part if i != tokenizer.eos] == [
        i for i in every.tolist() if i != tokenizer.eos
    ]
    assert split(text, 0.7)[0].stop == int(0.7 * text.size.characters)


def test_large_vocabularies_have_room(tmp_path: Path) -> None:
    class Numbers:
        """A tokenizer of numbers that are written out."""

        eos, adds_space, fingerprint = 2, False, "numbers"

        def __init__(self, size: int) -> None:
            self.size = size

        def encode(self, texts: list[str]) -> list[list[int]]:
            return [[int(word) for word in text.split()] for text in texts]

    (tmp_path / "a.txt").write_text("65535 7 65536 70000")
    text = Text(str(tmp_path / "a.txt"))
    tokens = tokenize_part(Part(text, 0, 19), Numbers(70001), tmp_path / "a.tokens").ids
    assert tokens.tolist() == [65535, 7, 65536, 70000]
    small = tokenize_part(Part(text, 0, 5), Numbers(1 << 16), tmp_path / "b.tokens").ids
    assert small.tolist() == [65535] and small.nbytes == 2


@given(st.integers(2, 400), st.integers(1, 50), st.integers(1, 9), st.integers(0, 3))
def test_every_token_is_wanted_at_most_once_and_nearly_all_are(count: int, context: int, rows: int, epoch: int) -> None:
    windows = Windows(np.arange(count, dtype=np.uint16), context, rows, seed=5)
    wanted: list[int] = []
    for i in range(len(windows)):
        batch = windows[epoch * len(windows) + i]
        ids = batch.ids
        assert batch.tokens == ids[:, 1:].numel()
        assert (ids[:, 1:] - ids[:, :-1] == 1).all(), "a window is a stretch of the text"
        wanted += ids[:, 1:].flatten().tolist()
    assert len(set(wanted)) == len(wanted) and len(windows) >= 1
    assert count - 1 - len(wanted) < windows.context * (windows.rows + 1)


def test_windows_follow_from_seed_and_epoch_alone() -> None:
    tokens = np.arange(500, dtype=np.uint16)
    first, second = Windows(tokens, 16, 4, seed=1), Windows(tokens, 16, 4, seed=1)
    n = len(first)
    assert [second[i].ids.tolist() for i in (2 * n + 1, 3)] == [first[i].ids.tolist() for i in (2 * n + 1, 3)]
    assert (
        first[0].ids.tolist() != first[n].ids.tolist()
        and first[0].ids.tolist() != Windows(tokens, 16, 4, seed=2)[0].ids.tolist()
    )
    with pytest.raises(DataError, match="too little"):
        Windows(tokens[:1], 16, 4, seed=1)


def test_windows_begin_anywhere_and_come_in_any_order() -> None:
    """45 tokens hold two windows of 16 and 13 places for the first: 200 epochs reach all places, and both orders about as often."""
    windows = Windows(np.arange(45, dtype=np.uint16), 16, 2, seed=1)
    starts = [windows[epoch].ids[:, 0].tolist() for epoch in range(200)]
    assert len(windows) == 1 and {abs(a - b) for a, b in starts} == {16}
    assert {min(pair) for pair in starts} == set(range(13)), "the shift is random"
    assert 70 < sum(a < b for a, b in starts) < 130, "the order is random: 4.2 standard errors of a coin"


def test_no_part_begins_with_the_end_mark(tmp_path: Path) -> None:
    """Cut in the middle of the third document: nothing stands before it in its part, so nothing is parted there."""
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": word * 9}) + "\n" for word in ("ab", "cd", "ef")))
    text = Text(str(tmp_path / "a.jsonl"))
    tokenizer = train_tokenizer("characters", ["abcdef"], 300)
    for share, marks in ((0.7, 0), (0.5, 1)):
        end = tokenize_part(split(text, share)[1], tokenizer, tmp_path / "end.tokens").ids
        assert end[0] != tokenizer.eos and (np.asarray(end) == tokenizer.eos).sum() == marks


class Counting:
    """A tokenizer that counts how often it is asked."""

    eos, size, adds_space = 2, 300, False

    def __init__(self, fingerprint: str = "one") -> None:
        self.fingerprint, self.asked = fingerprint, 0

    def encode(self, texts: list[str]) -> list[list[int]]:
        self.asked += 1
        return [list(text.encode()) for text in texts]


def test_nothing_is_tokenized_twice(tmp_path: Path) -> None:
    path, note = tmp_path / "a.tokens", tmp_path / "a.tokens.json"
    (tmp_path / "a.txt").write_text("überalles")
    text, tokenizer = Text(str(tmp_path / "a.txt")), Counting()
    first = tokenize_part(Part(text, 0, 4), tokenizer, path)
    again = tokenize_part(Part(text, 0, 4), tokenizer, path)
    assert tokenizer.asked == 1 and again.ids.tolist() == first.ids.tolist() == list("über".encode())
    assert again.bytes == first.bytes == open_tokens(path).bytes == 5
    assert open_tokens(path).ids.tolist() == first.ids.tolist()

    other = Counting("two")
    tokenize_part(Part(text, 0, 4), other, path)
    assert other.asked == 1, "another tokenizer"
    assert tokenize_part(Part(text, 0, 5), other, path).bytes == 6 and other.asked == 2, "another part"
    (tmp_path / "a.txt").write_text("obenalles")
    assert tokenize_part(Part(Text(text.path), 0, 5), other, path).bytes == 5 and other.asked == 3, "another text"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(RunError, match="is damaged: its size is not the one that was noted"):
        open_tokens(path)
    tokenize_part(Part(Text(text.path), 0, 5), other, path)
    assert other.asked == 4 and open_tokens(path).ids.tolist() == list(b"obena"), "a file that was cut"
    note.write_text("[]")
    tokenize_part(Part(Text(text.path), 0, 5), other, path)
    assert other.asked == 5, "a damaged note"
