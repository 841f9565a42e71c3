"""Data for tagging and for questions, made from the project's own grammar and from a few frames."""

import json
import random
from itertools import islice
from pathlib import Path

from headway.data.grammar import english
from headway.data.grammar.corpus import derivations

ROLES = {"subject": "WHO", "object": "WHAT", "recipient": "WHOM", "place": "WHERE", "time": "WHEN"}


def role_sentences(count: int, split: str = "train", seed: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences of the grammar with the roles of their phrases as BIO tags, read off the addresses of the words."""
    words, tags = [], []
    for tree, _ in islice(derivations(split, seed), count):
        tokens, row, before = english.sentence(tree), [], ""
        for _, addresses in tokens:
            found = next((a for a in addresses if len(a.split("/")) > 1 and a.split("/")[1] in ROLES), "")
            phrase = "/".join(found.split("/")[:2])
            name = ROLES[found.split("/")[1]] if found else ""
            row.append(f"{'I' if phrase == before else 'B'}-{name}" if found else "O")
            before = phrase
        words.append([word for word, _ in tokens])
        tags.append(row)
    return words, tags


NAMES = "Anna Bruno Clara David Emma Felix Greta Hugo Ida Jonas Klara Leon Mara Nils Olga Paul".split()
PLACES = "Rome Paris Berlin Madrid Oslo Lisbon Vienna Prague Athens Dublin Warsaw Zurich".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
ASKED = {"who": "Who works in {place} ?", "where": "Where does {name} work ?", "when": "When does {name} work ?"}


def passages(count: int, seed: int = 1, empty: float = 0.1) -> list[dict[str, object]]:
    """Questions about passages of three facts; a share `empty` of them is about a person or place that is not in it."""
    draw, rows = random.Random(seed), []
    while len(rows) < count:
        names, places, days = draw.sample(NAMES, 4), draw.sample(PLACES, 4), draw.choices(DAYS, k=4)
        facts = [f"{n} works in {p} on {d} ." for n, p, d in zip(names[:3], places[:3], days[:3], strict=True)]
        context, kind = " ".join(facts), draw.choice(list(ASKED))
        fact = 3 if draw.random() < empty else draw.randrange(3)
        name, place, day = names[fact], places[fact], days[fact]
        before = len(" ".join(facts[:fact])) + bool(fact)
        start = {
            "who": before,
            "where": before + len(f"{name} works in "),
            "when": before + len(f"{name} works in {place} on "),
        }
        answer = {"who": name, "where": place, "when": day}[kind] if fact < 3 else ""
        row: dict[str, object] = {
            "context": context,
            "question": ASKED[kind].format(name=name, place=place),
            "answer": answer,
        }
        rows.append(row | ({"start": start[kind]} if answer else {}))
    return rows


def write_rows(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
