"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

# One BLAS thread per process: suites run at the same time, and small matrices do not benefit from more.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of other pools, named by TELLMORE_DATA; the test is skipped if it is unset."""
    folder = os.environ.get("TELLMORE_DATA")
    if not folder:
        pytest.skip("TELLMORE_DATA is not set: the pools beyond the bundled one are not here")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"TELLMORE_DATA names {folder}, which is not a folder")
    return path


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture
def one_line() -> Callable[[BaseException], str]:
    """The message of an error, checked to be one line."""

    def check(error: BaseException) -> str:
        assert "\n" not in str(error)
        return str(error)

    return check
