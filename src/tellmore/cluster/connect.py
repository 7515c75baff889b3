"""Connects to a Dask cluster: a running one, or workers on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tellmore.errors import SettingError, StateError, needs

TIMEOUT_S = 10
LOCAL = "local"
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def check_address(address: str) -> None:
    """Raise SettingError unless this is ``local`` or can be the address of a scheduler."""
    if address != LOCAL and not address.startswith(("tcp://", "tls://")):
        raise SettingError(f"--dask takes local or the address of a scheduler, tcp://host:port, not {address!r}")


@contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Any]:
    """A client of the scheduler at ``address``; ``local`` starts this many workers here, by default one per core."""
    check_address(address)
    with needs("dask", "dask"):
        import distributed
    with ExitStack() as stack:
        if address == LOCAL:
            stack.enter_context(one_thread_each())
            options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
            cluster = distributed.LocalCluster(n_workers=workers or os.cpu_count() or 1, **options)
            stack.callback(cluster.close)
            address = cluster.scheduler_address
        try:
            client = distributed.Client(address, timeout=TIMEOUT_S)
        except (OSError, TimeoutError, ValueError) as problem:
            reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
            raise StateError(
                f"no Dask scheduler responds at {address} ({reason}); start one with `dask scheduler`, or use --dask local"
            ) from None
        stack.callback(
            client.close
        )  # not as a context manager: the thread that closes it may not be the one that opened it
        yield client


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let processes started in this block use one BLAS thread each; they read the number when NumPy is imported."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
