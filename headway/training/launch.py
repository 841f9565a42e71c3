"""Start several processes of the command `headway` that train together: what `torchrun` does, in one word (`--processes 2`).

torch's elastic launcher watches the processes. If one dies, it ends the others and starts all again with the same words, up to three times;
the run then goes on from its last checkpoint. An error that a person must mend would only repeat itself: it is noted in a file that the
launcher names (`VERDICT`), and processes that are started again after that end at once with the same exit code.
"""

import contextlib
import logging
import os
import signal
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist

from headway.core.errors import HeadwayError, RunError
from headway.core.machine import cores
from headway.training.processes import Processes, is_loss_of_peer, join, leave

RESTARTS = 3
VERDICT = "HEADWAY_VERDICT"  # the environment variable with the name of the file
REPORTED = "headway/reported"  # a key of torch's store: process 0 has told the person what is wrong


def is_launched() -> bool:
    """Whether this process was started by torch's launcher."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def launch(words: Sequence[str], count: int) -> int:
    """Run `headway` with these words in so many processes on this machine; returns the exit code."""
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)  # what matters is reported by process 0
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores() // count)))
    os.environ.setdefault("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "120")  # seconds from Ctrl-C until a process is killed
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # a machine without a network trains as well
    with tempfile.TemporaryDirectory() as folder:
        os.environ[VERDICT] = str(Path(folder) / "exit_code")
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=count,
            run_id=uuid.uuid4().hex,
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            max_restarts=RESTARTS,
            local_addr="localhost",
        )
        try:
            elastic_launch(config, sys.executable)("-m", "headway", *words)
        except SignalException as ended:
            return 128 + ended.sigval
        except ChildFailedError as problem:
            if (code := verdict()) is not None:
                return code
            failure = problem.get_first_failure()[1]
            hint = "what was reached is kept: `headway train --resume DIR --processes N` goes on."
            raise RunError(
                f"a process ended with code {failure.exitcode}, for the {RESTARTS + 1}th time", hint
            ) from None
        finally:
            del os.environ[VERDICT]
    return 0


def verdict() -> int | None:
    """The exit code that was noted by processes that ended for good; None if there is none."""
    path = Path(os.environ.get(VERDICT, ""))
    return int(path.read_text()) if path.is_file() else None


def note_verdict(code: int) -> None:
    if VERDICT in os.environ:
        Path(os.environ[VERDICT]).write_text(str(code))


@contextlib.contextmanager
def joined(sharded: bool) -> Iterator[Processes]:
    """The processes that train together, from meeting to parting. An error that all have is reported by process 0 alone."""
    processes = join(sharded)
    try:
        yield processes
    except HeadwayError:
        if processes.world > 1:
            note_verdict(2)
            _report_once(processes)
        raise
    except Exception as problem:
        if processes.world > 1 and is_loss_of_peer(problem):
            raise SystemExit(1) from problem  # the launcher knows which process died, and starts all again
        note_verdict(1)
        raise
    finally:
        leave()


def _report_once(processes: Processes) -> None:
    """End quietly if process 0 reports an error, too: most errors are in the data that all read."""
    store = dist.distributed_c10d._get_default_store()
    if processes.first:
        # The others end when they see this, and the launcher then ends this process: not before it has said what is wrong.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        store.set(REPORTED, "")
        return
    try:
        store.wait([REPORTED], timedelta(seconds=3))
    except RuntimeError as problem:
        if "timeout" in str(problem).lower():  # the error is of this process alone
            return
    raise SystemExit(2)
