"""MNIST and the datasets of the same form: four idx files, in the order and by the names that LeCun gave them."""

from collections.abc import Iterator, Mapping

FILES = tuple(f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1"))


def idx_files(members: Iterator[tuple[str, bytes]]) -> Mapping[str, bytes]:
    """The four files, wherever in the archive they are; compressed ones keep their suffix."""
    wanted = {*FILES, *(f"{name}.gz" for name in FILES)}
    return {short: content for name, content in members if (short := name.rpartition("/")[2]) in wanted}
