"""Small whole files of every kind that a person brings: each function writes one into a folder and returns its path."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

WORDS = "the old man sees a green house and sleeps near the river".split()


def rows(count: int, rng: random.Random) -> list[list[str]]:
    def sentence(words: int) -> str:
        return " ".join(rng.choices(WORDS, k=words))

    return [[sentence(6), sentence(5), f"{rng.uniform(-3, 3):.3f}", rng.choice("abc")] for _ in range(count)]


def table(separator: str) -> Callable[[Path, random.Random], Path]:
    def make(folder: Path, rng: random.Random) -> Path:
        path = folder / ("t.csv" if separator == "," else "t.tsv")
        lines = [["text", "other", "number", "label", "size"], *([*row, f"{rng.random():.3f}"] for row in rows(130, rng))]
        path.write_text("".join(separator.join(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return make


def jsonl(folder: Path, rng: random.Random) -> Path:
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps({"text": a, "number": float(n), "label": c}) + "\n" for a, _, n, c in rows(40, rng)))
    return path


def tmx(folder: Path, rng: random.Random) -> Path:
    unit = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>{}</seg></tuv></tu>\n'
    units = "".join(unit.format(a, b) for a, b, _, _ in rows(30, rng))
    (folder / "m.tmx").write_text(f'<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>{units}</body></tmx>')
    return folder / "m.tmx"


def conll(folder: Path, rng: random.Random) -> Path:
    sentences = ["\n".join(f"{w}\t{rng.choice('NVA')}" for w in a.split()) for a, *_ in rows(30, rng)]
    (folder / "t.conll").write_text("\n\n".join(sentences) + "\n")
    return folder / "t.conll"


def questions(folder: Path, rng: random.Random) -> Path:
    found = [{"context": a, "question": b, "answer": a.split()[2]} for a, b, _, _ in rows(30, rng)]
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    return folder / "q.jsonl"


def preferences(folder: Path, rng: random.Random) -> Path:
    found = [{"prompt": a, "chosen": b, "rejected": c} for a, b, c, _ in rows(30, rng)]
    (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    return folder / "p.jsonl"


def text(folder: Path, rng: random.Random) -> Path:
    (folder / "c.txt").write_text("\n".join(a + ". " + b for a, b, _, _ in rows(80, rng)))
    return folder / "c.txt"


def pictures(suffix: str) -> Callable[[Path, random.Random], Path]:
    def make(folder: Path, rng: random.Random) -> Path:
        noise = np.random.default_rng(rng.randrange(99))
        for label in "ab":
            (folder / "p" / label).mkdir(parents=True, exist_ok=True)
            for i in range(4):
                Image.fromarray(noise.integers(0, 256, (12, 12, 3), dtype=np.uint8)).save(folder / "p" / label / f"{i}{suffix}")
        return folder / "p" / "a" / f"2{suffix}"

    return make


def npz(folder: Path, rng: random.Random) -> Path:
    noise = np.random.default_rng(rng.randrange(99))
    np.savez(folder / "x.npz", x_train=noise.integers(0, 256, (20, 8, 8), dtype=np.uint8), y_train=noise.integers(0, 3, 20))
    return folder / "x.npz"


def idx(folder: Path, rng: random.Random) -> Path:
    noise = np.random.default_rng(rng.randrange(99))
    for name, shape, most in (("train-images-idx3-ubyte", (20, 8, 8), 256), ("train-labels-idx1-ubyte", (20,), 3)):
        head = b"\0\0\x08" + bytes([len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
        (folder / name).write_bytes(head + noise.integers(0, most, shape, dtype=np.uint8).tobytes())
    return folder / "train-images-idx3-ubyte"


def two_texts(folder: Path, rng: random.Random) -> Path:
    """Sentences and their translations, line by line."""
    found = rows(60, rng)
    for name, column in (("a.en", 0), ("a.de", 1)):
        (folder / name).write_text("".join(row[column] + "\n" for row in found))
    return folder / "a.en"


def boxes(folder: Path, rng: random.Random) -> Path:
    """Pictures, and a line for each object in them."""
    noise = np.random.default_rng(rng.randrange(99))
    lines = ["file,class,left,top,right,bottom"]
    for i in range(8):
        Image.fromarray(noise.integers(0, 256, (16, 16, 3), dtype=np.uint8)).save(folder / f"{i}.png")
        lines.append(f"{i}.png,{rng.choice('ab')},{rng.randrange(6)},{rng.randrange(6)},{rng.randrange(8, 16)},{rng.randrange(8, 16)}")
    (folder / "boxes.csv").write_text("\n".join(lines) + "\n")
    return folder / "boxes.csv"


def edges(folder: Path, rng: random.Random) -> Path:
    (folder / "n.csv").write_text("node,x,label\n" + "".join(f"{i},{rng.random():.2f},{rng.choice('ab')}\n" for i in range(30)))
    (folder / "e.csv").write_text("source,target\n" + "".join(f"{rng.randrange(30)},{rng.randrange(30)}\n" for _ in range(60)))
    return folder / "e.csv"
