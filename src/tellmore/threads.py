"""Methods that threads sharing an object run one at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")


def one_at_a_time(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """The method, run under the object's ``_lock``, an RLock, so that it may call other methods of the same object."""

    @wraps(method)
    def locked(self: S, /, *args: P.args, **options: P.kwargs) -> T:
        lock: Any = vars(self)["_lock"]
        with lock:
            return method(self, *args, **options)

    return locked
