"""The API reference: one Markdown page per room, from what `explanations.py` and the registry read.

python docs/reference.py build/docs/reference      write the pages
"""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # this folder, and the package that stands beside it

from explanations import PACKAGE, Argument, Thing, classes, public, read_class  # noqa: E402

from headway.core import registry  # noqa: E402
from headway.core.registry import Entry  # noqa: E402

AXES = """Axes: b batch, t query position, s key position, d width, h head, e width of a head, f feed-forward width,
v vocabulary, c channel or class, n state."""
RULE = "How arguments are explained: see [Contributing](../contributing.md#explain-every-argument)."


# -- Markdown ------------------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Text in which nothing but backticks means anything to Markdown; addresses become links."""
    parts = re.split(r"(`[^`]*`|https?://[^\s,;)]*[^\s,;).])", text)
    plain = [
        re.sub(r"([*_<>\[\]|\\])", r"\\\1", part).replace(r"\<", "&lt;").replace(r"\>", "&gt;") for part in parts[::2]
    ]
    marked = [part if part.startswith("`") else f"<{part}>" for part in parts[1::2]]
    return "".join(a + b for a, b in zip(plain, [*marked, ""], strict=True))


def prose(doc: str) -> str:
    """A docstring as Markdown: paragraphs, and what is indented (equations, drawings) as it stands."""
    blocks = []
    for block in re.split(r"\n\s*\n", doc):
        indented = all(line.startswith("    ") for line in block.split("\n"))
        lined = not indented and re.search(r"^\S+( \S+)*\s{3,}\S", block, re.MULTILINE)  # a table in columns
        as_it_stands = "\n".join("    " + line.removeprefix("    ") for line in block.split("\n"))
        blocks.append(as_it_stands if indented or lined else escaped(block))
    return "\n\n".join(blocks)


def code(text: str) -> str:
    """Code inside a cell of a table, where a bar would end the cell: `int or None`, `'pre' or 'post'`."""
    text = re.sub(r"Literal\[(.*?)\]", lambda choices: choices[1].replace(", ", " or "), text)
    return f"`{text.replace(' | ', ' or ')}`" if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def described(arguments: Iterable[Argument], word: str = "argument") -> str:
    rows = [
        (code(a.name), code(a.type), "" if a.default is None else code(a.default), escaped(a.meaning))
        for a in arguments
    ]
    return table((word, "type", "default", "meaning"), rows) if rows else ""


# -- sections ------------------------------------------------------------------------------------------------


def section(thing: Thing, level: int = 3, title: str = "", methods: bool = False) -> str:
    """A class or function: its call, its docstring, its arguments; its methods one by one, or as signatures."""
    parts = [
        f"{'#' * level} {title or thing.name}",
        f"    {thing.call}",
        f"`{thing.module}`" + registered(thing),
        prose(thing.doc),
        described(thing.arguments),
    ]
    if methods:
        parts += [_method(m, level + 1) for m in thing.methods]
    elif thing.methods:
        parts.append("\n".join(f"- `{_signed(m)}`  {escaped(m.doc.partition(chr(10))[0])}" for m in thing.methods))
    return "\n\n".join(part for part in parts if part)


@cache
def entries() -> dict[tuple[str, str], Entry]:
    """The registered classes of the layers, by module and name."""
    rooms = [room for room, place in registry.ROOMS.items() if place.startswith("layers")]
    return {(e.module_name, e.class_name): e for room in rooms for e in registry.entries(room).values()}


def registered(thing: Thing) -> str:
    """By which names a layer is known to the commands."""
    entry = entries().get((thing.module, thing.name))
    return f", registered as `{entry.name}`. {names(entry)}" if entry and thing.kind == "class" else ""


def _signed(method: Thing) -> str:
    words = [
        f"{a.name}: {a.type}" + (f" = {a.default}" if a.default else "") if a.type else a.name for a in method.arguments
    ]
    given = "" if method.kind == "property" else f"({', '.join(words)})"
    return f"{method.name}{given}" + (f" -> {method.returns}" if method.returns else "")


def _method(method: Thing, level: int) -> str:
    call = method.name if method.kind == "property" else method.call
    parts = [
        f"{'#' * level} {method.name}",
        f"    {call} -> {method.returns}",
        prose(method.doc),
        described(method.arguments),
    ]
    return "\n\n".join(part for part in parts if part)


def shown(path: Path) -> list[Thing]:
    """What a page shows of a file: its public classes, and the functions that the lectures have a name for."""
    return [t for t in public(path) if t.kind == "class" or "Also called" in t.doc]


def names(entry: Entry) -> str:
    return escaped("Also called " + ", ".join(entry.aliases) + ".") if entry.aliases else ""


def thing_of(entry: Entry, name: str = "") -> Thing:
    """The class of an entry, or another one of its file, such as the `Config` that holds its options."""
    return next(t for t in public(entry.path) if t.name == (name or entry.class_name))


def figures(entry: Entry) -> str:
    """The figures of a task, from the calls `Figure(...)` in its file."""
    node = classes()[entry.class_name][0]
    known = [a.name for a in read_class(*classes()["Figure"]).arguments]
    rows = []
    for call in ast.walk(
        next((i for i in node.body if isinstance(i, ast.Assign) and ast.unparse(i.targets[0]) == "figures"), node)
    ):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Figure":
            given = dict(zip(known, map(ast.literal_eval, call.args), strict=False))
            given |= {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}
            rows.append(
                (
                    given["name"],
                    given.get("unit", ""),
                    f"{given.get('better', 'higher')} is better",
                    given.get("scale", ""),
                )
            )
    return table(("figure", "unit", "direction", "scale"), rows)


# -- pages ---------------------------------------------------------------------------------------------------


def front_door() -> str:
    text = "# The front door\n\nWhat `import headway` gives. Everything else is imported from its own file.\n\n"
    return text + "\n\n".join(section(t, 2, f"headway.{t.name}") for t in public(PACKAGE / "__init__.py"))


def tasks() -> str:
    parts = ["# Tasks\n\nAn option is `--name` on the command line and `name=` in `headway.train`."]
    for entry in registry.entries("tasks").values():
        f = entry.facts
        uses = ", ".join(f"`{use}`" for use in f["uses"])
        facts = f"Reads {f['reads']}, gives {f['gives']}; default model `{f['model']}`; serves {uses}."
        parts += [f"## {entry.name}", names(entry), prose(entry.doc), facts]
        parts += [described(thing_of(entry, "Data").arguments, "option"), "Figures of a validation:", figures(entry)]
    parts.append(
        "## The task protocol\n\nWhat a class owes to be a task; see [the house](../design.md#the-task-protocol)."
    )
    parts += [section(t) for name in ("task.py", "uses.py") for t in shown(PACKAGE / "tasks" / name)]
    return "\n\n".join(part for part in parts if part)


def models() -> str:
    parts = [
        "# Models\n\nAn option is `--model.name` on the command line and `options={'name': ...}` in `headway.train`."
    ]
    for entry in registry.entries("models").values():
        thing = thing_of(entry)
        sizes = [a for a in thing.arguments if a.name != "config"]
        does = f"Reads {' or '.join(entry.facts['reads'])}, gives {' or '.join(entry.facts['gives'])}."
        reads = f"{does} `{thing.module}.{thing.name}`"
        parts += [
            f"## {entry.name}",
            names(entry),
            prose(thing.doc),
            reads,
            described(thing_of(entry, "Config").arguments, "option"),
        ]
        parts += ["Sizes, which the task knows, or which are given to `headway.model`:", described(sizes, "size")]
    return "\n\n".join(part for part in parts if part)


def layers() -> str:
    parts = [f"# Layers\n\n{AXES}"]
    folders = [
        PACKAGE / "layers",
        *sorted(p for p in (PACKAGE / "layers").iterdir() if p.is_dir() and p.name[0] != "_"),
    ]
    for folder in folders[1:] + folders[:1]:
        parts.append(f"## {folder.name if folder.name != 'layers' else 'other layers'}")
        parts += [section(t) for path in sorted(folder.glob("[!_]*.py")) for t in shown(path)]
    return "\n\n".join(parts)


def of_files(title: str, about: str, *patterns: str, methods: bool = False) -> Callable[[], str]:
    """A page of what some files show."""

    def page() -> str:
        parts = [f"# {title}\n\n{about}"]
        for path in (p for pattern in patterns for p in sorted(PACKAGE.glob(pattern))):
            if found := shown(path):
                parts.append(f"## {path.relative_to(PACKAGE).as_posix()}")
                parts += [section(t, methods=methods) for t in found]
        return "\n\n".join(parts)

    return page


def errors() -> str:
    doc = ast.get_docstring(ast.parse((PACKAGE / "core" / "errors.py").read_text(encoding="utf-8"))) or ""
    return (
        "# Errors\n\n" + prose(doc) + "\n\n" + "\n\n".join(section(t, 2) for t in shown(PACKAGE / "core" / "errors.py"))
    )


TRAINING = ("tasks/recipe.py", "training/loop.py", "training/schedules.py", "training/optimizers/[!_]*.py", "training/penalties.py")
PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "front_door": ("`headway.train`, `load`, `model`, `check`", front_door),
    "tasks": ("every task: its options, figures and uses; the task protocol", tasks),
    "models": ("every architecture: its options and sizes", models),
    "layers": ("attention, scores, positions, recurrences, convolutions, norms, connections, masks ...", layers),
    "decode": ("greedy, beam search, sampling", of_files("Decoding", "From a model to text.", "decode/[!_]*.py")),
    "evaluate": ("scores with intervals", of_files("Evaluation", "How good a model is.", "evaluate/[!_]*.py")),
    "training": ("recipes, the loop, optimizers, schedules, penalties", of_files("Training", "Recipes and the loop.", *TRAINING)),
    "runs": ("`Run`: what it can do", of_files("Runs", "A run is a directory.", "runs/run.py", methods=True)),
    "errors": ("the tree of errors", errors),
}  # fmt: skip


def index() -> str:
    rows = [(f"[{name.replace('_', ' ')}]({name}.md)", about) for name, (about, _) in PAGES.items()]
    return f"# Reference\n\nMade from the code by `docs/reference.py`. {RULE}\n\n" + table(
        ("page", "what is on it"), rows
    )


def unexplained(page: str) -> list[str]:
    """The rows of a page's tables that say nothing in their last column, each with the heading it stands under."""
    found, heading, head = [], "", ""
    for line in page.split("\n"):
        if line.startswith("#"):
            heading, head = line.lstrip("# "), ""
        elif line.startswith("|"):
            head = head or line
            if head.endswith("| meaning |") and line.endswith("|  |"):
                found.append(f"{heading}: {line.split('|')[1].strip()}")
        else:
            head = ""
    return found


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.md").write_text(index(), encoding="utf-8")
    for name, (_, page) in PAGES.items():
        (folder / f"{name}.md").write_text(page() + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
