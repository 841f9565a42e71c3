"""Safe files: JSON and safetensors, written whole or not at all.

A file is written under a temporary name beside its final one, synced, and renamed over it. Whoever reads at any moment, also
after a killed process or a power cut, sees the old file or the new one and never half of either. Nothing here can run code.
"""

import contextlib
import errno
import json
import os
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from headway.core.errors import DataError, DiskError, RunError

if typing.TYPE_CHECKING:
    import numpy as np
    from torch import Tensor


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's refusal into a message that says which file and what to do."""
    try:
        yield
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DiskError(
                f"no space left on the disk while writing `{path}`; the previous version of the file is unharmed",
                "free some space, then continue with `headway train --resume` on the same directory.",
            ) from problem
        hint = "choose another place to write to."
        raise DiskError(f"cannot write `{path}`: {reason_of(problem)}", hint) from problem


def require_writable(path: Path) -> None:
    """Say now, before the work is done, that its result could not be written there."""
    with disk_errors(path):
        if path.is_dir() or not path.name:
            raise DiskError(f"cannot write `{path}`: it is a directory", "name a file in it.")
        if not path.absolute().parent.is_dir():
            raise DiskError(
                f"cannot write `{path}`: there is no directory `{path.absolute().parent}`", "make it first."
            )
        if not os.access(path.absolute().parent, os.W_OK):
            raise DiskError(f"cannot write `{path}`: permission denied", "choose another place to write to.")


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file, then put it in place in one indivisible step."""
    temporary = path.with_name(path.name + ".part")
    with disk_errors(path):
        try:
            write(temporary)
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, path)
            directory = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


def write_text(path: Path, text: str) -> None:
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def write_json(path: Path, value: object) -> None:
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def parse_json(text: str | bytes) -> typing.Any:
    """The value of a JSON text. Half a character (`"\\ud800"`) could not be written to a file again: a `ValueError`, as any damage."""
    text = text.decode() if isinstance(text, bytes) else text  # strictly; `json.loads` would take halves
    value = json.loads(text)
    if "\\ud" in text.lower():
        json.dumps(value, ensure_ascii=False).encode()
    return value


def read_json(path: Path) -> typing.Any:
    """A JSON file of a run, or an error that says the run is damaged."""
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as problem:
        raise RunError(f"`{path}` is missing", "the directory is not a run, or it was only half copied.") from problem
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    except (ValueError, RecursionError) as problem:
        raise RunError(f"`{path}` is damaged: {problem}", "restore the file from a copy, or train again.") from problem


def read_text(path: Path) -> str:
    """A text file of a run; what is no UTF-8 is a `ValueError`."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise _unreadable(path, problem) from problem


def _unreadable(path: Path, problem: OSError) -> RunError:
    """The system does not give the file: that is no damage yet."""
    hint = "try again; if it stays so, restore the file from a copy."
    return RunError(f"cannot read `{path}`: {reason_of(problem)}", hint)


def reason_of(problem: OSError) -> str:
    """The words of the operating system."""
    return (problem.strerror or str(problem)).lower()


def write_tensors(path: Path, tensors: "dict[str, Tensor]", note: str = "") -> None:
    """Tensors as safetensors. `note` is a string of the caller's, kept in the header; equal input gives equal bytes."""
    from safetensors.torch import save

    data = save({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, {"headway": note})
    write_whole(path, lambda part: part.write_bytes(data))


def read_tensors(path: Path) -> "dict[str, Tensor]":
    with _opened(path) as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def read_note(path: Path) -> str:
    """The string that the writer put into the header; the tensors are not read."""
    with _opened(path) as file:
        return (file.metadata() or {}).get("headway", "")


def write_arrays(path: Path, arrays: "Mapping[str, np.ndarray]", note: object) -> None:
    """Arrays of numpy, and a note that JSON can hold."""
    import numpy as np
    import torch

    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
    write_tensors(path, tensors, json.dumps(note, ensure_ascii=False))


def read_arrays(path: Path) -> "tuple[dict[str, np.ndarray], typing.Any]":
    """What `write_arrays` wrote; a note that is no JSON is a `ValueError`."""
    return {name: tensor.numpy() for name, tensor in read_tensors(path).items()}, parse_json(read_note(path))


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[typing.Any]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except FileNotFoundError as problem:
        raise RunError(f"`{path}` is missing", "the directory is not a run, or it was only half copied.") from problem
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    except (SafetensorError, ValueError) as problem:
        raise RunError(f"`{path}` is damaged: {problem}", "restore the file from a copy, or train again.") from problem


def read_bytes(path: Path) -> bytes:
    """The bytes of a person's file, or an error that names what is wrong with the path."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as problem:
        raise DataError(f"there is no file `{path}`", f"looked in `{Path(path).resolve().parent}`.") from problem
    except IsADirectoryError as problem:
        raise DataError(f"`{path}` is a directory, not a file") from problem
    except OSError as problem:
        raise DataError(f"cannot read `{path}`: {reason_of(problem)}") from problem
