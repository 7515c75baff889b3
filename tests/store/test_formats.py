"""Answers of other tools, by small files as those tools write them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.labels import LabelWords
from tellmore.data.reading import Reading
from tellmore.errors import DataFileError, FaultyRowsError
from tellmore.pool import Pool
from tellmore.questions import labels_in
from tellmore.store.formats import FORMATS
from tellmore.store.importing import AnswerColumns, Collected, read_answers

TECH = AnswerColumns(words=LabelWords("tech"))


@pytest.fixture
def pool() -> Pool:
    return Pool(np.eye(5), ids=list("abcde"), text=["ant", "bee", "cat", "dog", "eel"])


def lines(path: Path, *records: dict) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def labels(found: list[Collected]) -> dict[str, bool]:
    return {item: label for each in found for item, label in labels_in(each.question, each.answer).items()}


@pytest.mark.parametrize("rows", ["id,label\na,Tech\nb,Other\nc,\n", "text;label\nant;TECH\nbee;other\n"])
def test_a_table_of_labels(tmp_path: Path, pool: Pool, rows):
    (tmp_path / "l.csv").write_text(rows)
    assert labels(read_answers(tmp_path / "l.csv", pool, columns=TECH)) == {"a": True, "b": False}


def test_the_usual_words_and_columns_of_other_names(tmp_path: Path, pool: Pool):
    (tmp_path / "l.csv").write_text("key,verdict,participant\na,1,ann\nb,no,bob\nc,TRUE,\nd,neg,\n")
    found = read_answers(tmp_path / "l.csv", pool, columns=AnswerColumns("key", "verdict"))
    assert labels(found) == {"a": True, "b": False, "c": True, "d": False}
    assert [each.participant for each in found] == ["import-ann", "import-bob", "import", "import"]


def test_prodigy(tmp_path: Path, pool: Pool):
    path = lines(
        tmp_path / "p.jsonl",
        {"text": "ant", "label": "TECH", "answer": "accept", "_input_hash": 1, "_annotator_id": "ann"},
        {"text": "bee", "label": "TECH", "answer": "reject"},
        {"text": "x", "meta": {"id": "c"}, "label": "OTHER", "answer": "reject"},
        {"text": "dog", "label": "TECH", "answer": "ignore"},
        {"text": "eel", "options": [{"id": "TECH"}, {"id": "OTHER"}], "accept": ["OTHER"], "answer": "accept"},
    )
    found = read_answers(path, pool, columns=TECH)
    assert labels(found) == {"a": True, "b": False, "c": True, "e": False}
    assert found[0].participant == "import-ann"
    plain = lines(tmp_path / "q.jsonl", {"text": "ant", "answer": "accept"}, {"text": "bee", "answer": "reject"})
    assert labels(read_answers(plain, pool)) == {"a": True, "b": False}


def test_doccano_numbers_documents_by_itself(tmp_path: Path, pool: Pool):
    path = lines(
        tmp_path / "d.jsonl",
        {"id": 41, "text": "ant", "label": ["tech"]},
        {"id": 42, "text": "bee", "label": ["other"]},
        {"id": 43, "text": "cat", "label": []},
    )
    assert labels(read_answers(path, pool, columns=TECH)) == {"a": True, "b": False}
    own = lines(tmp_path / "e.jsonl", {"id": 44, "text": "?", "key": "d", "labels": ["tech"]})
    assert labels(read_answers(own, pool, columns=AnswerColumns("key", words=LabelWords("tech")))) == {"d": True}


def test_argilla(tmp_path: Path, pool: Pool):
    def record(identifier: str, text: str, responses: dict) -> dict:
        common = {"metadata": {}, "suggestions": {}, "vectors": {}, "status": "completed"}
        return {"id": identifier, "fields": {"text": text}, "responses": responses, **common}

    records = [
        record("a", "ant", {"kind": [{"value": "Tech", "user_id": "u1"}, {"value": "Other", "user_id": "u2"}]}),
        record("7f3a", "bee", {"kind": [{"value": "other", "user_id": "u1"}]}),
        record("r", "which?", {"order": [{"value": ["c", "e", "d"], "user_id": "u1"}]}),
    ]
    (tmp_path / "a.json").write_text(json.dumps(records))
    found = read_answers(tmp_path / "a.json", pool, columns=TECH)
    assert [each.question.items for each in found] == [("a",), ("a",), ("b",), ("c", "d", "e")]
    assert [each.participant for each in found] == ["import-u1", "import-u2", "import-u1", "import-u1"]
    assert found[3].answer.order == ("c", "e", "d")


def test_words_are_never_taken_for_negative_silently(tmp_path: Path, pool: Pool):
    (tmp_path / "l.csv").write_text("id,label\na,Tech\nb,Sport\nc,Politics\n")

    def read(*words: str) -> list[Collected]:
        return read_answers(tmp_path / "l.csv", pool, columns=AnswerColumns(words=LabelWords(*words)))

    with pytest.raises(DataFileError, match="no label is 'teck'"):
        read("teck")
    with pytest.raises(DataFileError, match="say which one means negative with --negative-value"):
        read("tech")
    with pytest.raises(DataFileError, match="row 4: the label 'Politics' is unknown"):
        read("tech", "sport")
    assert labels(read("tech", "*")) == {"a": True, "b": False, "c": False}


def test_all_faulty_rows_are_told_together_or_left_out(tmp_path: Path, pool: Pool):
    rows = "".join(f"z{n},yes\n" for n in range(30))
    (tmp_path / "l.csv").write_text(f"id,label\na,yes\n{rows}b,maybe\n")
    with pytest.raises(FaultyRowsError) as raised:
        read_answers(tmp_path / "l.csv", pool)
    assert len(raised.value.faults) == 31
    assert len(raised.value.lines) == 1 + 20 + 1
    assert raised.value.lines[-1] == "and 11 more"
    reading = Reading(skip_bad=tmp_path / "left.txt")
    assert labels(read_answers(tmp_path / "l.csv", pool, reading=reading)) == {"a": True}
    reading.finish()
    assert len((tmp_path / "left.txt").read_text().splitlines()) == 31
    (tmp_path / "l.csv").write_text(f"id,label\n{rows}")
    with pytest.raises(DataFileError, match=r"30 faulty rows left out, listed in .*left.txt; no answer is left"):
        read_answers(tmp_path / "l.csv", pool, reading=Reading(skip_bad=tmp_path / "left.txt"))
    assert len((tmp_path / "left.txt").read_text().splitlines()) == 30


def test_every_format_says_what_it_is():
    assert all(format.name == name and format.about for name, format in FORMATS.items())
