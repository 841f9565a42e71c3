"""Progress from the first second: a bar on a terminal, plain lines elsewhere."""

import sys
import time

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


class Progress:
    """Says what happens. `step` may be called as often as there are steps; it prints every few seconds."""

    def __init__(self, quiet: bool = False) -> None:
        self.console = Console(stderr=False, highlight=False, soft_wrap=True)
        self.quiet = quiet
        self.terminal = self.console.is_terminal and not quiet
        self.bar: Bar | None = None
        self.last = 0.0
        self.recent: list[tuple[float, int, float]] = []  # (time, tokens, nats) since the last line

    def say(self, text: str) -> None:
        if not self.quiet:
            try:
                (self.bar.console if self.bar else self.console).print(text, markup=False)
                sys.stdout.flush()
            except BrokenPipeError:  # whoever read the output is gone (`| head`): training goes on without words
                self.quiet = True

    def step(self, step: int, total: int, nats: float, tokens: int) -> None:
        now = time.monotonic()
        self.recent.append((now, tokens, nats))
        self.recent = self.recent[-50:]
        if self.quiet or (now - self.last < (0.5 if self.terminal else 10.0) and step not in (1, total)):
            return
        self.last = now
        span = max(1e-9, now - self.recent[0][0])
        speed = sum(n for _, n, _ in self.recent[1:]) / span
        loss = sum(x for _, _, x in self.recent) / len(self.recent)
        left = clock((total - step) * span / max(1, len(self.recent) - 1)) if len(self.recent) > 1 else "?"
        text = f"loss {loss:.3f} nats  {speed:,.0f} tokens/s  {left} left"
        if self.terminal:
            if self.bar is None:
                self.bar = Bar(
                    TextColumn("step {task.completed:,.0f}/{task.total:,.0f}"),
                    BarColumn(),
                    TimeElapsedColumn(),
                    TextColumn("{task.description}"),
                    console=self.console,
                )
                self.bar.start()
                self.bar.add_task("", total=total)
            self.bar.update(self.bar.task_ids[0], completed=step, total=total, description=text)
        else:
            self.say(f"step {step:,}/{total:,}  {text}")

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
            self.bar = None
