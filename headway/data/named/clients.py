"""Archives through the package managers that a machine has: pip, apt-get, npm. Nothing is installed."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from headway.core.errors import DataError

SECONDS = 1800


def command(client: str, name: str, version: str, folder: Path) -> list[str]:
    """What downloads the archive of a package into the folder, and nothing else."""
    if client == "pip":
        download = [sys.executable, "-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "--quiet"]
        return [*download, "--dest", str(folder), "--requirement", str(folder / "requirements.txt")]
    if client == "npm":
        return ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{name}@{version}"]
    return ["apt-get", "download", "--quiet", name]


def fetch(
    client: str, name: str, version: str, sha256: str, cache: Path, by_hand: str, say: Callable[[str], object]
) -> Path:
    """The archive of a package, from the cache or through the client, with the right checksum."""
    kept = cache / (sha256 or name)
    found = next(iter(sorted(kept.glob("*"))), None) if kept.is_dir() else None
    if found is not None and sha256 in ("", digest(found)):
        say(f"`{name}` is in the cache")
        return found
    if client != "pip" and shutil.which(client) is None:
        raise DataError(f"`{name}` comes through `{client}`, which this machine does not have", by_hand)
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        folder.chmod(0o755)  # apt downloads as a user of its own
        requirements = folder / "requirements.txt"
        if client == "pip":  # pip itself refuses an archive with another checksum
            requirements.write_text(f"{name}=={version} --hash=sha256:{sha256}\n")
        say(f"downloading `{name}` with {client} ...")
        try:
            made = subprocess.run(
                command(client, name, version, folder), cwd=folder, capture_output=True, text=True, timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise DataError(f"`{client}` did not bring `{name}`: {problem}", by_hand) from problem
        requirements.unlink(missing_ok=True)
        archives = sorted(path for path in folder.iterdir() if path.is_file())
        if made.returncode != 0 or len(archives) != 1:
            last = (made.stderr.strip() or made.stdout.strip()).splitlines()[-1:] or ["no reason was given"]
            raise DataError(f"`{client}` did not bring `{name}`: {last[0]}", by_hand)
        if sha256 not in ("", digest(archives[0])):
            if client != "apt-get":
                raise DataError(f"`{name}` {version} has another checksum than it should have", by_hand)
            say(
                f"`{archives[0].name}` is a newer version than {version}, which was examined; apt has checked its signature"
            )
            kept = cache / digest(archives[0])
        kept.mkdir(parents=True, exist_ok=True)
        target = kept / archives[0].name
        shutil.copy(archives[0], target.with_suffix(".part"))
        target.with_suffix(".part").replace(target)
    return target


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
