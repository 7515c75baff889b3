"""What the study tests share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tellmore.store.repository import Repository
from tellmore.study.design import BankQuestion
from tellmore.study.presets import preset
from tellmore.study.settings import Study
from tests.study.made_up import Draw, Words, bank_of


@pytest.fixture
def study() -> Study:
    numbers = itertools.count(1)
    return preset("paper", lambda: f"CODE{next(numbers)}")


@pytest.fixture
def bank(study: Study) -> list[BankQuestion]:
    return bank_of(study)


@pytest.fixture
def words() -> Words:
    return Words()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Repository]:
    opened = Repository(f"sqlite:///{tmp_path / 'study.sqlite'}")
    yield opened
    opened.close()


@pytest.fixture
def draw(study: Study) -> Draw:
    return Draw(study)
