"""Columns of scores: numbers by a threshold, words by their meaning; every error in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.data.project import create_project
from tellmore.data.scores import Meaning, read_scores, scores_of, start_scores
from tellmore.errors import DataFileError, InputError, SettingError
from tellmore.pool import Pool


def of(*values: str, **meaning: object):
    return scores_of(
        {f"i{n}": value for n, value in enumerate(values)},
        Meaning(**meaning),  # type: ignore[arg-type]
        where="llm.csv",
    )


def called(*values: str, **meaning: object) -> list[bool]:
    return list(of(*values, **meaning).positive.values())


def test_numbers_within_0_to_1_are_probabilities() -> None:
    scores = of("0.49", "0.5", "1", "0")
    assert list(scores.positive.values()) == [False, True, True, False]
    assert scores.rule == "probabilities, positive from 0.5 on"
    assert [scores.prediction(item) for item in scores.values] == [0.49, 0.5, 1.0, 0.0]


def test_other_numbers_are_positive_from_zero_on_or_from_the_threshold() -> None:
    scores = of("-3", "0", "2.5")
    assert list(scores.positive.values()) == [False, True, True]
    assert scores.rule == "numbers, positive from 0 on"
    assert [scores.prediction(item) for item in scores.values] == [0.0, 1.0, 1.0]
    assert called("1", "3", "5", threshold=4) == [False, False, True]
    assert called("0.2", "0.3", threshold=0.25) == [False, True]


def test_words_are_known_or_named() -> None:
    assert called("Yes", "no", " TRUE", "negative") == [True, False, True, False]
    assert called("spam", "Ham", "maybe", positive_value="SPAM") == [True, False, False]
    scores = of("spam", "ham", "maybe", positive_value="spam", negative_value="ham")
    assert scores.positive == {"i0": True, "i1": False}
    assert called("1", "2", "3", positive_value="3") == [False, False, True]
    assert of("yes", "no").rule == "words, positive: yes; negative: no"


@pytest.mark.parametrize(
    ("values", "meaning", "message"),
    [
        (("1", "3", "5"), {}, "numbers from 1 to 5 are all on one side of 0; .* --threshold"),
        (("0.1", "0.2"), {}, "probabilities from 0.1 to 0.2 are all on one side of 0.5"),
        (("spam", "ham"), {}, "'spam' is neither a number nor yes or no; there are 'ham', 'spam': .* --positive-value"),
        (("0.1", "high"), {}, "'high' is neither a number"),
        (("0.1", "inf"), {}, "'inf' is neither a number"),
        (("spam", "ham"), {"threshold": 0.5}, "'spam' is not a number; words need --positive-value"),
        (
            ("spam", "ham"),
            {"positive_value": "spma"},
            r"no score is 'spma' \(--positive-value\); there are 'ham', 'spam'",
        ),
        (("a", "b"), {"positive_value": "a", "negative_value": "c"}, r"no score is 'c' \(--negative-value\)"),
    ],
)
def test_values_that_do_not_say_what_is_positive(
    values: tuple[str, ...], meaning: dict[str, object], message: str
) -> None:
    with pytest.raises(DataFileError, match=f"llm.csv: .*{message}"):
        of(*values, **meaning)


@pytest.mark.parametrize(
    ("meaning", "message"),
    [
        ({"threshold": 1.0, "positive_value": "a"}, "choose one"),
        ({"threshold": float("nan")}, "--threshold is a number"),
        ({"negative_value": "a"}, "needs --positive-value"),
        ({"positive_value": "a", "negative_value": "A "}, "both 'a'"),
    ],
)
def test_meanings_that_contradict_themselves(meaning: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        Meaning(**meaning)  # type: ignore[arg-type]


@pytest.fixture
def project(tmp_path: Path):
    return create_project(tmp_path / "p", Pool(np.eye(4), ids=["a", "b", "c", "7"]))


def read(project, text: str, column: str = "llm", name: str = "llm.csv"):
    file = project.folder.parent / name
    file.write_text(text)
    return read_scores(project, column, Meaning(), file=file, id_column="id")


def test_a_file_may_lack_items_and_have_others(project) -> None:
    found = read(project, "id,llm\na,0.9\nb,\nc,NaN\nelsewhere,x\n7,0.1\n")
    assert found.positive == {"a": True, "7": False}
    lines = '{"id": "a", "llm": true}\n{"id": 7, "llm": false}\n'
    assert read(project, lines, name="llm.jsonl").positive == {"a": True, "7": False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,gpt\na,1\n", "llm.csv: no column 'llm'; the columns are 'id', 'gpt'; name it with --scores-column"),
        ("name,llm\na,1\n", "no column 'id'; .*; name it with --id-column"),
        ("id,llm\na,1\na,0\n", "row 3, column id: the id 'a' occurs twice"),
        ("id,llm\nx,1\ny,0\n", "none of its ids, such as 'x', is an item of the project; ids look like 'a'"),
        ("id,llm\na,\nb,\n", "column llm: no score in it"),
        ("id,llm\n", "no score in it"),
    ],
)
def test_faults_of_a_file(project, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(project, text)


def test_a_column_that_the_project_does_not_keep(project) -> None:
    with pytest.raises(SettingError, match=r"keeps no column 'llm'; .* --scores-file FILE"):
        read_scores(project, "llm", Meaning(), file=None, id_column="id")


def test_a_start_from_a_column_without_scores(project) -> None:
    with pytest.raises(SettingError, match=r"^column llm: no item has a score in it; name a column with scores"):
        start_scores(project, "llm", "")
