"""Text in shards: the order without a table, the same tokens whatever the number of processes, and what is damaged or was stopped."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from headway.core.errors import DataError, RunError
from headway.data import token_blocks
from headway.data.permutation import Permutation
from headway.data.shards import INDEX, TOKENIZER, open_shards, read_index
from headway.data.token_files import tokenize_part
from headway.data.windows import Windows
from headway.tasks.preparation import Preparation
from headway.tasks.prepared_text import open_prepared
from headway.tasks.texts import collect_text

LENGTH = 1000  # tokens of a shard


# -- the order ---------------------------------------------------------------------------------------------------------


@given(st.integers(1, 3000), st.integers(0, 2**62))
def test_a_permutation_is_a_bijection(count: int, seed: int) -> None:
    order = Permutation(count, seed)
    whole = order(np.arange(count))
    assert sorted(whole.tolist()) == list(range(count))
    assert order(np.arange(count // 2, count)).tolist() == whole[count // 2 :].tolist(), "a stretch is computed by itself"


def test_permutations_differ_and_every_thing_is_everywhere_equally_often() -> None:
    """Ten things, 3,000 seeds: the chi-square test of each place against 300 of each thing."""
    orders = np.stack([Permutation(10, seed)(np.arange(10)) for seed in range(3000)])
    assert len({tuple(row) for row in orders.tolist()}) > 2980, "3,628,800 orders: two seeds hardly ever agree"
    assert min(chisquare(np.bincount(column, minlength=10)).pvalue for column in orders.T) > 1e-4
    after = np.bincount((orders[:, 1] - orders[:, 0]) % 10, minlength=10)[1:]
    assert chisquare(after).pvalue > 1e-4, "what follows a thing does not depend on it"


def test_windows_of_an_endless_text_need_no_table() -> None:
    class Endless:
        """A million million tokens that nobody stores: token i is i % 60,000."""

        def __len__(self) -> int:
            return 10**12

        def __getitem__(self, key: slice) -> np.ndarray:
            return np.arange(key.start, key.stop) % 60_000

    windows = Windows(Endless(), context=64, rows=8, seed=3)  # type: ignore[arg-type]
    batch = windows[123_456_789]
    assert (windows[123_456_789].starts == batch.starts).all() and batch.ids.shape == (8, 65)
    assert len(set(batch.starts.tolist())) == 8 and batch.starts.max() < 10**12


# -- the shards --------------------------------------------------------------------------------------------------------


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two files with lines of many lengths, a JSONL file with three documents; pieces and blocks of some hundred characters."""
    monkeypatch.setattr("headway.data.documents.PIECE", 1 << 8)
    monkeypatch.setattr(token_blocks, "BLOCK", 1 << 9)
    folder = tmp_path / "text"
    folder.mkdir()
    for name in "ab":
        lines = (f"{n} cats, {name} dogs and {n * n % 97} übel gelaunte Gänse" + " sleep" * (n % 7) for n in range(200))
        (folder / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    rows = ("a short one", "", "words " * 300)
    (folder / "c.jsonl").write_text("".join(json.dumps({"text": row}) + "\n" for row in rows))
    return str(folder)


def prepare(text: str, out: Path, workers: int = 1, report: Callable[[str, int, int], object] = lambda *_: None) -> None:
    Preparation(text, tokens="bpe", vocabulary=400, workers=workers, length=LENGTH).run(out, report)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != ".lock"}


def test_the_tokens_are_those_of_one_file_whatever_the_number_of_processes(text: str, tmp_path: Path) -> None:
    prepare(text, tmp_path / "one")
    prepare(text, tmp_path / "two", workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    corpus, prepared = collect_text(text, None, None), open_prepared(tmp_path / "one")
    assert corpus.learn("bpe", 400, None).fingerprint == prepared.tokenizer.fingerprint
    assert len(prepared.index.parts["train"].shards) > 3 and list(prepared.held_out) == ["validation", "test"]
    for name, part in {"train": corpus.train, **corpus.held_out}.items():
        expected = tokenize_part(part, prepared.tokenizer, tmp_path / f"{name}.tokens")
        found = open_shards(tmp_path / "one", prepared.index, name)
        assert len(found) == len(expected.ids) and found[:].tolist() == expected.ids.tolist()
        assert prepared.index.parts[name].bytes == expected.bytes
    ids, found = np.asarray(tokenize_part(corpus.train, prepared.tokenizer, tmp_path / "train.tokens").ids), prepared.train
    random = np.random.default_rng(1)
    for a, b in np.sort(random.integers(len(ids), size=(50, 2))).tolist():
        assert found[a:b].tolist() == ids[a:b].tolist(), "a stretch over several shards"
    places = random.integers(len(ids), size=(7, 11))
    assert (found[places] == ids[places]).all()
    two = Windows(found, 64, 4, seed=1), Windows(ids, 64, 4, seed=1)
    assert all((two[0][n].ids == two[1][n].ids).all() and (two[0][n].before(9) == two[1][n].before(9)).all() for n in range(9))


def test_the_vocabulary_is_learned_from_all_of_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of a tenth holds words of the beginning, of the middle and of the end."""
    monkeypatch.setattr("headway.data.documents.PIECE", 1 << 7)
    monkeypatch.setattr("headway.tasks.texts.LEARNED", 3000)
    (tmp_path / "a.txt").write_text("".join(f"{word} " * 700 for word in ("beginning", "middlemost", "endmost", "last")))
    corpus = collect_text(str(tmp_path / "a.txt"), None, None)
    made = corpus.learn("bpe", 600, None)
    assert {"▁beginning", "▁middlemost", "▁endmost"} <= set(made.pieces(list(range(made.size))))


@pytest.mark.parametrize("after", [1, 3, 5])
def test_what_was_stopped_is_continued(text: str, tmp_path: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped while shard `after` is written: the shards before it are kept as files, and the end is the same to the byte."""
    prepare(text, tmp_path / "whole")
    written: list[str] = []
    write = __import__("headway.data.shard_files", fromlist=["write_whole"]).write_whole

    def stopping(path: Path, fill: Callable[[Path], object]) -> None:
        if len(written) == after:
            raise KeyboardInterrupt
        written.append(path.name)
        write(path, fill)

    monkeypatch.setattr("headway.data.shard_files.write_whole", stopping)
    with pytest.raises(KeyboardInterrupt):
        prepare(text, tmp_path / "stopped")
    with pytest.raises(DataError, match=r"is not finished\nHint: `headway data prepare --text .* continues it"):
        open_prepared(tmp_path / "stopped")
    first, written[:] = list(written), []
    monkeypatch.setattr("headway.data.shard_files.write_whole", lambda path, fill: written.append(path.name) or write(path, fill))
    prepare(text, tmp_path / "stopped", workers=2 if after == 3 else 1)
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")
    assert len(first) == after and not set(first) & set(written), "nothing was made twice"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def fill(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def edit(change: Callable[[dict], object]) -> Callable[[Path], None]:  # type: ignore[type-arg]
    def edited(path: Path) -> None:
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value))

    return edited


@pytest.mark.parametrize(
    ("file", "damage", "said"),
    [
        ("train-00001.tokens", Path.unlink, "`.*train-00001.tokens` is missing"),
        ("train-00001.tokens", cut, "train-00001.tokens` is damaged: 1,998 bytes instead of 2,000"),
        ("train-00001.tokens", fill, "train-00001.tokens` is damaged: it holds token 65,535 of a vocabulary of"),
        ("test-00000.tokens", Path.unlink, "`.*test-00000.tokens` is missing"),
        (INDEX, Path.unlink, "index.json` is missing"),
        (INDEX, cut, "index.json` is damaged"),
        (INDEX, edit(lambda value: value.update(length=0)), "index.json` is damaged: its shards cannot hold 0 tokens each"),
        (INDEX, edit(lambda value: value.pop("dtype")), "index.json` does not fit: `dtype` is missing"),
        (INDEX, edit(lambda value: value["parts"].pop("validation")), "it has no part `validation`"),
        (INDEX, edit(lambda v: v["parts"]["train"]["shards"].pop(0)), "the shards of `train` are not all there"),
        (INDEX, edit(lambda v: v["parts"]["train"]["shards"].pop()), "the shards of `train` are not all there"),
        (TOKENIZER, Path.unlink, "tokenizer.json` is missing"),
        (TOKENIZER, cut, "tokenizer.json` is damaged"),
        (TOKENIZER, edit(lambda v: v["tokenizer"]["model"]["merges"].pop()), "is not the tokenizer that the shards were made with"),
    ],
)  # fmt: skip
def test_damage_is_told_and_mended(text: str, tmp_path: Path, file: str, damage: Callable[[Path], object], said: str) -> None:
    out = tmp_path / "shards"
    prepare(text, out)
    sound = contents(out)
    damage(out / file)
    with pytest.raises(DataError, match=said) as problem:
        open_prepared(out).train[:]
    assert "headway data prepare --text" in problem.value.hint
    prepare(text, out)
    assert contents(out) == sound


def test_one_folder_holds_one_text_and_one_vocabulary(text: str, tmp_path: Path) -> None:
    out = tmp_path / "shards"
    prepare(text, out)
    before = contents(out)
    with pytest.raises(RunError, match="was begun with something else: the vocabulary: bpe of 400 .* -> bpe of 500"):
        Preparation(text, vocabulary=500).run(out, lambda *_: None)
    Preparation(text).run(out, lambda *_: None)  # what is not asked for is as it was
    assert contents(out) == before
    (Path(text) / "a.txt").write_text("another beginning\n" * 1000)
    with pytest.raises(RunError, match="was begun with something else:\n  - the text: `test`"):
        Preparation(text).run(out, lambda *_: None)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("precious")
    with pytest.raises(RunError, match="is not an empty directory"):
        prepare(text, tmp_path / "full")
    assert read_index(out).finished and contents(out) == before


def test_few_shards_are_open_at_a_time(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(text, tmp_path / "shards")
    tokens = open_prepared(tmp_path / "shards").train
    expected = tokens[:]
    monkeypatch.setattr("headway.data.shards.MOST", 2)
    tokens = open_prepared(tmp_path / "shards").train
    assert (tokens[:] == expected).all() and (tokens[np.arange(len(tokens))[::-1]] == expected[::-1]).all()
    assert len(tokens._open) == 2
