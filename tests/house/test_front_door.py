"""The front door as a person sees it: typed under mypy, complete after `import headway`, light to import."""

import subprocess
import sys
from pathlib import Path

import headway

ROOT = Path(headway.__file__).resolve().parent.parent

PROGRAM = """
import headway
from torch import nn


class Mine(nn.Module): ...


run = headway.train("translation", source="a.en", target="a.de", minutes=10, out="runs/mine")
reveal_type(run)
reveal_type(headway.load("runs/mine"))
reveal_type(run.translate("one"))
reveal_type(run.translate(["one", "two"]))
reveal_type(run.classify("one"))
reveal_type(run.evaluate(source="t.en", target="t.de").scores[0].value)
reveal_type(run.attention("one")[0][0].weights)
reveal_type(run.generate("a"))
reveal_type(headway.model("gpt", vocabulary=65, width=128, mixer=Mine))
reveal_type(headway.check(Mine).ok)
reveal_type(headway.lab.run("cover-count", n=3, s=8))
reveal_type(headway.Recipe("translation", 3).training.rate)
headway.train("translation", source="a.en")
headway.lod("runs/mine")
"""
REVEALED = [
    "headway.runs.run.Run",
    "headway.runs.run.Run",
    "str",
    "list[str]",
    "headway.tasks.uses.Classified",
    "float",
    "ndarray",
    "str",
    "torch.nn.modules.module.Module",
    "bool",
    "headway.lab.result.Result",
    "float | None",
]


def test_types_as_a_person_sees_them(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\npython_version = 3.11\nfollow_imports = silent\nignore_missing_imports = True\n"
    )
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        str(tmp_path / "mypy.ini"),
        "--cache-dir",
        str(ROOT / ".mypy_cache" / "front_door"),
    ]
    done = subprocess.run([*command, str(tmp_path / "program.py")], capture_output=True, text=True, cwd=ROOT)
    notes = [
        line.partition("Revealed type is ")[2].strip('"')
        for line in done.stdout.splitlines()
        if "Revealed type" in line
    ]
    assert len(notes) == len(REVEALED), done.stdout + done.stderr
    for found, expected in zip(notes, REVEALED, strict=True):
        assert expected in found and ("Any" not in found or "ndarray" in found), done.stdout
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert (
        len(errors) == 2
        and 'Missing named argument "out"' in errors[0]
        and 'no attribute "lod"' in errors[1].replace("Module has", "")
    ), errors


def test_what_the_docstring_names_is_there() -> None:
    for name in (*headway.__all__, "core", "models", "inspect", "report"):
        assert getattr(headway, name) is not None and name in dir(headway)
    for function in (headway.train, headway.load, headway.model, headway.check):
        assert function.__doc__ and callable(function)


def test_python_dash_m() -> None:
    done = subprocess.run([sys.executable, "-m", "headway", "--version"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and done.stdout == f"headway {headway.__version__}\n"
