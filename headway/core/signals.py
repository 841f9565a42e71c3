"""Signals that ask a program to end: Ctrl-C (SIGINT), a scheduler or a shutdown (SIGTERM), a terminal that is closed (SIGHUP)."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

ASKING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_received: list[int] = []


@contextlib.contextmanager
def answered(answer: Callable[[], None]) -> Iterator[None]:
    """Call `answer` when such a signal comes, instead of ending at once. One that is ignored (`nohup`) stays ignored.

    Signals can be handled in the main thread alone: elsewhere nothing changes.
    """

    def note(number: int, _: object) -> None:
        _received.append(number)
        answer()

    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in ASKING if main}
    try:
        for number, handler in before.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, note)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_code() -> int:
    """What a program returns that was asked to end: 128 and the number of the signal; that of Ctrl-C if none was noted."""
    return 128 + (_received[-1] if _received else signal.SIGINT)
