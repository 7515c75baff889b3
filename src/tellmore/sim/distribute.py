"""Many trials: one after another, in processes, or on a Dask cluster.

A trial depends only on its setting and seed, and every worker computes with one BLAS thread, so the rows are the same wherever
they are computed: equal within the relative ``TOLERANCE``, and bit for bit on machines of the same kind.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass

from tellmore.cluster.connect import check_address, connected, one_thread_each
from tellmore.errors import SettingError
from tellmore.sim.config import Config
from tellmore.sim.experiment import trial
from tellmore.sim.rows import Trial
from tellmore.sim.trials import Ledger

TOLERANCE = 1e-9
"""Largest relative difference between the rows of the three ways to run a trial."""

Task = tuple[Config, int]
Report = Callable[[Config, Trial], None]


@dataclass(frozen=True)
class Workforce:
    """Where trials run: in ``processes`` at once (1: in this process, one after another), or on a Dask cluster: "local" or
    "tcp://…"."""

    processes: int = 0
    dask: str | None = None

    def __post_init__(self) -> None:
        if self.processes < 0:
            raise SettingError(f"the number of processes must be 0 (all cores) or more, not {self.processes}")
        if self.dask is not None:
            check_address(self.dask)

    @property
    def count(self) -> int:
        """The number of processes to start."""
        return self.processes or os.cpu_count() or 1


def run_trials(
    tasks: Sequence[Task], *, workforce: Workforce, ledger: Ledger | None = None, report: Report | None = None
) -> dict[Task, Trial]:
    """Run every (config, seed), each at most once; stored trials are read from the ledger.

    Each trial is stored and then reported as soon as it is finished.
    """
    done: dict[Task, Trial] = {}
    missing: list[Task] = []
    for task in dict.fromkeys(tasks):
        stored = None if ledger is None else ledger.load(*task)
        if stored is None:
            missing.append(task)
            continue
        done[task] = stored
        if report is not None:
            report(task[0], stored)
    for task, finished in _finished(missing, workforce):
        if ledger is not None:
            ledger.save(task[0], finished)
        done[task] = finished
        if report is not None:
            report(task[0], finished)
    return {task: done[task] for task in dict.fromkeys(tasks)}


def _finished(tasks: Sequence[Task], workforce: Workforce) -> Iterator[tuple[Task, Trial]]:
    if not tasks:
        return iter(())
    if workforce.dask is not None:
        return _on_dask(tasks, workforce)
    if workforce.count == 1 or len(tasks) == 1:
        return _serially(tasks)
    return _in_processes(tasks, workforce.count)


def run_task(task: Task) -> Trial:
    """Run one trial with one BLAS thread, as every worker does."""
    with one_thread():
        return trial(*task)


def _serially(tasks: Sequence[Task]) -> Iterator[tuple[Task, Trial]]:
    for task in tasks:
        yield task, run_task(task)


def _in_processes(tasks: Sequence[Task], count: int) -> Iterator[tuple[Task, Trial]]:
    # Forked processes would inherit locks of threads that BLAS or Dask started; spawned ones do not.
    context = multiprocessing.get_context("spawn")
    with one_thread_each(), ProcessPoolExecutor(min(count, len(tasks)), mp_context=context) as pool:
        pending = {pool.submit(run_task, task): task for task in tasks}
        try:
            for future in as_completed(pending):
                yield pending[future], future.result()
        finally:
            for future in pending:
                future.cancel()


def _on_dask(tasks: Sequence[Task], workforce: Workforce) -> Iterator[tuple[Task, Trial]]:
    assert workforce.dask is not None
    with connected(workforce.dask, workforce.count) as client:
        import distributed

        futures = client.map(run_task, tasks, pure=False, retries=1)
        task_of = {future.key: task for future, task in zip(futures, tasks, strict=True)}
        for future, finished in distributed.as_completed(futures, with_results=True):
            yield task_of[future.key], finished


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit the BLAS of this process to one thread, if threadpoolctl is installed."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(1):
        yield
