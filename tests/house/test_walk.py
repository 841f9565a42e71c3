"""The plan of the house and the walk through the code, as the documentation prints them, against the code itself."""

import ast
import re
from pathlib import Path

import headway

PACKAGE = Path(headway.__file__).resolve().parent
ROOT = PACKAGE.parent
DOCS = ROOT / "docs"


def floors() -> dict[str, int]:
    """The order of the rooms as `design.md` prints it."""
    line = next(
        line for line in (DOCS / "design.md").read_text(encoding="utf-8").split("\n") if line.startswith("    core <- ")
    )
    return {room: number for number, part in enumerate(line.strip().split(" <- ")) for room in part.split(", ")}


def test_the_order_of_rooms_is_that_of_the_imports() -> None:
    known, wrong = floors(), []
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room.startswith("__") or room == "lab":
            continue
        assert room in known, f"`docs/design.md` does not name the room `{room}`"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headway."):
                other = (node.module or "").split(".")[1]
                if other in known and other != room and known[other] >= known[room]:
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: {room} imports {other}")
    assert not wrong, "\n".join(wrong)


def defined(path: str, name: str) -> ast.AST | None:
    """The function, class or method of a file that the walk names."""
    if not (PACKAGE / path).exists():
        return None
    node: ast.AST | None = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
    for part in name.split("."):
        node = next((n for n in getattr(node, "body", ()) if getattr(n, "name", None) == part), None)
    return node


def mentioned(node: ast.AST) -> set[str]:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)
    }
    return names | {a.asname for n in ast.walk(node) if isinstance(n, ast.ImportFrom) for a in n.names if a.asname}


def steps(text: str) -> list[tuple[int, str, str]]:
    return [
        (len(i) // 4, path, name)
        for i, path, name in re.findall(r"^( *)- `([\w/]+\.py): ([\w.]+)`", text, re.MULTILINE)
    ]


def wrong_steps(text: str) -> list[str]:
    known, found = floors(), []
    callers: dict[int, tuple[ast.AST | None, str, str]] = {}  # by depth, the line that was read last
    for depth, path, name in steps(text):
        callers[depth] = defined(path, name), path, name
        if callers[depth][0] is None:
            found.append(f"`{path}` has no `{name}`")
        if not depth or None in (callers[depth][0], callers[depth - 1][0]):
            continue
        code, caller_path, caller = callers[depth - 1]
        called = name.removesuffix(".__init__").split(".")[-1]
        if code is not None and called not in mentioned(code):
            found.append(f"`{caller_path}: {caller}` does not mention `{called}`")
        rooms = [p.partition("/")[0].removesuffix(".py") for p in (path, caller_path)]
        if known[rooms[0]] > known[rooms[1]]:
            found.append(f"`{caller_path}: {caller}` goes up to `{path}: {name}`")
    return found


def test_the_walk_is_the_code() -> None:
    text = (DOCS / "walk.md").read_text(encoding="utf-8")
    assert len(steps(text)) > 80 and len(steps(text)) == len(re.findall(r"^ *- ", text, re.MULTILINE))
    assert not wrong_steps(text)
    others = [pair for pair in re.findall(r"`([\w/]+\.py): ([\w.]+)`", text) if defined(*pair) is None]
    assert not others


def test_a_wrong_walk_would_be_noticed() -> None:
    called = "report/summary.py: summarise", "core/files.py: write_json", "core/files.py: gone"
    walk = "- `training/session.py: start` x\n" + "".join(f"    - `{name}` x\n" for name in called)
    assert wrong_steps(walk) == [
        "`training/session.py: start` does not mention `summarise`",
        "`training/session.py: start` goes up to `report/summary.py: summarise`",
        "`core/files.py` has no `gone`",
    ]
