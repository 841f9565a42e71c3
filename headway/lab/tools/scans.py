"""Prefix scans of an associative operator, written out for any numbers, fractions too: values, rounds and applications."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Operator = Callable[[Item, Item], Item]  # earlier, later


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
