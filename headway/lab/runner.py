"""Run experiments: one here, or many in processes of one thread each."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from types import MappingProxyType
from typing import Any

import numpy as np

from headway.core.entries import Entry
from headway.core.errors import ConfigError
from headway.lab import catalog
from headway.lab.checks import Check
from headway.lab.experiment import NOT_REPRODUCED, SEEDS, SKIPPED, DataMissing, Experiment, judge
from headway.lab.parameters import declared
from headway.lab.result import Result

NONE: Mapping[str, Any] = MappingProxyType({})
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(name: str, seed: int = 0, parameters: Mapping[str, Any] = NONE, *, full: bool = False, network: Any = None) -> Result:
    """One experiment with its own random numbers; the same seed gives the same result and figure."""
    entry = catalog.find(name)
    if type(seed) is not int or seed < 0:
        raise ConfigError(f"the seed is {seed!r}, expected a whole number that is not negative")
    chosen = (catalog.values(entry, "full") if full else {}) | dict(parameters)
    try:
        made = entry.load()(**chosen)
    except ConfigError as problem:
        hint = f"`headway lab show {catalog.identity(entry)}` lists its parameters."
        raise ConfigError(problem.message, problem.hint or hint) from None
    return conduct(made, seed, catalog.identity(entry), catalog.module_of(entry), network)


def conduct(experiment: Experiment, seed: int = 0, name: str = "", module: str = "", network: Any = None) -> Result:
    """Measure, sample over the seeds, try the controls, judge. Each of them has random numbers of its own."""
    start, cls = time.perf_counter(), type(experiment)
    checks: list[Check] = []
    controls: list[Check] = []
    resolution: list[Check] = []
    chance = cls.sample is not Experiment.sample and network is None
    seeds = tuple(range(seed, seed + SEEDS)) if chance else (seed,)
    try:
        if network is not None:
            from headway.lab.relu_net import ReluNet

            checks += experiment.examine(ReluNet.of(network), np.random.default_rng(seed))
        else:
            checks += experiment.measure(np.random.default_rng(seed))
            for s in seeds if chance else ():
                checks += (check.of_seed(s) for check in experiment.sample(np.random.default_rng([s, 1])))
        controls += experiment.control(np.random.default_rng([seed, 2]))
        resolution += experiment.resolution(np.random.default_rng([seed, 3]))
        verdict, reasons = judge(checks, controls, resolution)
    except DataMissing as missing:
        verdict, reasons = SKIPPED, (str(missing),)
    drawn = network is None and verdict != SKIPPED
    return Result(
        name or cls.__name__, module, verdict, reasons, tuple(checks), tuple(controls), tuple(resolution),
        {key: getattr(experiment, key) for key in declared(cls)}, seed, seeds, round(time.perf_counter() - start, 3),
        drawing=experiment if drawn else None,
    )  # fmt: skip


def failure(name: str, module: str, seed: int, problem: BaseException) -> Result:
    """The result of an experiment that raised: a bug of the lab, said and counted like any other."""
    reason = f"{type(problem).__name__}: {problem}"
    return Result(name, module, NOT_REPRODUCED, (reason,), (), (), (), {}, seed, (seed,), 0.0)


def _in_process(name: str, seed: int, full: bool, images: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What a worker does: the result as plain values, and its figure."""
    try:
        result = run(name, seed, full=full)
        return result.to_json(), {kind: result.image(kind) for kind in images if result.drawing}
    except Exception as problem:
        return failure(name, catalog.module_of(catalog.find(name)), seed, problem).to_json(), {}


@contextmanager
def one_thread() -> Iterator[None]:
    """What is loaded or started inside computes with one thread: the operations of an experiment are too small to be shared."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ |= dict.fromkeys(ONE_THREAD, "1")
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def run_many(
    entries: Sequence[Entry], seed: int = 0, full: bool = False, jobs: int | None = None, images: tuple[str, ...] = ("svg",)
) -> Iterator[Result]:
    """Results as they are finished, the expensive experiments first; each process computes with one thread and draws these images."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    jobs = max(1, min(jobs or cores, len(entries)))
    queue = sorted(entries, key=lambda entry: "LMS".find(catalog.cost(entry)))
    with one_thread(), ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        names = {pool.submit(_in_process, catalog.identity(entry), seed, full, images): entry for entry in queue}
        try:
            for done in as_completed(names):
                entry, problem = names[done], done.exception()
                if problem is not None:  # the process itself died
                    yield failure(catalog.identity(entry), catalog.module_of(entry), seed, problem)
                else:
                    yield Result.from_json(*done.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
