"""How long work reports its progress: a context manager that gives ``advance(steps)``. The command line passes its bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Advance(Protocol):
    """Reports ``steps`` more units of work done."""

    def __call__(self, steps: int = 1) -> None: ...


ProgressBar = Callable[[str, int], AbstractContextManager[Advance]]
"""Opened as ``with bar("what is done", total) as advance:``."""


@contextmanager
def silent(what: str, total: int) -> Iterator[Advance]:  # noqa: ARG001
    """Reports nothing."""
    yield lambda _steps=1: None
