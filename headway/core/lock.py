"""One process at a time in a directory, on Linux, macOS and Windows.

The lock is the operating system's: it vanishes with the process, however that ends. The file `.lock` stays.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from headway.core.errors import RunError
from headway.core.files import disk_errors


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    path = folder / ".lock"
    lock = FileLock(path, blocking=False)
    with disk_errors(path):
        os.scandir(folder).close()  # a directory that is missing is an error; `filelock` would make it
        try:
            lock.acquire()
        except Timeout as problem:
            message = f"`{folder}` is in use by another process ({_owner(path)})"
            raise RunError(message, "wait for it, or choose another `--out`.") from problem
    try:
        # Where this fails (a full disk; Windows, which locks the contents too), the lock holds, but names no owner.
        with contextlib.suppress(OSError):
            path.write_text(str(os.getpid()))
        yield
    finally:
        lock.release()


def _owner(path: Path) -> str:
    """The process that holds the lock, as it wrote itself into the file."""
    try:
        return path.read_text().strip() or "unknown"
    except OSError:
        return "unknown"
