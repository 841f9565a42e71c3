"""What a person names on the command line: the file that a task cannot do without, and held-out parts of their own."""

from headway.core.errors import UsageError


def require_path(path: str | None, which: str, command: str) -> str:
    """The path, if there is one; otherwise the question `which`, and the command whose help explains it."""
    if path is None:
        raise UsageError(which, f"`headway {command} --help` explains it.")
    return path


def brought_parts(validation: str | None, test: str | None) -> dict[str, str]:
    """The held-out parts that a person brings, by name."""
    return {name: path for name, path in (("validation", validation), ("test", test)) if path is not None}
