"""The plan of the house, read off the syntax trees: imports point one way, names are kept, nothing can run code from a file."""

import ast
import builtins
import dataclasses
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import headway
from headway.core import registry
from headway.core.entries import Entry

ROOT = Path(headway.__file__).resolve().parent
FILES = sorted(path for path in ROOT.rglob("*.py"))

# Lower floors know nothing of higher ones; rooms of one floor know nothing of each other.
FLOORS = [
    {"core"}, {"data", "layers"}, {"models"}, {"decode"}, {"evaluate"}, {"contracts"}, {"tasks"}, {"training"},
    {"runs"}, {"inspect"}, {"report"}, {"probe"},
    {"compare", "export"}, {"recipes", "reproduce"}, {"course"}, {"verbs", "studio"}, {"cli", "sklearn"},
]  # fmt: skip
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
SEEN_BY_LAB = {"core", "data", "layers", "models", "evaluate", "training", "inspect", "report", "lab"}
ENTRY_ROOMS = [
    room
    for room, place in registry.ROOMS.items()
    if place == "models" or (place.startswith("layers") and place[-3:] != ".py")
]
HEAVY = ("torch", "numpy", "matplotlib")


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of every import, also inside functions. `from headway.x import y` may import the module headway.x.y."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: a relative import; write the whole name"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def allowed(importer: str, imported: str) -> bool:
    if importer == imported:
        return True
    if importer == "lab":
        return imported in SEEN_BY_LAB
    if imported == "lab":
        return importer in ("course", "probe", "verbs", "cli", "studio")
    return FLOOR[imported] < FLOOR[importer]


def test_imports_point_one_way() -> None:
    wrong = []
    for path in FILES:
        importer = room_of(path)
        if path in (ROOT / "__init__.py", ROOT / "__main__.py"):
            continue  # the front door sees all rooms
        assert importer in FLOOR or importer == "lab", (
            f"{path}: a room that is not in the plan; give it a floor in {__file__}"
        )
        for line, name in imports(path):
            parts = name.split(".")
            if (
                parts[0] == "headway"
                and len(parts) > 1
                and parts[1] in (*FLOOR, "lab")
                and not allowed(importer, parts[1])
            ):
                wrong.append(f"{path.relative_to(ROOT.parent)}:{line}: {importer} imports {parts[1]} ({name})")
    assert not wrong, "arrows that point the wrong way:\n" + "\n".join(wrong)


TASKS = sorted(registry.entries("tasks"))


KEYS = ("columns.py", "picture_arrays.py")  # `translation` is also a key of JSON rows, `images` an array of `.npz` files
# Names that are ordinary words: elsewhere they name a role, a mark of a plot, an argument. They count where the line is about tasks.
WORDS = ("detection", "graphs", "images", "language", "masked", "points", "preferences", "reward", "sets", "spans", "table", "tagging")


def test_no_room_but_tasks_knows_a_task_by_name() -> None:
    """Everything else asks the task. The front door's and the verbs' help may give examples in text, never as a value of its own."""
    wrong = []
    for path in FILES:
        if room_of(path) in ("tasks", "recipes", "reproduce", "sklearn", "lab") or path.name in KEYS:
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and node.value in TASKS:
                if node.value in WORDS and "task" not in lines[node.lineno - 1]:
                    continue
                wrong.append(f"{path.relative_to(ROOT.parent)}:{node.lineno}: `{node.value}`")
    assert not wrong, "\n".join(wrong)


def test_signatures_of_the_upper_rooms_say_what_they_take() -> None:
    """No `Any` in a signature of tasks, training and runs: the protocol is typed."""
    wrong = []
    for path in (p for p in FILES if room_of(p) in ("tasks", "training", "runs")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                every = [*node.args.args, *node.args.kwonlyargs, *filter(None, (node.args.vararg, node.args.kwarg))]
                notes = [a.annotation for a in every if a.annotation] + ([node.returns] if node.returns else [])
                if any(isinstance(n, ast.Name) and n.id == "Any" for note in notes for n in ast.walk(note)):
                    wrong.append(f"{path.relative_to(ROOT.parent)}:{node.lineno}: {node.name}")
    assert not wrong, "\n".join(wrong)


def test_core_knows_no_upper_room() -> None:
    """Not by import (above), and not by name either."""
    rooms = set(FLOOR) - {"core"} | {"lab"}
    wrong = []
    for path in (p for p in FILES if room_of(p) == "core"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in rooms - {"inspect", "models", "layers"}:
                wrong.append(f"{path.name}:{node.lineno}: {node.value!r}")
    assert not wrong, "\n".join(wrong)


def test_every_task_fulfils_the_protocol() -> None:
    for name in TASKS:
        entry = registry.get("tasks", name)
        kind, data = entry.load(), entry.module.Data
        fields = {f.name for f in dataclasses.fields(data)}
        assert data.__dataclass_params__.frozen and data() == data()
        assert set(kind.files) <= fields and set(kind.tested) <= fields and kind.model in registry.entries("models")
        assert kind.figures and kind.columns and kind.uses and kind.unit and kind.loss_unit
        assert not [o.name for o in entry.options if not o.meaning], "every option of a task has a meaning"


def test_a_wrong_arrow_would_be_noticed() -> None:
    assert (
        allowed("tasks", "decode")
        and allowed("training", "tasks")
        and allowed("lab", "models")
        and allowed("cli", "recipes")
    )
    assert (
        not allowed("layers", "models")
        and not allowed("runs", "report")
        and not allowed("tasks", "training")
        and not allowed("data", "layers")
        and not allowed("decode", "evaluate")
    )
    assert not allowed("training", "lab") and not allowed("lab", "tasks") and not allowed("core", "data")


def test_no_room_for_what_has_no_name() -> None:
    banned = {"utils", "util", "helpers", "helper", "common", "misc", "base"}
    for root in (ROOT, ROOT.parent / "tests"):
        paths = [path for path in root.rglob("*") if "__pycache__" not in path.parts]
        assert not [path for path in paths if banned & set(path.relative_to(root).with_suffix("").parts)]


def test_nothing_can_run_code_from_a_file() -> None:
    wrong = []
    for path in FILES:
        where = path.relative_to(ROOT.parent)
        for line, name in imports(path):
            if name.split(".")[0] in {
                "pickle",
                "cPickle",
                "dill",
                "cloudpickle",
                "joblib",
                "marshal",
                "shelve",
                "yaml",
            }:
                wrong.append(f"{where}:{line}: imports {name}")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in {
                    "exec",
                    "eval",
                    "compile",
                    "__import__",
                    "torch.load",
                    "torch.save",
                    "np.load",
                    "numpy.load",
                }:
                    wrong.append(f"{where}:{node.lineno}: calls {called}")
    assert not wrong, "\n".join(wrong)


def test_every_name_is_defined() -> None:
    """ruff and mypy are told not to look for undefined names, because the axes in annotations look like some; so this looks."""
    wrong = []
    for path in FILES:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        used = {n.id: n.lineno for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        bound |= {a.asname or a.name.split(".")[0] for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names}
        bound |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs) and n.name}
        bound |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        known = bound | set(dir(builtins)) | {"__file__"}
        wrong += [f"{path.relative_to(ROOT)}:{line}: {name}" for name, line in used.items() if name not in known]
    assert not wrong, wrong


def test_input_is_never_asserted() -> None:
    """`python -O` removes assertions; what a person gives is checked with errors that say what to do."""
    found = [
        f"{path.relative_to(ROOT.parent)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert)
    ]
    assert not found


def test_files_are_short() -> None:
    long = {
        str(p.relative_to(ROOT.parent)): n
        for p in FILES
        if (n := len(p.read_text(encoding="utf-8").splitlines())) > 300
    }
    assert not long, f"longer than 300 lines, so probably two concepts: {long}"


LIGHT = ["headway", *sorted(f"headway.core.{p.stem}" for p in (ROOT / "core").glob("[!_]*.py"))]
LIGHT += ["headway.cli"] if (ROOT / "cli.py").exists() else []


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = f"import importlib, sys\nfor name in {LIGHT}:\n    importlib.import_module(name)\n"
    code += f"print([name for name in {HEAVY} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT.parent, timeout=60)
    assert out.stdout.strip() == "[]", f"{LIGHT} import {out.stdout}{out.stderr}"


@pytest.mark.parametrize("room", ENTRY_ROOMS)
def test_every_entry_says_what_it_is_and_whose_idea(room: str) -> None:
    assert registry.entries(room)
    for entry in registry.entries(room).values():
        assert entry.aliases, (
            f"`{entry.name}` is listed in `{room}`, but no lecture knows it by a name: is it an entry?"
        )
        source = re.search(r"https://(arxiv\.org/abs/\d{4}\.\d{4,5}|doi\.org/10\.)", entry.doc)
        assert source or re.search(r" = |~|->", entry.doc), f"`{entry.name}` has neither an equation nor a source"
        assert entry.summary.strip() and len(entry.summary) < 160


@pytest.mark.parametrize("room", ENTRY_ROOMS)
def test_one_name_in_three_places(room: str) -> None:
    for name, entry in registry.entries(room).items():
        assert entry.path.stem == name and re.sub(r"[^a-z0-9]", "", entry.class_name.lower()) == name.replace("_", "")
        assert entry.load().__name__ == entry.class_name and registry.get(room, name) is entry
    stems = {p.stem for p in (ROOT / registry.ROOMS[room]).glob("[!_]*.py")}
    assert set(registry.entries(room)) <= stems


@pytest.mark.parametrize("entry", registry.entries("models").values(), ids=lambda e: e.name)
def test_every_model_has_options_and_says_what_they_mean(entry: Entry) -> None:
    assert entry.options, f"`{entry.name}` has no `Config`"
    assert not [o.name for o in entry.options if not o.meaning]
