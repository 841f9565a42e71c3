"""Files that are there whole or not at all, seeds that never change, and a lock that dies with its owner."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from headway.core.errors import DataError, DiskError, RunError
from headway.core.files import (
    parse_json,
    read_bytes,
    read_json,
    read_note,
    read_tensors,
    write_json,
    write_tensors,
    write_text,
    write_whole,
)
from headway.core.lock import locked
from headway.core.seeds import derive


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "file.json"
    write_text(path, "old")
    return path


def only(path: Path) -> bool:
    return list(path.parent.iterdir()) == [path]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    value = {"grüße": ["ß", 1, 2.5, None, True], "": {}}
    write_json(tmp_path / "a.json", value)
    assert read_json(tmp_path / "a.json") == value and "grüße" in (tmp_path / "a.json").read_text(encoding="utf-8")
    tensors = {"a": torch.randn(3, 5), "b": torch.arange(4), "empty": torch.empty(0, 2)}
    write_tensors(tmp_path / "t.safetensors", tensors | {"view": tensors["a"].T}, "nöte")
    back = read_tensors(tmp_path / "t.safetensors")
    assert read_note(tmp_path / "t.safetensors") == "nöte" and torch.equal(back["view"], tensors["a"].T)
    assert all(torch.equal(back[name], tensor) for name, tensor in tensors.items())


def test_equal_tensors_give_equal_bytes(tmp_path: Path) -> None:
    tensors = {name: torch.ones(3) for name in "cab"}
    write_tensors(tmp_path / "1", tensors, "note")
    write_tensors(tmp_path / "2", tensors, "note")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, MemoryError])
def test_a_writer_that_fails_leaves_the_old_file(old: Path, problem: type[BaseException]) -> None:
    def half(part: Path) -> None:
        part.write_text("ne")
        raise problem

    with pytest.raises(problem):
        write_whole(old, half)
    assert old.read_text() == "old" and only(old)


def test_a_full_disk(old: Path) -> None:
    """/dev/full takes nothing: the temporary file is made to lead there."""
    old.with_name("file.json.part").symlink_to("/dev/full")
    with pytest.raises(DiskError, match=r"no space left on the disk while writing `.*file.json`; the previous .* is unharmed"):
        write_text(old, "new" * 10_000)
    assert old.read_text() == "old" and only(old)


@pytest.fixture
def small_files() -> Iterator[None]:
    """The operating system lets this process write 1,000 bytes into a file and no more: it is full in the middle of the file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_fills_up_on_the_way(old: Path, small_files: None) -> None:
    with pytest.raises(DiskError, match="no space left"):
        write_tensors(old, {"a": torch.zeros(1000)})
    assert old.read_text() == "old" and only(old)


def test_a_disk_that_is_full_when_synced(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems say so only then, and no real one can be asked to."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskError, match="no space left"):
        write_text(old, "new")
    assert old.read_text() == "old" and only(old)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DiskError, match=r"cannot write `.*`: not a directory\nHint: choose another place to write to"):
        write_text(tmp_path / "file" / "inner", "x")


def test_truncated_tensors_are_damaged_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    write_tensors(path, {f"layer.{i}": torch.randn(4, 3) for i in range(9)}, "note" * 9)
    data = path.read_bytes()
    for length in range(0, len(data), 37):
        path.write_bytes(data[:length])
        with pytest.raises(RunError, match="is damaged"):
            read_tensors(path)


def test_flipped_bits_in_a_header_are_damage_or_another_file(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    write_tensors(path, {"a": torch.randn(4, 3), "b": torch.randn(2)}, "note")
    data = path.read_bytes()
    for place in range(0, 200, 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :])
        try:
            read_tensors(path)
        except RunError as problem:
            assert "damaged" in str(problem)


def test_truncated_json_is_damaged_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_json(path, {"größe": [1, 2.5, "ä"], "inner": {"a": None}})
    data = path.read_bytes().rstrip()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(RunError, match="is damaged"):
            read_json(path)
    path.write_text("[" * 100_000)
    with pytest.raises(RunError, match="is damaged"):
        read_json(path)


def test_missing_files_are_named(tmp_path: Path) -> None:
    for read in (read_json, read_tensors):
        with pytest.raises(RunError, match=r"`.*/no` is missing\nHint: the directory is not a run"):
            read(tmp_path / "no")
    with pytest.raises(DataError, match="there is no file"):
        read_bytes(tmp_path / "no")
    with pytest.raises(DataError, match="is a directory, not a file"):
        read_bytes(tmp_path)


def test_seeds_never_change() -> None:
    """Golden: were these to change, no old run could be repeated."""
    assert derive(7, "dropout", 4711) == 5955439323485657147
    seeds = [derive(s, purpose, n) for s in range(5) for purpose in ("dropout", "order", "weights") for n in range(50)]
    assert len(set(seeds)) == len(seeds) and all(0 <= s < 2**63 for s in seeds)
    assert derive(1) != derive(1, 0) != derive(1, "order")


HOLDER = """
import sys, time
from pathlib import Path
from headway.core.lock import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


def test_one_process_at_a_time(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=root) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "locked\n"
        refusal = rf"is in use by another process \({holder.pid}\)\nHint: wait for it"
        with pytest.raises(RunError, match=refusal), locked(tmp_path):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait(10)
    with locked(tmp_path):
        assert (tmp_path / ".lock").read_text() == str(os.getpid())


def test_the_lock_is_one_of_this_process_too_and_is_given_back(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="inside"), locked(tmp_path):
        with pytest.raises(RunError, match=rf"in use by another process \({os.getpid()}\)"), locked(tmp_path):
            pass
        raise ValueError("inside")
    with locked(tmp_path):
        assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_place_that_cannot_be_locked_is_named_and_not_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for name, reason in (("no", "no such file or directory"), ("file", "not a directory")):
        with pytest.raises(DiskError, match=rf"cannot write `.*/{name}/.lock`: {reason}"), locked(tmp_path / name):
            pass
    assert not (tmp_path / "no").exists()


def test_json_on_the_disk_is_plain(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"a": 1})
    assert json.loads((tmp_path / "a.json").read_text()) == {"a": 1} and (tmp_path / "a.json").read_text().endswith("}\n")


@pytest.mark.parametrize("text", ['["a\\ud800b"]', '["a\\uDC00b"]', b'["a\xed\xa0\x80b"]', '{"\\ud83d": 1}', "[1", b"\xff"])
def test_json_that_could_not_be_written_again_is_damage(text: str | bytes) -> None:
    """Half a character in the samples of metrics.jsonl ended in a traceback when the report was written."""
    with pytest.raises(ValueError):
        parse_json(text)


def test_json_with_whole_characters() -> None:
    assert parse_json('["\\ud83d\\ude00 \\ud7ff"]') == ["\U0001f600 \ud7ff"] and parse_json(b"[1]") == [1]
