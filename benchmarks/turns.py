"""Several systems measured fairly: each in a process of its own, taking turns, so that what else the machine does meets all alike."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from statistics import median

Systems = Mapping[str, Callable[[], Callable[[], object]]]  # name -> what prepares the system and returns one call of it


def serve(systems: Systems, name: str, clock: Callable[[], float] = time.perf_counter) -> None:
    """One system in this process: for every line that comes in, time three calls and print the seconds of the fastest.

    `time.process_time` as the clock counts what the processor did for this process alone: of a system with one thread,
    it is the time on a machine where nothing else runs.
    """
    call = systems[name]()
    call()
    print("ready", flush=True)
    for _ in sys.stdin:
        times = []
        for _ in range(3):
            began = clock()
            call()
            times.append(clock() - began)
        print(min(times), flush=True)


def take_turns(script: str, systems: Systems, rounds: int, more: tuple[str, ...] = ()) -> dict[str, float]:
    """The median over rounds of each system's seconds. `script --worker NAME`, and more words, must call `serve`."""
    processes = {}
    for name in systems:
        command = [sys.executable, script, "--worker", name, *more]
        processes[name] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while processes[name].stdout.readline().strip() != "ready":  # type: ignore[union-attr]
            if processes[name].poll() is not None:
                raise SystemExit(f"{name} did not start")
    found: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, process in processes.items():
            process.stdin.write("go\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            found[name].append(float(process.stdout.readline()))  # type: ignore[union-attr]
    for process in processes.values():
        process.stdin.close()  # type: ignore[union-attr]
    return {name: median(times) for name, times in found.items()}
