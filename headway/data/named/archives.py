"""The members of an archive of a package manager: .whl, .zip, .tar.gz, .tgz, .deb. Nothing is unpacked to the disk, and nothing is run."""

import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from headway.core.errors import DataError

AR = b"!<arch>\n"  # a .deb is an `ar` archive of two tar archives: control.tar.* and data.tar.*


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file in it."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                yield from ((item.filename, zipped.read(item)) for item in zipped.infolist() if not item.is_dir())
            return
        content = io.BytesIO(_data_of_deb(archive)) if archive.suffix == ".deb" else archive.open("rb")
        with content, tarfile.open(fileobj=content) as tar:
            for item in tar:
                file = tar.extractfile(item) if item.isfile() else None
                if file is not None:
                    yield item.name.removeprefix("./"), file.read()
    except (OSError, EOFError, RuntimeError, ValueError, tarfile.TarError, zipfile.BadZipFile, zlib.error) as problem:
        raise DataError(f"`{archive}` cannot be read: {problem}", "delete it, then ask again.") from problem


def _data_of_deb(path: Path) -> bytes:
    """The archive of the installed files: after a header of 60 bytes that names a member and its size, padded to an even place."""
    with path.open("rb") as file:
        if file.read(len(AR)) != AR:
            raise ValueError("it is no Debian package")
        while header := file.read(60):
            name, size = header[:16].decode().strip().rstrip("/"), int(header[48:58])
            content = file.read(size)
            if name.startswith("data.tar"):
                return content
            file.read(size % 2)
    raise ValueError("it holds no files")
