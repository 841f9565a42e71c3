"""Data for tagging and for questions, made from the project's own grammar and from a few frames."""

import json
import random
from itertools import islice
from pathlib import Path

from headway.data.conll import write_conll
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
