"""Another model's scores of the items: a column of numbers or words, and which of them mean positive."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.data.items import read_identifier
from tellmore.data.labels import NEGATIVE_WORDS, POSITIVE_WORDS, same_word
from tellmore.data.project import Project
from tellmore.data.records import open_records
from tellmore.errors import DataFileError, SettingError
from tellmore.types import Array

MISSING = ("", "nan")
SHOWN = 5
"""How many values a message names."""


@dataclass(frozen=True)
class Meaning:
    """What the user says about the values: the number from which on, or the words that, mean positive or negative."""

    threshold: float | None = None
    positive_value: str | None = None
    negative_value: str | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None and (self.positive_value is not None or self.negative_value is not None):
            raise SettingError(
                "--threshold is for numbers, --positive-value and --negative-value for words: choose one"
            )
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise SettingError(f"--threshold is a number, not {self.threshold}")
        if self.negative_value is not None and self.positive_value is None:
            raise SettingError("--negative-value needs --positive-value")
        if self.positive_value is not None and same_word(self.positive_value) == same_word(self.negative_value or ""):
            raise SettingError(f"--positive-value and --negative-value are both {self.positive_value!r}")


@dataclass(frozen=True)
class JudgeScores:
    """Scores by item; items without one are not in it.

    ``numbers`` is None for words. ``probabilities``: all numbers are from 0 to 1. ``rule`` says in words what is positive.
    """

    values: Mapping[str, str]
    positive: Mapping[str, bool]
    rule: str
    numbers: Mapping[str, float] | None = None
    threshold: float | None = None

    @cached_property
    def probabilities(self) -> bool:
        """Whether every score is a number from 0 to 1."""
        return self.numbers is not None and _within_unit(self.numbers.values())

    def prediction(self, item: str) -> float:
        """The score as a number from 0 to 1: a probability unchanged, any other as 0 or 1."""
        if self.numbers is not None and self.probabilities:
            return self.numbers[item]
        return float(self.positive[item])


def kept_columns(project: Project) -> list[str]:
    """Names of the columns that were kept with the items, in order."""
    return list(dict.fromkeys(name for item in project.items for name in item.get("kept", {})))


def read_scores(project: Project, column: str, meaning: Meaning, *, file: Path | None, id_column: str) -> JudgeScores:
    """The scores in a column of ``file``, or of the project's kept columns; rows of other items are ignored."""
    known = {item["id"] for item in project.items}
    if file is None:
        where, found = f"column {column}", _kept(project, column)
    else:
        where, found = f"{file}, column {column}", _column(file, column, id_column)
    scores = {item: value for item, value in found.items() if item in known and same_word(value) not in MISSING}
    if not scores:
        raise DataFileError(f"{where}: {_nothing_in(found, project)}")
    return scores_of(scores, meaning, where=where)


def _nothing_in(found: Mapping[str, str], project: Project) -> str:
    """Why no item of ``project`` has a score among those ``found`` by id."""
    strange = next(iter(found), None)
    if strange is None or any(item["id"] in found for item in project.items):
        return "no score in it"
    return f"none of its ids, such as {strange!r}, is an item of the project; ids look like {project.items[0]['id']!r}"


def _kept(project: Project, column: str) -> dict[str, str]:
    kept = _cells(project, column)
    if not kept:
        raise SettingError(
            f"{project.folder}: the project keeps no column {column!r}; give the file that has it with --scores-file FILE, "
            "or make the project with --keep-column"
        )
    return kept


def _cells(project: Project, column: str) -> dict[str, str]:
    """What a kept column says about each item, without items of which it says nothing."""
    return {item["id"]: str(item["kept"][column]) for item in project.items if column in item.get("kept", {})}


def start_scores(project: Project, column: str, positive_value: str) -> Array:
    """A kept column as scores [n] to start from: numbers unchanged, words as 1 and 0, NaN for items without a score."""
    where = f"column {column}"
    kept = {item: value for item, value in _cells(project, column).items() if same_word(value) not in MISSING}
    if not kept:
        raise SettingError(f"{where}: no item has a score in it; name a column with scores, or start without one")
    numbers = None if positive_value else _numbers(kept)
    if numbers is None:
        words = scores_of(kept, Meaning(positive_value=positive_value or None), where=where)
        numbers = {item: float(positive) for item, positive in words.positive.items()}
    return np.array([numbers.get(item["id"], np.nan) for item in project.items])


def _column(file: Path, column: str, id_column: str) -> dict[str, str]:
    names, records = open_records(file)
    found: dict[str, str] = {}
    for number, record in records:
        for option, wanted in (("--id-column", id_column), ("--scores-column", column)):
            if wanted not in (names or record):
                where, listed = str(file) if names else f"{file}, row {number}", ", ".join(map(repr, names or record))
                raise DataFileError(f"{where}: no column {wanted!r}; the columns are {listed}; name it with {option}")
        item = read_identifier(file, number, id_column, record[id_column])
        if item in found:
            raise DataFileError(f"{file}, row {number}, column {id_column}: the id {item!r} occurs twice")
        found[item] = text_of(record[column])
    return found


def text_of(value: Any) -> str:
    """A cell as text; "" if it is empty."""
    return "" if value is None else str(value).strip()


def scores_of(values: Mapping[str, str], meaning: Meaning, *, where: str) -> JudgeScores:
    """``values`` as numbers, or as words if some are named or some are not numbers; errors begin with ``where`` they are."""
    numbers = _numbers(values) if meaning.positive_value is None else None
    if numbers is not None:
        return _by_threshold(values, numbers, meaning.threshold, where)
    if meaning.threshold is not None:
        odd = next(value for value in values.values() if _number(value) is None)
        raise DataFileError(f"{where}: --threshold, but {odd!r} is not a number; words need --positive-value")
    return _by_words(values, meaning, where)


def _by_threshold(
    values: Mapping[str, str], numbers: Mapping[str, float], chosen: float | None, where: str
) -> JudgeScores:
    usual, kind = (0.5, "probabilities") if _within_unit(numbers.values()) else (0.0, "numbers")
    threshold = usual if chosen is None else chosen
    positive = {item: number >= threshold for item, number in numbers.items()}
    if chosen is None and len(numbers) > 1 and len(set(positive.values())) == 1:
        lowest, highest = min(numbers.values()), max(numbers.values())
        raise DataFileError(
            f"{where}: {kind} from {lowest:g} to {highest:g} are all on one side of {usual:g}; say with --threshold from which "
            "number on they mean positive"
        )
    return JudgeScores(values, positive, f"{kind}, positive from {threshold:g} on", numbers, threshold)


def _by_words(values: Mapping[str, str], meaning: Meaning, where: str) -> JudgeScores:
    present = {same_word(value): value for value in values.values()}
    listed = ", ".join(repr(value) for value in sorted(present.values())[:SHOWN])
    if meaning.positive_value is None:
        unknown = [value for word, value in present.items() if word not in (*POSITIVE_WORDS, *NEGATIVE_WORDS)]
        if unknown:
            odd = min(unknown, key=lambda value: _number(value) is not None)
            raise DataFileError(
                f"{where}: {odd!r} is neither a number nor yes or no; there are {listed}: say which means positive "
                "with --positive-value"
            )
        yes, no = set(POSITIVE_WORDS), set(NEGATIVE_WORDS)
    else:
        for option, value in (("positive", meaning.positive_value), ("negative", meaning.negative_value)):
            if value is not None and same_word(value) not in present:
                raise DataFileError(f"{where}: no score is {value!r} (--{option}-value); there are {listed}")
        yes = {same_word(meaning.positive_value)}
        no = set(present) - yes if meaning.negative_value is None else {same_word(meaning.negative_value)}
    counted = {item: value for item, value in values.items() if same_word(value) in yes | no}
    return JudgeScores(
        counted,
        {item: same_word(value) in yes for item, value in counted.items()},
        f"words, positive: {_listed(present, yes)}; negative: {_listed(present, no)}",
    )


def _listed(present: Mapping[str, str], words: Iterable[str]) -> str:
    found = sorted(present[word] for word in words if word in present)
    more = ", …" if len(found) > SHOWN else ""
    return (", ".join(found[:SHOWN]) or "none") + more


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _numbers(values: Mapping[str, str]) -> dict[str, float] | None:
    """All values as numbers; None if one is not a number."""
    found = {item: _number(value) for item, value in values.items()}
    numbers = {item: number for item, number in found.items() if number is not None}
    return numbers if len(numbers) == len(found) else None


def _within_unit(numbers: Iterable[float]) -> bool:
    return all(0 <= number <= 1 for number in numbers)
