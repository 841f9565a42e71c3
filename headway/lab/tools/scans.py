"""Prefix scans of an associative operator, written out for any numbers, fractions too: values, rounds and applications."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
Operator = Callable[[Item, Item], Item]  # earlier, later
Pair = tuple[Fraction, Fraction]  # z -> a z + b
UNIT = Fraction(1), Fraction(0)


def compose(first: Pair, second: Pair) -> Pair:
    """z -> a z + b, one after the other."""
    return second[0] * first[0], second[0] * first[1] + second[1]


def loop(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """z_t = a_t z_{t-1} + b_t from z = 0, along the first axis."""
    found = [b[0]]
    for t in range(1, len(b)):
        found.append(a[t] * found[-1] + b[t])
    return np.array(found)


def hillis_steele(items: Sequence[Item], op: Operator[Item]) -> tuple[list[Item], int, int]:
    """All prefixes, rounds and applications: in round k everybody takes in who stands 2^k places before (1986)."""
    found, rounds, work, reach = list(items), 0, 0, 1
    while reach < len(found):
        found = [op(found[i - reach], found[i]) if i >= reach else found[i] for i in range(len(found))]
        work += len(found) - reach
        rounds, reach = rounds + 1, 2 * reach
    return found, rounds, work


def blelloch(items: Sequence[Item], op: Operator[Item], unit: Item) -> tuple[list[Item], int, int]:
    """The same with O(n) applications: up a tree of sums and down again (1990), which gives each item all before it.

    The last line, which adds the item itself, is one more round of n applications that are not counted.
    """
    size = 1 << max(len(items) - 1, 0).bit_length()
    tree, rounds, work = [*items, *[unit] * (size - len(items))], 0, 0
    step = 1
    while step < size:
        for i in range(2 * step - 1, size, 2 * step):
            tree[i] = op(tree[i - step], tree[i])
            work += 1
        rounds, step = rounds + 1, 2 * step
    tree[-1] = unit
    while step > 1:
        step //= 2
        for i in range(2 * step - 1, size, 2 * step):
            tree[i - step], tree[i] = tree[i], op(tree[i], tree[i - step])
            work += 1
        rounds += 1
    return [op(before, item) for before, item in zip(tree, items, strict=False)], rounds, work
