"""How torch's threads wait for each other beside programs that began to compute later than this one.

They wait by spinning, which is fast on a machine that is ours alone; beside another program they spin against it and against each other.
How long they spin is decided when torch is loaded (`headway/__init__.py`). But libgomp, whose threads they are, spins hardly at all while
it has more threads than there are cores. So a second group of threads, which only sleeps, ends the spinning of the first, and when it
is sent away they spin again. An operation is cut into as many parts as before: no bit of a result changes, as it would with fewer threads.
"""

import threading
import time
from pathlib import Path
from typing import Self

from headway.core.machine import ROOT

EVERY = 2.0  # seconds from one look to the next
MANY = 0.1  # share of the time that a thread waits for a core, above which the threads stop spinning
FEW = 0.02  # and below which they spin again
ENOUGH = 1 << 17  # numbers that an operation must have for torch to cut it into parts


class Waiting:
    """Looks from time to time how long our threads waited for a core, and lets them spin or not.

    with Waiting() as waiting:
        for step in ...:
            waiting.look()

    root   where `/proc` is
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.sleepers: threading.Thread | None = None
        self.sent_away = threading.Event()

    def __enter__(self) -> Self:
        self.looked, self.waited = time.monotonic(), self.seconds()
        return self

    def __exit__(self, *_: object) -> None:
        self.spin()

    def seconds(self) -> dict[str, float]:
        """What each thread of this process has waited for a core so far; empty where the system does not say."""
        found = {}
        for task in (self.root / "proc/self/task").glob("*/schedstat"):
            try:
                _ran, waited, _times = task.read_text().split()  # nanoseconds, nanoseconds, how often it got a core
                found[task.parent.name] = int(waited) / 1e9
            except (OSError, ValueError):  # it ended meanwhile
                continue
        return found

    def look(self) -> None:
        """Every few seconds: end the spinning, or let it begin again."""
        passed = time.monotonic() - self.looked
        if passed >= EVERY:
            before, self.waited = self.waited, self.seconds()
            self.looked += passed
            waited = [now - before[task] for task, now in self.waited.items() if task in before]
            self.decide(max(waited, default=0.0) / passed)

    def decide(self, share: float) -> None:
        """share   of the time that passed, in which the thread that waited longest waited"""
        if share > MANY and self.sleepers is None:
            self.calm()
        elif share < FEW:
            self.spin()

    def calm(self) -> None:
        """Bring the second group of threads. It does one operation, so that libgomp makes its threads, and sleeps."""
        import torch

        threads, ready = torch.get_num_threads(), threading.Event()
        if threads == 1:
            return

        def sleep() -> None:
            try:
                torch.ones(threads * ENOUGH).mul_(1.0)
            finally:  # also if the memory was refused: somebody waits
                ready.set()
            self.sent_away.wait()

        self.sent_away.clear()
        self.sleepers = threading.Thread(target=sleep, daemon=True)
        self.sleepers.start()
        ready.wait()

    def spin(self) -> None:
        """Send the second group away."""
        if self.sleepers is not None:
            self.sent_away.set()
            self.sleepers.join()
            self.sleepers = None
