"""One run of a comparison, in a process of its own: its memory can be measured, and it ends when the comparison does.

A process that is killed (`kill -9`, too little memory) cannot end its children. So the child waits for the end of its
parent in a thread, and then ends itself at once: no run goes on that nobody waits for, and its directory is free again.
"""

import multiprocessing
import multiprocessing.connection
import os
import threading
from multiprocessing.connection import Connection
from pathlib import Path

from headway.core.errors import HeadwayError, RunError
from headway.core.machine import peak_memory
from headway.tasks.names import data_class
from headway.tasks.recipe import Json, Recipe, read_recipe

PATIENCE = 60.0  # seconds for a child that was interrupted, to save what it has
INTERRUPTED = 130


def train_in_child(name: str, recipe: Recipe[object], folder: Path, quiet: bool, anyway: bool) -> None:
    """Train, judge and measure the model `name` in a new process; what goes wrong there is raised here."""
    context = multiprocessing.get_context("spawn")  # a fork would share this process's memory and threads
    reader, writer = context.Pipe(duplex=False)
    child = context.Process(target=work, args=(writer, name, recipe.to_json(), str(folder), quiet, anyway))
    child.start()
    writer.close()
    try:
        child.join()
    except KeyboardInterrupt:  # a terminal interrupts both: the child saves its checkpoint
        child.join(PATIENCE)
        if child.is_alive():
            child.terminate()
        raise
    if child.exitcode == INTERRUPTED:
        raise KeyboardInterrupt
    if child.exitcode:
        message, hint = reader.recv() if reader.poll() else ended(child.exitcode)
        raise RunError(f"training `{name}` with seed {recipe.seed} in `{folder}` failed: {message}", hint)


def ended(code: int) -> tuple[str, str]:
    """Why a process ended that could not say it."""
    if code == -9:  # SIGKILL, which Windows does not have
        return "it was killed", "was there too little memory? Choose a smaller `--model.width` and another `--out`."
    return f"it ended with code {code}", "the same command continues the comparison."


def work(writer: Connection, name: str, recipe: Json, folder: str, quiet: bool, anyway: bool) -> None:
    """What the child does. A mistake that a person can mend goes to the parent as a message and a hint."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        asked: Recipe[object] = read_recipe(recipe, data_class(str(recipe["task"])), "recipe")
        whole = train_and_measure(name, asked, Path(folder), quiet, anyway)
    except HeadwayError as problem:
        writer.send((problem.message, problem.hint))
        os._exit(2)
    except KeyboardInterrupt:
        whole = False
    if not whole:
        os._exit(INTERRUPTED)


def end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(INTERRUPTED)  # at once: whatever is half written has a temporary name


def train_and_measure(name: str, recipe: Recipe[object], folder: Path, quiet: bool, anyway: bool) -> bool:
    """Train a run or the rest of it, write its report and its outcome. Returns False if a person interrupted it."""
    from headway.compare.outcome import outcome, write_outcome
    from headway.report.summary import summarise
    from headway.runs.run import Run
    from headway.training.checkpoint import finished
    from headway.training.progress import Progress
    from headway.training.session import complete

    progress, memory = Progress(quiet), None
    if finished(folder) is None:  # else it was trained, but not judged yet
        if not complete(recipe, folder, progress, anyway):
            return False
        memory = peak_memory()  # before it is judged: beam search may take more than training
    run = Run(folder, recipe.device)
    write_outcome(folder, outcome(name, run, summarise(run).judgement, memory))
    return True
