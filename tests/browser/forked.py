"""A tellmore command in a separate process, forked from one that has already imported everything, which takes seconds."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import TextIO

# What a server needs, including what it would import only on request.
import tellmore.app.server
import tellmore.app.several
import tellmore.cli.serve
import tellmore.cli.study
import tellmore.export  # noqa: F401
from tellmore.__main__ import main

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([__name__])
STOP_WITHIN_S = 10


def run(words: Sequence[str], output: Connection) -> None:
    """``tellmore WORDS``; what it prints goes to ``output``."""
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)
    sys.stdout, sys.stderr = open(1, "w", buffering=1), open(2, "w", buffering=1)  # noqa: SIM115
    sys.argv = ["tellmore", *words]
    main()


@contextmanager
def running(*words: str) -> Iterator[TextIO]:
    """Runs the command until the block ends; gives its output."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    printed, output = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=run, args=(words, output), daemon=True)
    process.start()
    output.close()
    try:
        with os.fdopen(os.dup(printed.fileno()), encoding="utf-8") as lines:
            yield lines
    finally:
        printed.close()
        process.terminate()
        process.join(STOP_WITHIN_S)
        if process.is_alive():
            process.kill()
            process.join()
