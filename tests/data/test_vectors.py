from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellmore.data import vectors as module
from tellmore.data.vectors import MatrixWriter, open_vectors
from tellmore.errors import DataFileError


def whole(path: Path, **options) -> np.ndarray:
    opened = open_vectors(path, **options)
    X = np.concatenate(list(opened.chunks()))
    assert X.shape == (opened.n, opened.d)
    return X


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<f2", "i2"])
@pytest.mark.parametrize("save", ["npy", "npz", "compressed"])
def test_numpy_files_come_back_in_chunks(tmp_path: Path, monkeypatch, save, dtype, order):
    monkeypatch.setattr(module, "CHUNK_BYTES", 64)
    X = np.asarray(np.arange(50).reshape(10, 5), dtype=dtype, order=order)
    path = tmp_path / ("x.npy" if save == "npy" else "x.npz")
    if save == "npy":
        np.save(path, X)
    else:
        (np.savez if save == "npz" else np.savez_compressed)(path, X=X)
    assert np.array_equal(whole(path), X.astype(float))
    assert order == "F" or len(list(open_vectors(path).chunks())) > 1


def test_ids_of_an_npz_may_be_numbers_or_bytes(tmp_path: Path):
    np.savez(tmp_path / "n.npz", X=np.eye(2), ids=np.array([7, 8]))
    np.savez(tmp_path / "b.npz", X=np.eye(2), ids=np.array(["é".encode(), b"y"]))
    assert open_vectors(tmp_path / "n.npz").ids == ("7", "8")
    assert open_vectors(tmp_path / "b.npz").ids == ("é", "y")


@pytest.mark.parametrize(("name", "content"), [("i.txt", "a\nb\n"), ("i.json", '["a", "b"]'), ("i.npy", None)])
def test_ids_beside_an_npy(tmp_path: Path, name, content):
    np.save(tmp_path / "x.npy", np.eye(2))
    np.save(tmp_path / name, np.array(["a", "b"])) if content is None else (tmp_path / name).write_text(content)
    assert open_vectors(tmp_path / "x.npy", ids_path=tmp_path / name).ids == ("a", "b")


@pytest.mark.parametrize("kind", ["list", "fixed", "columns"])
def test_parquet_by_vector_column_or_by_numeric_columns(tmp_path: Path, kind):
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = np.arange(6.0).reshape(2, 3)
    columns = {
        "list": {"v": pa.array(X.tolist(), pa.list_(pa.float32()))},
        "fixed": {"v": pa.array(X.tolist(), pa.list_(pa.float64(), 3))},
        "columns": {f"c{n}": X[:, n] for n in range(3)} | {"year": [1999, 2000]},
    }[kind]
    pq.write_table(pa.table({"key": ["a", "b"], **columns}), tmp_path / "x.parquet")
    options = {"id_column": "key", "columns": ["c*"] if kind == "columns" else []}
    assert open_vectors(tmp_path / "x.parquet", **options).ids == ("a", "b")
    assert np.array_equal(whole(tmp_path / "x.parquet", **options), X)


def test_numeric_columns_of_parquet_are_named_or_refused(tmp_path: Path, one_line):
    """The index that pandas writes after a shuffle, and a year, are not dimensions."""
    import pandas as pd

    frame = pd.DataFrame({"id": list("abc"), "e0": [0.1, 0.2, 0.3], "e1": [1.0, 2.0, 3.0], "year": [1999, 2000, 2001]})
    frame.iloc[[2, 0, 1]].to_parquet(tmp_path / "x.parquet")
    with pytest.raises(
        DataFileError, match=r"--vector-columns, for example 'e\*' \(the file has e0, e1, year"
    ) as raised:
        open_vectors(tmp_path / "x.parquet")
    assert "__index_level_0__" in one_line(raised.value)
    for named in (["e*"], ["e0,e1"], ["e0, e1"], ["e0", "e1"]):
        assert whole(tmp_path / "x.parquet", columns=named).tolist() == [[0.3, 3.0], [0.1, 1.0], [0.2, 2.0]]
    with pytest.raises(DataFileError, match="no column of numbers fits 'e7'"):
        open_vectors(tmp_path / "x.parquet", columns=["e0,e7"])
    frame.rename(columns={"e0": "a,b"}).to_parquet(tmp_path / "comma.parquet")
    assert whole(tmp_path / "comma.parquet", columns=["a,b"]).tolist() == [[0.1], [0.2], [0.3]]
    with pytest.raises(DataFileError, match="no column of numbers fits 'f\\*'"):
        open_vectors(tmp_path / "x.parquet", columns=["f*"])


class Evil:
    def __reduce__(self):
        return print, ("pickle was run",)


def test_pickles_are_refused_and_never_run(tmp_path: Path, capsys, one_line):
    for name, arrays in {
        "x": {"X": np.array([[Evil(), Evil()]])},
        "ids": {"X": np.eye(1), "ids": np.array([Evil()])},
    }.items():
        np.savez(tmp_path / f"{name}.npz", **arrays, allow_pickle=True)
        with pytest.raises(DataFileError, match="pickled Python objects") as raised:
            open_vectors(tmp_path / f"{name}.npz")
        one_line(raised.value)
    np.save(tmp_path / "x.npy", np.array([[Evil()]]), allow_pickle=True)
    with pytest.raises(DataFileError, match="pickled Python objects"):
        open_vectors(tmp_path / "x.npy")
    assert capsys.readouterr().out == ""


def test_faults_of_numpy_files(tmp_path: Path, one_line):
    def fault(name: str, make, said: str, **options) -> None:
        path = tmp_path / name
        make(path)
        with pytest.raises(DataFileError) as raised:
            whole(path, **options)
        assert said in one_line(raised.value)
        assert str(tmp_path) in str(raised.value)

    fault("a.npz", lambda p: np.savez(p, Y=np.eye(2)), "no array 'X'; it has Y")
    fault("b.npz", lambda p: np.savez(p, X=np.ones(3)), "must be a matrix [items, dimensions], not of shape [3]")
    fault("c.npz", lambda p: np.savez(p, X=np.array([["a"]])), "must hold real numbers")
    fault("d.npz", lambda p: p.write_bytes(b"PK\x03\x04 nothing"), "not a readable .npz")
    fault("e.npy", lambda p: p.write_bytes(b"nothing"), "not a readable NumPy array")
    fault("f.npy", lambda p: p.write_bytes(b""), "the file is empty")
    fault("g.npz", lambda p: np.savez(p, X=np.eye(2), ids=np.eye(2)), "ids must be a list of texts")
    fault("h.bin", lambda p: p.write_bytes(b"x"), "unknown kind of embeddings; allowed are .npz, .npy, .parquet")
    fault("i.npz", lambda p: np.savez(p, X=np.eye(2)), "belongs to a .npy", ids_path=tmp_path / "i.txt")
    with pytest.raises(DataFileError, match="no such file"):
        open_vectors(tmp_path / "gone.npz")


def test_a_file_cut_short_names_the_row(tmp_path: Path):
    np.save(tmp_path / "x.npy", np.ones((10, 4)))
    data = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(data[:-40])
    with pytest.raises(DataFileError, match="cut short in row 9 of 10"):
        whole(tmp_path / "x.npy")


def test_a_damaged_archive_is_noticed(tmp_path: Path):
    np.savez(tmp_path / "x.npz", X=np.ones((100, 4)))
    data = bytearray((tmp_path / "x.npz").read_bytes())
    data[500] ^= 0xFF
    (tmp_path / "x.npz").write_bytes(bytes(data))
    with pytest.raises(DataFileError, match="damaged"):
        whole(tmp_path / "x.npz")


def test_faults_of_parquet(tmp_path: Path, one_line):
    import pyarrow as pa
    import pyarrow.parquet as pq

    def fault(table: dict, said: str) -> None:
        pq.write_table(pa.table(table), tmp_path / "x.parquet")
        with pytest.raises(DataFileError) as raised:
            whole(tmp_path / "x.parquet")
        assert said in one_line(raised.value)

    fault({"id": ["a", "b"], "v": [[1.0, 2.0], [1.0]]}, "row 2, column v: a vector of 1 numbers, expected 2")
    fault({"id": ["a", None], "v": [[1.0], [1.0]]}, "row 2, column id: the id is missing")
    fault({"id": ["a"], "t": ["x"]}, "no column holds vectors or numbers")
    fault({"id": ["a"], "v": [[1.0]], "u": [[1.0]]}, "several columns hold vectors")
    fault({"id": pa.array([], pa.string()), "v": pa.array([], pa.list_(pa.float64()))}, "no rows")


@given(st.permutations(range(12)), st.integers(1, 12))
def test_the_writer_puts_blocks_where_they_belong(tmp_path_factory, order, block):
    path = tmp_path_factory.mktemp("w") / "x.npy"
    X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
    with MatrixWriter(path, 12, 3) as writer:
        for start in range(0, 12, block):
            rows = np.array(order[start : start + block])
            writer.write(rows, X[rows])
    assert np.array_equal(np.load(path), X)


def test_ids_that_are_not_utf8(tmp_path: Path, one_line):
    np.savez(tmp_path / "a.npz", ids=np.array([b"caf\xe9", b"tea"]), X=np.ones((2, 2)))
    with pytest.raises(DataFileError, match=r"a\.npz: ids holds bytes that are not UTF-8"):
        open_vectors(tmp_path / "a.npz")
    np.save(tmp_path / "b.npy", np.ones((2, 2)))
    (tmp_path / "ids.txt").write_bytes(b"tea\ncaf\xe9\n")
    with pytest.raises(DataFileError, match=r"ids.txt, row 2, byte 4: not UTF-8") as raised:
        open_vectors(tmp_path / "b.npy", ids_path=tmp_path / "ids.txt")
    assert one_line(raised.value)


def test_ids_of_objects_are_told_how_to_be_saved(tmp_path: Path):
    ids = np.array(["a", "b"], dtype=object)
    np.savez(tmp_path / "a.npz", ids=ids, X=np.eye(2))
    np.save(tmp_path / "x.npy", np.eye(2))
    np.save(tmp_path / "ids.npy", ids)
    for options in ({"path": tmp_path / "a.npz"}, {"path": tmp_path / "x.npy", "ids_path": tmp_path / "ids.npy"}):
        with pytest.raises(DataFileError, match=r"pickled .* as text: np\.array\(ids, dtype=str\)"):
            open_vectors(**options)
