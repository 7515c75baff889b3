"""Every error that tellmore raises on purpose. Messages say what was wrong, what is allowed and what to do, in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class TellmoreError(Exception):
    """Base of all errors raised on purpose."""


class InputError(TellmoreError, ValueError):
    """The input is wrong; nothing was changed."""


class PoolError(InputError):
    """Embeddings, ids or scores of a pool are unusable."""


class QuestionError(InputError):
    """A question does not fit its kind or its pool."""


class AnswerError(InputError):
    """An answer does not fit its question."""


class SettingError(InputError):
    """An option, a setting or a configuration file is wrong."""


class DataFileError(InputError):
    """A file cannot be read or written, or its content is not as expected."""


class FaultyRowsError(DataFileError):
    """Rows of a file are wrong; ``faults`` describes each. The message lists the first ones and gives their number;
    it ends with ``hint``."""

    SHOWN = 20

    def __init__(self, faults: Sequence[str], hint: str = "") -> None:
        self.faults, self.hints = tuple(faults), (hint,) if hint else ()
        super().__init__("; ".join(self.lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that people read."""
        if len(self.faults) == 1:
            return (f"{self.faults[0]}; correct it, or leave it out with --skip-bad FILE", *self.hints)
        more = len(self.faults) - self.SHOWN
        rest = (f"and {more} more",) if more > 0 else ()
        told = f"{len(self.faults)} faulty rows; correct them, or leave them out with --skip-bad FILE"
        return (told, *self.faults[: self.SHOWN], *rest, *self.hints)


class StateError(TellmoreError, RuntimeError):
    """The request is valid, but not possible now."""


class NumericalError(TellmoreError, ArithmeticError):
    """A computation did not converge."""


class StoreError(TellmoreError):
    """The log of a project cannot be opened or written."""


class MissingExtraError(TellmoreError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; install it with: pip install 'tellmore[{extra}]'")


@contextmanager
def needs(package: str, extra: str) -> Iterator[None]:
    """A block that imports an optional ``package``; if it is missing, the error names the ``extra`` to install."""
    try:
        yield
    except ImportError:
        raise MissingExtraError(package, extra) from None
