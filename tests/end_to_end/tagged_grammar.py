"""Data for tagging and for questions, made from the project's own grammar and from a few frames."""

import json
import random
from itertools import islice
from pathlib import Path

from headway.data.grammar import english
from headway.data.grammar.corpus import derivations
from headway.data.grammar.tree import clauses

ROLES = {"subject": "WHO", "object": "WHAT", "recipient": "WHOM", "place": "WHERE", "time": "WHEN"}


def role_sentences(count: int, split: str = "train", seed: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences of the grammar with the roles of their phrases as BIO tags, read off the addresses of the words.

    Without relative clauses, whose phrases have roles inside a role.
    """
    words, tags = [], []
    plain = (tree for tree, _ in derivations(split, seed) if len(list(clauses(tree))) == 1 + bool(tree.second))
    for tree in islice(plain, count):
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
FRAMES = ("{name} works{place}{day} .", "{name} works{day}{place} .", "Every week {name} works{place}{day} .")
FILLERS = ("The weather is fine .", "Nobody asks why .", "The train is late again .", "All of them are tired .")
ASKED = {"name": "Who works there ?", "place": "Where does {name} work ?", "day": "When does {name} work ?"}


def passages(count: int, seed: int = 1) -> list[dict[str, object]]:
    """Who, where and when: questions about a fact between two fillers. Some passages name no place or no day."""
    draw, rows = random.Random(seed), []
    while len(rows) < count:
        words = {"name": draw.choice(NAMES), "place": draw.choice(PLACES), "day": draw.choice(DAYS)}
        told = {k: v if k == "name" or draw.random() < 0.85 else "" for k, v in words.items()}
        phrases = {"name": told["name"], "place": f" in {told['place']}" * bool(told["place"])}
        fact = draw.choice(FRAMES).format(**phrases, day=f" on {told['day']}" * bool(told["day"]))
        context, kind = f"{draw.choice(FILLERS)} {fact} {draw.choice(FILLERS)}", draw.choice(list(ASKED))
        row: dict[str, object] = {"context": context, "question": ASKED[kind].format(**words), "answer": told[kind]}
        rows.append(row | ({"start": context.index(told[kind])} if told[kind] else {}))
    return rows


def write_rows(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
