"""Commands that a person can copy: how this person calls `headway`, and texts as a shell takes them."""

import os
import shlex
import shutil
import sys
from pathlib import Path


def command() -> str:
    """How this person calls the command: `headway`, or `.venv/bin/headway` if that is not on the path."""
    here = Path(sys.argv[0])
    return "headway" if here.name != "headway" or shutil.which("headway") else os.path.relpath(here)


def quoted(text: str) -> str:
    """In double quotes where nothing in it means something to a shell."""
    return f'"{text}"' if not set(text) & set('"$`\\!\n') else shlex.quote(text)
