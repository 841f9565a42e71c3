"""Progress from the first second: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

WIDTH = 100  # characters of a sample


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."


def sample_lines(row: Sequence[str], columns: Sequence[str], shorten: Callable[[str], str]) -> list[str]:
    """What went in, what came out, and what else the columns hold if it differs from what came out."""
    lines = [f"  {shorten(row[0])}", *(f"  -> {shorten(text)}" for text in row[1:2])]
    rest = zip(columns[2:], row[2:], strict=False)
    return lines + [f"     {name}: {shorten(text)}" for name, text in rest if text and text != row[1]]


class Screen(Console):
    """rich's console, which would end the whole program if the reader of its output is gone (`headway train ... | head`)."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class Progress:
    """Reports what happens. `step` may be called as often as there are steps; it prints every few seconds.

    `loss_unit` and `unit` are the task's: nats per token, tokens.
    """

    def __init__(self, quiet: bool = False, loss_unit: str = "", unit: str = "") -> None:
        self.console = Screen(stderr=False, highlight=False, soft_wrap=True, emoji=False)
        self.quiet, self.loss_unit, self.unit = quiet, loss_unit, unit
        self.terminal = self.console.is_terminal and not quiet
        self.bar: Bar | None = None
        self.last = 0.0
        self.recent: list[tuple[float, int, float]] = []  # (time, units, loss) since the last line

    def say(self, text: str) -> None:
        if not self.quiet:
            try:
                (self.bar.console if self.bar else self.console).print(text, markup=False)
                sys.stdout.flush()
            except OSError:  # whoever read the output is gone (`| head`, a closed terminal): go on without words
                self.quiet = True

    def sample(self, row: Sequence[str], columns: Sequence[str]) -> None:
        """One row of samples, each text on one short line."""
        for line in sample_lines(row, columns, one_line):
            self.say(f"  {line}")

    def step(self, step: int, total: int, loss: float, units: int) -> None:
        now = time.monotonic()
        self.recent.append((now, units, loss))
        self.recent = self.recent[-50:]
        if self.quiet or (now - self.last < (0.5 if self.terminal else 10.0) and step not in (1, total)):
            return
        self.last = now
        text = f"loss {sum(x for _, _, x in self.recent) / len(self.recent):.3f} {self.loss_unit}"
        if len(self.recent) > 1:
            span = max(1e-9, now - self.recent[0][0])
            speed = sum(n for _, n, _ in self.recent[1:]) / span
            text += f"  {speed:,.0f} {self.unit}/s  {clock((total - step) * span / (len(self.recent) - 1))} left"
        if self.terminal:
            if self.bar is None:
                columns = (
                    TextColumn("step {task.completed:,.0f}/{task.total:,.0f}"),
                    BarColumn(bar_width=20),
                    TextColumn("{task.description}"),
                )
                self.bar = Bar(*columns, console=self.console)
                self.bar.start()
                self.bar.add_task("", total=total)
            self.bar.update(self.bar.task_ids[0], completed=step, total=total, description=text)
        else:
            self.say(f"step {step:,}/{total:,}  {text}")

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
            self.bar = None


class Countdown:
    """The progress of work whose size is known, with the time that is left by the speed of the last half minute."""

    def __init__(self, unit: str) -> None:
        self.unit, self.terminal = unit, sys.stdout.isatty()
        self.recent: list[tuple[float, int]] = []  # (time, done)
        self.last = 0.0

    def report(self, text: str, done: int, total: int) -> None:
        """`done` of `total`; a `total` of 0: a message."""
        now = time.monotonic()
        if not total:
            print(text, flush=True)
            return
        if done < total and now - self.last < (0.5 if self.terminal else 10.0):
            return
        self.last = now
        self.recent = [*(point for point in self.recent if now - point[0] < 30), (now, done)]
        (begin, before), left = self.recent[0], ""
        if done > before:
            left = f", {clock((total - done) * (now - begin) / (done - before))} left"
        end = "\r" if self.terminal and done < total else "\n"
        print(
            f"{text} {done:,} of {total:,} {self.unit} ({done / total:.0%}){left}",
            end=f"\x1b[K{end}" if self.terminal else end,
            flush=True,
        )
