"""One process at a time in a directory. The lock is the operating system's: it vanishes with the process, however that ends."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from headway.core.errors import RunError
from headway.core.files import disk_errors

try:
    import fcntl
except ImportError:  # Windows has no fcntl; there two processes in one directory are not noticed
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    path = folder / ".lock"
    with disk_errors(path):
        file = open(path, "a+")  # noqa: SIM115 - closed below; only opening it may fail for want of disk
    with file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                file.seek(0)
                owner = file.read().strip() or "unknown"
                raise RunError(f"`{folder}` is in use by another process ({owner})", "wait for it, or choose another `--out`.") from problem
            with contextlib.suppress(OSError):  # on a full disk the lock still holds, only without its owner's number
                file.truncate(0)
                file.write(str(os.getpid()))
                file.flush()
        yield
