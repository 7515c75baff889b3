"""Every error that tellmore raises on purpose.

    TellmoreError                 anything below; catch this to catch all of them
    ├── InputError (ValueError)   what the caller gave is wrong; nothing was changed
    │   ├── PoolError             embeddings, ids or scores of a pool
    │   ├── QuestionError         a question that does not fit its kind or its pool
    │   ├── AnswerError           an answer that does not fit its question
    │   ├── SettingError          an option, a setting or a configuration file
    │   └── DataFileError         a file: missing, damaged, of another shape, or not to be written
    ├── StateError (RuntimeError) a valid request at a moment that does not allow it
    ├── NumericalError            a computation that did not converge
    ├── StoreError                the log of a project: its database or its version
    └── MissingExtraError         an optional dependency that is not installed

Messages say what was wrong, what is allowed and what to do, in one line.
"""

from __future__ import annotations


class TellmoreError(Exception):
    """Base of all errors raised on purpose."""


class InputError(TellmoreError, ValueError):
    """What the caller gave is wrong; nothing was changed."""


class PoolError(InputError):
    """Embeddings, ids or scores of a pool are unusable."""


class QuestionError(InputError):
    """A question does not fit its kind or its pool."""


class AnswerError(InputError):
    """An answer does not fit its question."""


class SettingError(InputError):
    """An option, a setting or a configuration file is wrong."""


class DataFileError(InputError):
    """A file cannot be read or written, or has another shape than expected."""


class StateError(TellmoreError, RuntimeError):
    """A valid request at a moment that does not allow it."""


class NumericalError(TellmoreError, ArithmeticError):
    """A computation did not converge."""


class StoreError(TellmoreError):
    """The log of a project cannot be opened or written."""


class MissingExtraError(TellmoreError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; install it with: pip install 'tellmore[{extra}]'")
