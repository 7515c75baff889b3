"""Files as people have them: any delimiter and encoding, long fields, Excel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tellmore.data.reading import Reading
from tellmore.data.records import open_records
from tellmore.errors import DataFileError, FaultyRowsError, MissingExtraError, SettingError


def rows(path: Path, reading: Reading | None = None) -> list[dict]:
    return [record for _, record in open_records(path, reading)[1]]


@pytest.mark.parametrize(
    ("delimiter", "encoding", "said"),
    [
        (",", "utf-8", []),
        (",", "utf-8-sig", ["utf-8, cells separated by commas"]),
        (";", "utf-8", ["utf-8, cells separated by semicolons"]),
        ("\t", "utf-16", ["utf-16, cells separated by tabs"]),
        (",", "utf-32", ["utf-32, cells separated by commas"]),
        ("|", "utf-8", ["utf-8, cells separated by bars"]),
    ],
)
def test_delimiter_and_encoding_are_seen_and_said(tmp_path: Path, delimiter, encoding, said):
    text = f'id{delimiter}text\na{delimiter}"café; tea, or | what"\nb{delimiter}one, two\n'
    if delimiter == ",":
        text = text.replace("one, two", '"one, two"')
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    reading = Reading()
    assert rows(tmp_path / "a.csv", reading)[0] == {"id": "a", "text": "café; tea, or | what"}
    assert [note.split(" was read as ")[1] for note in reading.notes] == said


def test_an_encoding_without_a_mark_is_guessed_and_said(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_bytes("id;text\na;Schöne Grüße aus München, natürlich für alle\n".encode("cp1252"))
    reading = Reading()
    assert rows(path, reading) == [{"id": "a", "text": "Schöne Grüße aus München, natürlich für alle"}]
    (note,) = reading.notes
    assert note.startswith(
        f"{path} was read as cp1252 (guessed), cells separated by semicolons. Line 2 reads 'Schöne Grüße"
    )
    assert "If that is wrong, name the encoding with --encoding (Python: encoding=), perhaps" in note
    reading.faults.append("row 2: unknown id")
    with pytest.raises(FaultyRowsError, match=r"row 2: unknown id; .* was read as cp1252"):
        reading.settle()
    assert rows(path, Reading(encoding="cp850"))[0]["text"].startswith("Sch÷ne")


def test_a_wrong_encoding_or_delimiter_is_refused(tmp_path: Path):
    (tmp_path / "a.csv").write_bytes("id,text\na,café\n".encode("cp1252"))
    with pytest.raises(DataFileError, match=r"row 2, byte 6: not UTF-8 text; .* --encoding cp1252"):
        rows(tmp_path / "a.csv", Reading(encoding="utf-8"))
    (tmp_path / "b.csv").write_bytes(b"id,text\n" + bytes(range(256)))
    with pytest.raises(DataFileError, match="this is not text"):
        rows(tmp_path / "b.csv")
    assert Reading(delimiter="tab").delimiter == "\t"
    for wrong in ({"encoding": "latin-99"}, {"delimiter": ";;"}):
        with pytest.raises(SettingError):
            Reading(**wrong)


def test_a_field_of_any_length(tmp_path: Path):
    (tmp_path / "a.csv").write_text(f"id,text\na,{'x' * 200_000}\n")
    assert len(rows(tmp_path / "a.csv")[0]["text"]) == 200_000


def test_faulty_lines_are_gathered_and_the_others_read(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"id": "a"}\n[1]\n{"id": "b"}\n{"id"\n')
    reading = Reading()
    assert rows(tmp_path / "a.jsonl", reading) == [{"id": "a"}, {"id": "b"}]
    with pytest.raises(
        FaultyRowsError, match=r"2 faulty rows; .* row 2: expected a JSON object.* row 4: not valid JSON"
    ):
        reading.settle()


def test_excel(tmp_path: Path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["id", "text", None], [7, "seven", None], [8.0, 2.5, "beside the table"], [None, None, None]):
        book.active.append(row)
    book.create_sheet("second")
    book.save(tmp_path / "a.xlsx")
    reading = Reading()
    assert rows(tmp_path / "a.xlsx", reading) == [{"id": 7, "text": "seven"}, {"id": 8, "text": 2.5}]
    assert reading.notes == [f"{tmp_path / 'a.xlsx'}: read the first of 2 sheets, 'Sheet'"]


def test_a_dataset_needs_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"tellmore\[datasets\]"):
        rows(Path("hf:owner/name:train"))
