"""The perceptron in whole numbers: its path, the states that any order can reach, and when it comes back."""

from dataclasses import dataclass

import numpy as np

State = tuple[int, ...]


@dataclass(frozen=True)
class PerceptronWalk:
    """The weights after each update, the weights at the end of each epoch, the updates in each epoch, the least mistakes seen so far."""

    states: list[State]
    ends: list[State]
    updates: np.ndarray
    pocket: np.ndarray


def mistakes(w: State, z: np.ndarray) -> int:
    """How many rows have wᵀz <= 0."""
    return int(np.sum(z @ w <= 0))


def walk(z: np.ndarray, orders: np.ndarray) -> PerceptronWalk:
    """The perceptron from 0, one epoch for each row of `orders`, which names rows of z; its pocket keeps the best weights."""
    rows, w = [tuple(map(int, row)) for row in z], (0,) * z.shape[1]
    known: dict[State, int] = {}
    states, ends, updates, pocket, best = [w], [], [], [], mistakes(w, z)
    for order in orders.tolist():
        made = 0
        for i in order:
            if sum(a * b for a, b in zip(w, rows[i], strict=True)) <= 0:
                w = tuple(a + b for a, b in zip(w, rows[i], strict=True))
                states.append(w)
                made += 1
                if w not in known:
                    known[w] = mistakes(w, z)
                best = min(best, known[w])
        ends.append(w)
        updates.append(made)
        pocket.append(best)
    return PerceptronWalk(states, ends, np.array(updates), np.array(pocket))


def reachable(z: np.ndarray, most: int) -> dict[State, int]:
    """Every state that some order of updates leads to from 0, with its number of mistakes; more than `most` are not searched for."""
    start = (0,) * z.shape[1]
    found, queue = {start: mistakes(start, z)}, [start]
    while queue and len(found) <= most:
        w = np.array(queue.pop())
        for row in z[z @ w <= 0]:
            there = tuple(map(int, w + row))
            if there not in found:
                found[there] = mistakes(there, z)
                queue.append(there)
    return found


def cycle(ends: list[State]) -> tuple[int, int]:
    """The epoch after which the weights come back for the first time, and the period; period 0 if they never do."""
    seen: dict[State, int] = {}
    for i, w in enumerate(ends):
        if w in seen:
            return seen[w] + 1, i - seen[w]
        seen[w] = i
    return len(ends), 0


def norms(states: list[State]) -> np.ndarray:
    return np.linalg.norm(np.array(states, dtype=float), axis=1)
