"""What the site is made of, in one folder: the pages of docs/, two from the root of the repository, the reference.

python docs/assemble.py build/docs      then `zensical build` makes build/site of it
"""

import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import reference  # noqa: E402

FROM_ROOT = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
COPIED = {".md", ".svg", ".png"}


def site_links(text: str) -> str:
    """Links of a page in the root of the repository, as they are in the site: `docs/design.md` is `design.md`."""
    for name, page in FROM_ROOT.items():
        text = text.replace(f"]({name}", f"]({page}")
    return re.sub(r"\]\(docs/", "](", text)


def assemble(folder: Path) -> None:
    """Write the sources of the site into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in sorted(HERE.rglob("*")):
        if path.suffix in COPIED:
            copy = folder / path.relative_to(HERE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    for name, page in FROM_ROOT.items():
        (folder / page).write_text(site_links((HERE.parent / name).read_text(encoding="utf-8")), encoding="utf-8")
    reference.write(folder / "reference")


if __name__ == "__main__":
    assemble(Path(sys.argv[1]))
