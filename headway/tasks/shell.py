"""Commands that a person can copy: texts as a shell takes them."""

import shlex


def quote(text: str) -> str:
    """In double quotes where nothing in it means something to a shell."""
    return f'"{text}"' if not set(text) & set('"$`\\!\n') else shlex.quote(text)
