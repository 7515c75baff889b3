from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tellmore.data.items import Columns, read_items
from tellmore.errors import DataFileError


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_the_three_kinds_of_files_give_the_same(tmp_path: Path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    csv = write(tmp_path / "a.csv", '\ufeffid,text,label\n7,"a, b",positive\n8,,\n')
    rows = [{"id": 7, "text": "a, b", "label": "positive"}, {"id": 8, "text": None, "label": None}]
    jsonl = write(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for path in (csv, jsonl, tmp_path / "a.parquet"):
        table = read_items(path)
        assert table.ids == ("7", "8")
        assert table.text == ("a, b", "")
        assert table.labels == ("positive", None)
        assert table.images is None


def test_labels_that_pandas_wrote_beside_empty_cells_are_numbers_with_a_point(tmp_path: Path):
    frame = pd.DataFrame({"id": list("abc"), "text": list("xyz"), "label": [1, 0, None]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        assert read_items(tmp_path / name).labels == ("positive", "negative", None)
        assert read_items(tmp_path / name, Columns(positive_value="0")).labels == ("negative", "positive", None)


def test_columns_by_name_and_labels_by_value(tmp_path: Path):
    path = write(tmp_path / "a.tsv", "key\tbody\tclass\nx\thello\tspam\ny\tbye\tham\nz\tso\t\n")
    table = read_items(path, Columns(id="key", text="body", label="class", positive_value="spam"))
    assert table.ids == ("x", "y", "z")
    assert table.labels == ("positive", "negative", None)


def test_pictures_are_found_relative_to_the_file(tmp_path: Path, pictures: Path):
    path = write(tmp_path / "a.csv", "id,image\nx,pictures/red/0.png\ny,pictures/blue/1.png\n")
    assert read_items(path).images == (str(pictures / "red/0.png"), str(pictures / "blue/1.png"))


def test_a_folder_of_pictures(pictures: Path):
    (pictures / "notes.txt").write_text("not a picture")
    table = read_items(pictures)
    assert table.ids == tuple(sorted(f"{'red' if n % 2 == 0 else 'blue'}/{n}.png" for n in range(8)))
    assert table.text is None


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "", "{path}: the file is empty"),
        ("a.csv", "id,text\n", "{path}: no items below the header"),
        ("a.csv", "\n\n", "{path}, row 1: expected a header"),
        ("a.csv", "id,text\na,naïve\nb,soirée\n".encode() + b"c,caf\xe9\n", "{path}, row 4, byte 6: not UTF-8"),
        ("a.csv", "id,text\na,x\na,y\n", "{path}, row 3, column id: the id 'a' is already in row 2"),
        ("a.csv", "id,text\na,x\n ,y\n", "{path}, row 3, column id: the id is missing"),
        ("a.csv", "id,text\na,x\nb,y,z\n", "{path}, row 3: 3 cells, but the header has 2"),
        ("a.csv", "id,text\na,x\nb\n", "{path}, row 3: 1 cells"),
        ("a.csv", 'id,text\na,"x\n', "{path}, row 2: not valid CSV"),
        ("a.csv", "id,id,text\na,a,x\n", "{path}, row 1: the column 'id' appears twice"),
        ("a.csv", "key,text\na,x\n", "{path}: no column 'id'; the columns are 'key', 'text'; name it with --id-column"),
        ("a.csv", "id,body\na,x\n", "{path}: no column 'text' or 'image'"),
        (
            "a.csv",
            "id,text,label\na,x,maybe\n",
            "{path}, row 2, column label: the label 'maybe' is unknown: a label is 'positive', 'negative' or empty",
        ),
        ("a.csv", "id,image\na,gone.png\n", "{path}, row 2, column image: no such picture"),
        ("a.jsonl", '{"id": "a", "text": "x"}\n{"id": \n', "{path}, row 2: not valid JSON"),
        ("a.jsonl", '{"id": "a", "text": "x"}\n[1]\n', "{path}, row 2: expected a JSON object"),
        ("a.jsonl", '{"id": "a", "text": "x"}\n{"text": "x"}\n', "{path}, row 2, column id: the id is missing"),
        ("a.jsonl", '{"id": 1.5, "text": "x"}\n', "{path}, row 1, column id: an id is text or a whole number"),
        ("a.jsonl", '{"id": "a", "text": ["x"]}\n', "{path}, row 1, column text: expected text, not list"),
        ("a.jsonl", b'{"id": "a", "text": "\xff"}\n', "{path}, row 1, byte 22: not UTF-8"),
        ("a.jsonl", "\n \n", "{path}: no items"),
        ("a.parquet", "PAR1 but not really", "{path}: not a readable Parquet file"),
        ("a.docx", "x", "{path}: unknown kind of file"),
        ("a.xlsx", "x", "{path}: not a readable Excel workbook"),
    ],
)
def test_each_fault_names_file_row_and_column(tmp_path: Path, name, content, said, one_line):
    path = write(tmp_path / name, content)
    with pytest.raises(DataFileError) as raised:
        read_items(path)
    assert one_line(raised.value).startswith(said.format(path=path))


def test_hidden_files_are_no_items(pictures: Path):
    """Other systems leave such files next to every photograph."""
    before = read_items(pictures).ids
    (pictures / "red" / "._0.png").write_bytes(b"\0\5\26\7")
    (pictures / ".thumbnails").mkdir()
    (pictures / ".thumbnails" / "0.png").write_bytes((pictures / "red" / "0.png").read_bytes())
    assert read_items(pictures).ids == before


def test_a_missing_file_and_a_folder_without_pictures(tmp_path: Path):
    with pytest.raises(DataFileError, match="no such file"):
        read_items(tmp_path / "gone.csv")
    with pytest.raises(DataFileError, match="no pictures in the folder"):
        read_items(tmp_path)


def test_a_positive_value_that_no_label_has(tmp_path: Path, one_line):
    path = write(tmp_path / "a.csv", "id,text,label\na,x,yes\nb,y,no\nc,z,\n")
    with pytest.raises(DataFileError, match=r"column label: no label is 'yse'.*there are 'no', 'yes'") as raised:
        read_items(path, Columns(positive_value="yse"))
    assert one_line(raised.value)
    bare = write(tmp_path / "bare.csv", "id,text\na,x\n")
    with pytest.raises(DataFileError, match="no column 'label'"):
        read_items(bare, Columns(positive_value="yes"))


@pytest.mark.parametrize(
    ("line", "column"),
    [('{"id": "a\\ud800", "text": "x"}', "id"), ('{"id": "a", "text": "x\\ud800"}', "text")],
)
def test_half_a_character(tmp_path: Path, line, column, one_line):
    path = write(tmp_path / "a.jsonl", f'{{"id": "first", "text": ""}}\n{line}\n')
    with pytest.raises(DataFileError, match=f"a.jsonl, row 2, column {column}: .* is half of a character") as raised:
        read_items(path)
    assert one_line(raised.value)


def test_a_parquet_file_damaged_inside(tmp_path: Path, one_line):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [f"i{n}" for n in range(50)], "text": ["word " * 9] * 50}), path)
    content = bytearray(path.read_bytes())
    content[20:60] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=r"a\.parquet: the Parquet file is damaged") as raised:
        read_items(path)
    assert one_line(raised.value)
