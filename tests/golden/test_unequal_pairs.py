"""Two files of pairs with different numbers of lines: where they drift apart is named."""

from pathlib import Path

import pytest
from pair_files import refused, write

from headway.data.grammar.corpus import generate

SHORT = "the cat sat near a warm old stove while it rained outside all day and nobody came home before nine"


def sentences(count: int) -> list[str]:
    """Lines of very different lengths, the same every time."""
    return [" ".join(SHORT.split()[: 1 + (i * i * 7 + i * 3) % 19]) + f" {i}" for i in range(count)]


@pytest.mark.parametrize("missing", ["source", "target"])
def test_unequal_files_name_the_place(tmp_path: Path, missing: str) -> None:
    sides = {"source": sentences(200), "target": [line.upper() for line in sentences(200)]}
    del sides[missing][120]
    paths = {name: write(tmp_path / f"a.{name}", "\n".join(lines) + "\n") for name, lines in sides.items()}
    message = refused(
        "has 199",
        "200",
        "drift apart near line 121",
        hint="sed -n 116,126p",
        source=paths["source"],
        target=paths["target"],
    )
    assert sides["source"][120] in message
    assert sides["target"][120] in message


def test_unequal_files_where_several_lines_are_missing_name_the_first_place(tmp_path: Path) -> None:
    source, target = sentences(300), sentences(300)
    for place in (250, 140, 61):
        del target[place]
    refused(
        "near line 62",
        hint="paste",
        source=write(tmp_path / "a", "\n".join(source)),
        target=write(tmp_path / "b", "\n".join(target)),
    )


def test_unequal_files_with_extra_lines_at_the_end(tmp_path: Path) -> None:
    lines = "\n".join(sentences(50)) + "\n"
    plain, blank, more = (
        write(tmp_path / name, text) for name, text in (("a", lines), ("b", lines + "\n \n"), ("c", lines + "more\n"))
    )
    refused(
        "a` has 50 lines and", "b` has 52", "at the end of", "are empty", hint="head -n 50", source=plain, target=blank
    )
    refused("the first 50 lines seem to fit, then", "a` ends early", hint="cut short", source=plain, target=more)


@pytest.mark.parametrize("start", range(0, 1000, 125))
@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_file_that_ends_early_is_not_called_a_drift(tmp_path: Path, start: int, cut: int) -> None:
    """With 20 of 120 lines cut off, some shift always fits the last lines better than their true partners do."""
    rows = generate(start + 120, "train", seed=3)[start:]
    source = write(tmp_path / "a", "\n".join(row.source for row in rows))
    target = write(tmp_path / "b", "\n".join(row.target for row in rows[:-cut]))
    message = refused(
        f"the first {120 - cut} lines seem to fit, then", "b` ends early", hint="head", source=source, target=target
    )
    assert "drift" not in message
