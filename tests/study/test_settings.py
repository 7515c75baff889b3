"""The study file: it reads back as written, and every mistake is named by key and line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tellmore.data.checked import toml_text
from tellmore.errors import DataFileError, SettingError
from tellmore.study.bank import read_bank, write_bank
from tellmore.study.design import BankQuestion
from tellmore.study.presets import preset
from tellmore.study.settings import Study, read_study


def test_a_study_reads_back_as_written(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(toml_text(study), encoding="utf-8")
    assert read_study(path) == study


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("questions_per_kind = 20", 'questions_per_kind = "many"', r"line 9: design.questions_per_kind: .* not 'many'"),
        ("questions_per_kind = 20", "questions = 20", r"line 9: unknown key design.questions;"),
        ("sizes = [2, 3", "sizes = [1, 3", r"line 10: design.sizes.0: .*greater than or equal to 2, not 1"),
        (
            "gold_positions = [1, 2, 11, 12, 21]",
            "gold_positions = [1, 2, 11, 12, 31]",
            r"gold_positions must .* 1 to 25",
        ),
        ("gold_positions = [1, 2, 11, 12, 21]", "gold_positions = [1, 2]", r"5 gold questions for 2"),
        ('kinds = ["rank", "select_high"]', 'kinds = ["label"]', r"a label always shows one item"),
        (
            'kinds = ["rank", "select_high"]',
            'kinds = ["sort"]',
            r"line 8: design.kinds.0: unknown question kind 'sort'",
        ),
        ("first = 198", "first = 300", r"line 22: stages.1: last \(202\) comes before first \(300\)"),
        ('order = ["bad", "horrible"]', 'order = ["bad", "bad"]', r"gold.1: order names each item once"),
        ("correct = 2", "correct = 3", r"comprehension.2: correct must be from 0 to 2"),
        ('title = "Words and their feeling"', "", r"the key title is missing"),
        ("[texts]", "[text]", r"texts is missing"),
        ('complete = "CODE1"', 'complete = "no spaces!"', r"completion.complete"),
        ('url = "https', 'url = "javascript', r"completion.url"),
        ("seed = 0", "seed = ", r"not valid TOML"),
    ],
)
def test_mistakes_are_named(study: Study, tmp_path: Path, old: str, new: str, says: str) -> None:
    text = toml_text(study)
    assert old in text
    path = tmp_path / "study.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SettingError, match=says) as raised:
        read_study(path)
    assert "\n" not in str(raised.value)


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="tellmore study init"):
        read_study(tmp_path / "study.toml")


def test_unknown_presets_are_named() -> None:
    with pytest.raises(SettingError, match="the presets are paper"):
        preset("papre", lambda: "x")


def test_the_fingerprint_follows_every_change(study: Study) -> None:
    assert study.fingerprint != study.model_copy(update={"title": "other"}).fingerprint


def test_the_question_file_reads_back(bank: list[BankQuestion], tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    write_bank(path, bank)
    assert read_bank(path, [f"w{i}" for i in range(20)]) == bank


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "row 1: not valid JSON"),
        ('{"kind": "rank"}', "row 1: .*items"),
        ('{"kind": "rank", "items": ["w1", "gone"], "stage": "early", "iteration": 1}', "'gone' is not an item"),
    ],
)
def test_a_broken_question_file_is_named(line: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(DataFileError, match=says):
        read_bank(path, ["w1"])


def test_a_missing_question_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="--redraw"):
        read_bank(tmp_path / "none.jsonl", [])


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
@example("first line\r")
@example("first line\r\nmiddle")
def test_any_text_survives_and_lines_stay_lines(words: str) -> None:
    study = preset("paper", lambda: "CODE")
    texts = study.texts.model_copy(update={"consent": f"{words}\nsecond line"})
    text = toml_text(study.model_copy(update={"texts": texts, "demographics": ()}))
    assert ("\nsecond line" in text) == ("\r" not in words)
    assert tomllib.loads(text)["texts"]["consent"] == texts.consent
    assert tomllib.loads(text)["demographics"] == []
