"""A mixer and a model of one's own, in a file outside of the package: made, checked, trained, loaded, announced."""

import importlib.metadata
import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest
import torch

import headway
from headway.cli import main
from headway.core import registry
from headway.core.errors import UnknownName, UsageError

PAGE = Path(headway.__file__).resolve().parent.parent / "docs" / "own_layers.md"
SIZES: dict[str, Any] = {"vocabulary": 13, "width": 22, "depth": 1, "heads": 2, "inner": 17}
SMALL = "--model.width 32 --model.depth 1 --training.batch 128 --tokens characters --steps 2 --quiet".split()
MORE = '''

from dataclasses import dataclass

from headway.layers.recurrences.lstm import LSTM
from headway.models import gpt


class Inherited(LSTM):
    """A mixer that declares nothing itself."""


class Plain(Leaky):
    """A mixer without annotations."""

    def __init__(self, inputs, width, slowest=4.0):
        super().__init__(inputs, width, slowest)


@dataclass(frozen=True)
class Config(gpt.Config):
    mixer: str = "leaky_layers:Leaky"
    depth: int = 3


class Own(gpt.GPT):
    """A language model whose default mixer is the one above."""
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The example of the page, in a file of a folder on the path."""
    (example,) = re.findall(r"```python\n(.*?class Leaky.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "leaky_layers.py").write_text(example + MORE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import leaky_layers  # type: ignore[import-not-found]

    yield leaky_layers
    sys.modules.pop("leaky_layers", None)
    registry._objects.clear()


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_text("".join(f"{n} cats sat on {n + 1} mats; the dog did not.\n" for n in range(150)), encoding="utf-8")
    return path


def test_the_page_runs(module: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _, use = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(use, names)
    assert capsys.readouterr().out.endswith("all 16 contracts hold\n")
    assert names["model"].blocks[1].mixer.rate.max() == 4.0 and names["encoder"].config.options == {"slowest": 3.0}


@pytest.mark.parametrize("name", ["Leaky", "Inherited", "Own"])
def test_the_contracts_hold(module: Any, name: str) -> None:
    assert headway.check(f"leaky_layers:{name}").ok and headway.check(getattr(module, name)).ok


def test_an_object_stands_where_a_name_may(module: Any) -> None:
    net: Any = headway.model("gpt", mixer=module.Leaky, **SIZES)
    assert type(net.blocks[0].mixer) is module.Leaky and net.config.mixer == "leaky_layers:Leaky"
    assert net.logits(net(torch.zeros(2, 5, dtype=torch.long))).shape == (2, 5, 13)
    ways: list[tuple[Any, dict[str, Any]]] = [(module.Leaky, {}), ("leaky_layers:Leaky", {}), (module.Plain, {})]
    for name, more in (*ways, ("gpt", {"mixer": module.Leaky}), ("gpt", {"mixer": "leaky_layers:Plain"})):
        net = headway.model(name, slowest=1.5, **more, **SIZES)
        assert net.config.options == {"slowest": 1.5} and net.blocks[0].mixer.rate.max() == 1.5
    net = headway.model(module.Inherited, **SIZES)
    assert type(net.blocks[0].mixer) is module.Inherited
    encoder: Any = headway.model("encoder", mixer=module.Leaky, outputs=3, **SIZES)
    assert type(encoder.blocks[0].mixer.back) is module.Leaky, "it reads from both ends"
    with pytest.raises(
        UnknownName, match=r"unknown option of `gpt`: `--model.slowes`\nHint: did you mean `--model.slowest`"
    ):
        headway.model("gpt", mixer=module.Leaky, slowes=1.5, **SIZES)


@pytest.mark.parametrize("by_name", [True, False])
def test_a_model_has_the_options_of_its_configuration(module: Any, by_name: bool) -> None:
    net: Any = headway.model(
        "leaky_layers:Own" if by_name else module.Own, vocabulary=13, width=22, heads=2, inner=17, norm="rms_norm"
    )
    assert type(net) is module.Own and len(net.blocks) == 3 and net.config.norm == "rms_norm"
    assert type(net.blocks[0].mixer) is module.Leaky


@pytest.mark.parametrize("name", ["Leaky", "Inherited", "Own"])
def test_training_from_the_command_line(
    module: Any, name: str, story: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert (
        main(["train", "language", "--text", str(story), "--model", f"leaky_layers:{name}", *SMALL, "--out", str(out)])
        == 0
    )
    run: Any = headway.load(out)
    assert type(run.model if name == "Own" else run.model.blocks[0].mixer) is getattr(module, name)
    assert (
        main(["generate", str(out), "--prompt", "7 cats", "--length", "5"]) == 0 and "7 cats" in capsys.readouterr().out
    )


def test_options_from_the_command_line(
    module: Any, story: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "language", "--text", str(story), "--model", "leaky_layers:Leaky", *SMALL]
    assert main([*words, "--model.slowest", "2.5", "--out", str(tmp_path / "run")]) == 0
    assert json.loads((tmp_path / "run" / "plan.json").read_text(encoding="utf-8"))
    assert headway.load(tmp_path / "run").model.config.options == {"slowest": 2.5}  # type: ignore[union-attr]
    assert main([*words, "--model.slowes", "2.5", "--out", str(tmp_path / "other")]) == 2
    assert "did you mean `--model.slowest`?" in capsys.readouterr().err


def test_a_run_whose_code_is_gone_is_explained(module: Any, story: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert (
        main(["train", "language", "--text", str(story), "--model", "leaky_layers:Leaky", *SMALL, "--out", str(out)])
        == 0
    )
    (tmp_path / "leaky_layers.py").unlink()
    del sys.modules["leaky_layers"]
    with pytest.raises(UsageError, match="there is no module `leaky_layers`\nHint: is its package installed"):
        _ = headway.load(out).model


def test_an_installed_package_announces_its_layers(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    points = EntryPoints(
        [
            EntryPoint("leaky", "leaky_layers:Leaky", "headway.recurrences"),
            EntryPoint("gru", "leaky_layers:Leaky", "headway.recurrences"),  # in place of ours
            EntryPoint("own", "leaky_layers:Own", "headway.models"),
            EntryPoint("other", "leaky_layers:Own", "somebody.else"),
        ]
    )
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda: points)
    caches = (registry._announced, registry.entries)
    for cache in caches:
        cache.cache_clear()
    try:
        assert "leaky" in registry.mixers() and "own" in registry.entries("models") and "other" not in registry.mixers()
        assert registry.mixer("leaky").load() is registry.mixer("gru").load() is module.Leaky
        assert registry.get("recurrences", "gru").load() is module.Leaky
        net: Any = headway.model("leaky", slowest=2.0, **SIZES)
        assert type(net.blocks[0].mixer) is module.Leaky and net.config.mixer == "leaky"
        assert type(headway.model("own", vocabulary=13, width=22, heads=2, inner=17)) is module.Own
        assert headway.check("leaky").ok
    finally:
        monkeypatch.undo()
        for cache in caches:
            cache.cache_clear()
    assert "leaky" not in registry.mixers()
