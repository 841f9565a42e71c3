"""Damage that files suffer: bytes flipped, cut, repeated, inserted; numbers and words exchanged for odd ones; other encodings."""

import random
import re
from collections.abc import Callable

ODD_NUMBERS = [b"-1", b"0", b"1e309", b"nan", b"-inf", b"99999999999999999999", b"1.5", b"0x10", b"", b"null", b"[]", b"{}"]
ODD_BYTES = [b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n\n", b"\t\t", b'"']
ODD_BYTES += [b"'", b"\\", b"<", b"&#0;", b"\xed\xa0\x80", b"\xf0\x9f\x98"]


def flip(data: bytearray, rng: random.Random) -> bytes:
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data[: rng.randrange(len(data))])


def remove(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    return bytes(data[:start] + data[start + rng.choice([1, 2, 7, 100, 5000]) :])


def repeat(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    piece = data[start : start + rng.choice([1, 3, 40, 2000])]
    return bytes(data[:start] + piece * rng.choice([2, 10, 200]) + data[start:])


def insert(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    piece = rng.choice([*ODD_BYTES, rng.randbytes(rng.choice([1, 9, 300])), b"x" * 200_000, b"[" * 20_000])
    return bytes(data[:start] + piece + data[start:])


def odd_number(data: bytearray, rng: random.Random) -> bytes:
    found = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", data))
    if not found:
        return insert(data, rng)
    for match in sorted(rng.sample(found, min(len(found), rng.choice([1, 1, 3]))), key=lambda m: -m.start()):
        data[match.start() : match.end()] = rng.choice(ODD_NUMBERS)
    return bytes(data)


def other_encoding(data: bytearray, rng: random.Random) -> bytes:
    text = bytes(data).decode("utf-8", "replace")
    return text.encode(rng.choice(["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7"]), "replace")


def overwrite(data: bytearray, rng: random.Random) -> bytes:
    """Zeros or noise over a block, as a bad sector leaves them."""
    start, length = rng.randrange(len(data)), rng.choice([4, 64, 4096])
    piece = bytes(length) if rng.random() < 0.5 else rng.randbytes(length)
    return bytes(data[:start] + piece + data[start + length :])


def other_file(data: bytearray, rng: random.Random) -> bytes:
    heads = [b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"<tmx/>", b"a\tb\n", rng.randbytes(500)]
    return rng.choice([*heads, b"", b"\n", b" ", b"{}", b"[]", b"null", b"\0" * 100])


Kind = Callable[[bytearray, random.Random], bytes]
KINDS: tuple[Kind, ...] = (flip, cut, remove, repeat, insert, odd_number, other_encoding, overwrite, other_file)


def damage(data: bytes, rng: random.Random) -> tuple[str, bytes]:
    """The name of a kind of damage, and what is left of the file."""
    kind = rng.choice(KINDS)
    return kind.__name__, kind(bytearray(data), rng)
