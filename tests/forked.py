"""Processes that train together as torchrun starts them, but forked: torch is imported already, so they begin at once."""

import faulthandler
import gc
import multiprocessing
import os
import socket
import sys
import traceback
from collections.abc import Callable
from multiprocessing.context import ForkProcess
from pathlib import Path

SECONDS = 300  # on a machine that others use as well


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _work(rank: int, count: int, port: int, work: Callable[[], object], folder: Path) -> None:
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count), "TORCHELASTIC_RUN_ID": "test"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / f"{rank}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = (open(n, "w", encoding="utf-8", closefd=False) for n in (1, 2))  # noqa: SIM115
    faulthandler.dump_traceback_later(SECONDS - 20, file=sys.stderr)  # where it hangs, before it is killed
    try:
        code = work() or 0
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code))  # type: ignore[call-overload]


def begin(count: int, work: Callable[[], object], folder: Path) -> list[ForkProcess]:
    """Begin the work in so many processes; each writes its output and its errors into `folder`, as `0.out` and `0.err`."""
    folder.mkdir(parents=True, exist_ok=True)
    fork, port = multiprocessing.get_context("fork"), free_port()
    started = [fork.Process(target=_work, args=(rank, count, port, work, folder)) for rank in range(count)]
    gc.collect()
    gc.freeze()  # a child must not collect what this process has left: a group of torch waits for threads that it has not
    for process in started:
        process.start()
    gc.unfreeze()
    return started


def together(count: int, work: Callable[[], object], folder: Path) -> tuple[list[int | None], list[str], list[str]]:
    """Do the work in so many processes: their exit codes, and what each wrote to its output and to its errors (files in `folder`)."""
    started = begin(count, work, folder)
    for process in started:
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
    texts = [[(folder / f"{rank}.{name}").read_text() for rank in range(count)] for name in ("out", "err")]
    return [process.exitcode for process in started], texts[0], texts[1]
