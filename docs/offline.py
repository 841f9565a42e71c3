"""Fails if a built page loads anything from the network: a script, a font, a style, a picture. Links may lead anywhere.

python docs/offline.py build/site
"""

import re
import sys
from pathlib import Path

LOADED = re.compile(r"""<(?:script|img|iframe|source|video)\b[^>]*?\bsrc=["']?((?:https?:)?//[^"'\s>]+)""")
LINKED = re.compile(
    r"""<link\b(?=[^>]*\brel=["']?(?:stylesheet|preconnect|preload|icon))[^>]*?\bhref=["']?((?:https?:)?//[^"'\s>]+)"""
)
STYLED = re.compile(r"""(?:@import\s+|url\()["']?((?:https?:)?//[^"'\s)]+)""")


def loads(folder: Path) -> list[str]:
    """What the pages and styles of a site would load from elsewhere, each with the file that does."""
    found = []
    for path in sorted(folder.rglob("*")):
        patterns = {".html": (LOADED, LINKED, STYLED), ".css": (STYLED,)}.get(path.suffix, ())
        text = path.read_text(encoding="utf-8") if patterns else ""
        found += [f"{path.relative_to(folder)}: {address}" for pattern in patterns for address in pattern.findall(text)]
    return found


if __name__ == "__main__":
    problems = loads(Path(sys.argv[1]))
    sys.exit("these pages need a network:\n" + "\n".join(problems[:20]) if problems else 0)
