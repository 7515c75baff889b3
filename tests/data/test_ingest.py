from __future__ import annotations

import errno
import json
import resource
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.items import Columns
from tellmore.data.vectors import MatrixWriter
from tellmore.errors import DataFileError, SettingError, StateError


def made(tmp_path: Path, items: Path, source: EmbeddingSource, **options):
    return Ingest(tmp_path / "project", items, source, **options).run()


def test_vectors_are_joined_by_id_and_scaled_to_length_one(tmp_path: Path, items_csv, embeddings_npz, vectors, words):
    project, findings = made(tmp_path, items_csv, EmbeddingSource(embeddings_npz))
    wanted = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.allclose(project.pool.X, wanted, atol=1e-6)
    assert project.pool.ids == tuple(f"i{n}" for n in range(6))
    assert project.pool.text == tuple(words)
    data = project.settings.data
    assert (data.items, data.embeddings, data.normalised) == ("items.csv", "emb.npz", True)
    assert data.sha256 == project.pool.fingerprint
    assert (findings.items, findings.dimensions, findings.normalised) == (6, 3, True)


def test_vectors_as_given_where_asked(tmp_path: Path, items_csv, embeddings_npz, vectors):
    project, findings = made(tmp_path, items_csv, EmbeddingSource(embeddings_npz), normalise=False)
    assert np.allclose(project.pool.X, vectors, rtol=1e-6)
    assert not project.settings.data.normalised
    assert "as given" in findings.lines()[0]


def test_row_order_counts_only_where_it_is_said(tmp_path: Path, items_csv, vectors):
    np.save(tmp_path / "x.npy", vectors)
    with pytest.raises(DataFileError, match=r"no ids to join by.*--by-row"):
        made(tmp_path, items_csv, EmbeddingSource(tmp_path / "x.npy"))
    project, _ = made(tmp_path, items_csv, EmbeddingSource(tmp_path / "x.npy", by_row=True), normalise=False)
    assert np.allclose(project.pool.X, vectors, rtol=1e-6)


def test_ids_from_a_file_beside_the_matrix(tmp_path: Path, items_csv, vectors):
    np.save(tmp_path / "x.npy", vectors[::-1])
    (tmp_path / "ids.txt").write_text("".join(f"i{n}\n" for n in range(5, -1, -1)))
    source = EmbeddingSource(tmp_path / "x.npy", ids_file=tmp_path / "ids.txt")
    project, _ = made(tmp_path, items_csv, source, normalise=False)
    assert np.allclose(project.pool.X, vectors, rtol=1e-6)


def test_what_is_found_is_told(tmp_path: Path):
    rows = ["a,good,positive", "b,good,negative", "c,,", "d,bad,negative", "e,fine,"]
    (tmp_path / "items.csv").write_text("id,text,label\n" + "\n".join(rows) + "\n")
    X = np.array([[1, 5, 0], [2, 5, 1], [2, 5, 1], [3, 5, 0], [0, 5, 0]], dtype=float)
    X[4] = [0, 5, 0]
    np.savez(tmp_path / "x.npz", X=X, ids=list("abcde"))
    _, findings = made(tmp_path, tmp_path / "items.csv", EmbeddingSource(tmp_path / "x.npz"))
    assert findings.empty_texts == 1
    assert findings.duplicate_texts == 1
    assert findings.duplicate_vectors == 1
    assert findings.constant_columns == (2,)
    assert (findings.labelled_positive, findings.labelled_negative) == (1, 2)
    assert "1 text left empty" in findings.lines()
    json.dumps(asdict(findings))


def test_zero_vectors_stay_and_are_named(tmp_path: Path, items_csv, vectors):
    vectors[2] = 0
    np.savez(tmp_path / "x.npz", X=vectors, ids=[f"i{n}" for n in range(6)])
    project, findings = made(tmp_path, items_csv, EmbeddingSource(tmp_path / "x.npz"))
    assert findings.zero_vectors == ("i2",)
    (said,) = [line for line in findings.lines() if "zero" in line]
    assert said.startswith("1 vector of length zero ('i2'): ")
    assert not project.pool.X[2].any()


def test_a_folder_of_pictures_embedded_by_a_model(tmp_path: Path, pictures: Path, image_model: Path):
    project, findings = made(tmp_path, pictures, EmbeddingSource(embed=f"onnx:{image_model}"))
    assert findings.items == 8
    red = [row for row, name in enumerate(project.pool.ids) if name.startswith("red")]
    assert (project.pool.X[red, 0] > 0).all()
    assert len(list(project.images_folder.iterdir())) == 8
    assert project.settings.data.embeddings == f"onnx:{image_model}"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_unreadable_pictures_are_an_error_or_left_out(tmp_path: Path, pictures: Path, image_model: Path, one_line):
    (pictures / "red" / "broken.png").write_bytes(b"broken")
    source = EmbeddingSource(embed=f"onnx:{image_model}")
    with pytest.raises(DataFileError, match=r"broken\.png: not a picture.*--skip-unreadable") as raised:
        made(tmp_path, pictures, source)
    one_line(raised.value)
    assert not (tmp_path / "project").exists()
    project, findings = made(tmp_path, pictures, source, skip_unreadable=True)
    assert findings.unreadable_images == ("red/broken.png",)
    assert "red/broken.png" not in project.pool.ids
    assert len(project.pool) == 8


def test_a_wrong_embedder_is_told_before_the_pictures_are_decoded(tmp_path: Path, pictures: Path, monkeypatch):
    monkeypatch.setattr("tellmore.data.ingest.thumbnail", lambda *_: pytest.fail("a picture was decoded"))
    with pytest.raises(SettingError, match="expected one of onnx:"):
        made(tmp_path, pictures, EmbeddingSource(embed="word2vec:x"))


def test_a_command_is_never_recorded(tmp_path: Path, items_csv):
    program = tmp_path / "mine.py"
    program.write_text("import sys\nfor line in sys.stdin: print([len(line), 1])\n")
    project, _ = made(tmp_path, items_csv, EmbeddingSource(embed=f"exec:{sys.executable} {program} --key hidden"))
    assert project.settings.data.embeddings == "exec"
    assert "hidden" not in (project.folder / "tellmore.toml").read_text()


def test_an_interrupted_init_leaves_no_project_and_goes_on_when_run_again(tmp_path: Path, items_csv):
    program = tmp_path / "mine.py"
    program.write_text(
        "import sys\n"
        "for n, line in enumerate(sys.stdin):\n"
        "    if n == 4: sys.exit(1)\n"
        "    print([len(line), n, 1], flush=True)\n"
    )
    source = EmbeddingSource(embed=f"exec:{sys.executable} {program}")
    with pytest.raises(StateError, match="after 4 of 6 items; run the same command again"):
        made(tmp_path, items_csv, source)
    assert not (tmp_path / "project").exists()
    project, _ = made(tmp_path, items_csv, source, normalise=False)
    assert project.pool.X[:, 1].tolist() == [0, 1, 2, 3, 0, 1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.csv", "mine.py", "project"]


def test_a_matrix_of_several_chunks(tmp_path: Path, monkeypatch):
    from tellmore.data import vectors as module

    monkeypatch.setattr(module, "CHUNK_BYTES", 4096)
    rng = np.random.default_rng(0)
    n, order = 3000, rng.permutation(3000)
    X = rng.normal(size=(n, 7)).astype(np.float32)
    (tmp_path / "items.jsonl").write_text("".join(f'{{"id": {n}, "text": "t{n}"}}\n' for n in range(n)))
    np.savez(tmp_path / "x.npz", ids=order, X=X[order])
    project, findings = made(tmp_path, tmp_path / "items.jsonl", EmbeddingSource(tmp_path / "x.npz"), normalise=False)
    assert np.array_equal(project.pool.X, X)
    assert findings.duplicate_vectors == 0


def save(tmp_path: Path, X, ids) -> EmbeddingSource:
    np.savez(tmp_path / "bad.npz", X=np.asarray(X), ids=np.asarray(ids))
    return EmbeddingSource(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("twice", "bad.npz, row 2: the id 'i0' is already in row 1"),
        ("foreign", "bad.npz, row 7: the id 'zz' is not in {folder}/items.csv"),
        ("missing", "items.csv, row 4: the item 'i2' has no vector in {folder}/bad.npz"),
        ("nan", "bad.npz, row 3, column 2: nan is not a usable number"),
        ("infinite", "bad.npz, row 3, column 2: inf is not a usable number"),
        ("beyond", "bad.npz, row 3, column 2: 1e+300 is not a usable number"),
        ("fewer ids", "bad.npz: 6 vectors but 5 ids"),
    ],
)
def test_each_fault_of_the_vectors_names_its_place(tmp_path: Path, items_csv, vectors, fault, said, one_line):
    ids = [f"i{n}" for n in range(6)]
    if fault == "twice":
        ids[1] = "i0"
    elif fault == "foreign":
        ids, vectors = [*ids, "zz"], np.vstack([vectors, vectors[:1]])
    elif fault == "missing":
        ids, vectors = ids[:2] + ids[3:], np.delete(vectors, 2, axis=0)
    elif fault == "fewer ids":
        ids = ids[:5]
    else:
        vectors[2, 1] = {"nan": np.nan, "infinite": np.inf, "beyond": 1e300}[fault]
    before = set(tmp_path.iterdir())
    with pytest.raises(DataFileError) as raised:
        made(tmp_path, items_csv, save(tmp_path, vectors, ids))
    assert said.format(folder=tmp_path) in one_line(raised.value)
    assert set(tmp_path.iterdir()) - before == {tmp_path / "bad.npz"}


def test_by_row_needs_as_many_rows(tmp_path: Path, items_csv, vectors):
    np.save(tmp_path / "x.npy", vectors[:5])
    with pytest.raises(DataFileError, match="5 rows for the 6 items"):
        made(tmp_path, items_csv, EmbeddingSource(tmp_path / "x.npy", by_row=True))


def test_one_item_is_no_pool(tmp_path: Path):
    (tmp_path / "items.csv").write_text("id,text\na,x\n")
    np.savez(tmp_path / "x.npz", X=np.eye(1), ids=["a"])
    with pytest.raises(DataFileError, match="at least 2 items, not 1"):
        made(tmp_path, tmp_path / "items.csv", EmbeddingSource(tmp_path / "x.npz"))


def test_a_picture_missing_from_one_row(tmp_path: Path, pictures, image_model):
    (tmp_path / "items.csv").write_text("id,image\na,pictures/red/0.png\nb,\n")
    with pytest.raises(DataFileError, match=r"items.csv, row 3, column image: no picture to embed"):
        made(tmp_path, tmp_path / "items.csv", EmbeddingSource(embed=f"onnx:{image_model}"))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"file": Path("x.npz"), "embed": "onnx:x"},
        {"embed": "onnx:x", "by_row": True},
        {"file": Path("x.npy"), "by_row": True, "ids_file": Path("i")},
    ],
)
def test_contradictory_sources(options):
    with pytest.raises(SettingError):
        EmbeddingSource(**options)


def test_a_failing_finish_undoes_everything(tmp_path: Path, items_csv, embeddings_npz):
    before = set(tmp_path.iterdir())

    def finish(project):
        assert len(project.pool) == 6
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Ingest(tmp_path / "project", items_csv, EmbeddingSource(embeddings_npz)).run(finish)
    assert set(tmp_path.iterdir()) == before


def test_a_full_disk_leaves_nothing(tmp_path: Path, items_csv, embeddings_npz, monkeypatch, one_line):
    def full(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(MatrixWriter, "write", full)
    before = set(tmp_path.iterdir())
    with pytest.raises(DataFileError, match="No space left on device") as raised:
        made(tmp_path, items_csv, EmbeddingSource(embeddings_npz))
    one_line(raised.value)
    assert set(tmp_path.iterdir()) == before


def test_a_write_that_the_system_refuses_leaves_nothing(tmp_path: Path):
    """As on a full disk, with the system's own refusal: files may not grow beyond 64 KiB."""
    n = 3000
    (tmp_path / "items.jsonl").write_text("".join(f'{{"id": {n}, "text": "x"}}\n' for n in range(n)))
    np.savez(tmp_path / "x.npz", ids=np.arange(n), X=np.ones((n, 50)))
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from tellmore.data.ingest import EmbeddingSource, Ingest\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
        "here = Path(sys.argv[1])\n"
        "Ingest(here / 'project', here / 'items.jsonl', EmbeddingSource(here / 'x.npz')).run()\n"
    )
    assert resource.RLIMIT_FSIZE >= 0
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stderr.strip().splitlines()[-1].startswith("tellmore.errors.DataFileError")
    assert "File too large" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.jsonl", "x.npz"]


def test_memory_stays_bounded_while_a_matrix_is_streamed(tmp_path: Path):
    """A matrix of 160 MB is copied with less than 120 MB in memory at once."""
    import tracemalloc

    n, d = 40_000, 1000
    X = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float32, shape=(n, d))
    X[:, 0] = np.arange(n)
    X[:, 1] = 1
    del X
    (tmp_path / "items.jsonl").write_text("".join(f'{{"id": {n}, "text": "x"}}\n' for n in range(n)))
    tracemalloc.start()
    made(tmp_path, tmp_path / "items.jsonl", EmbeddingSource(tmp_path / "x.npy", by_row=True))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 120e6


def test_items_with_text_and_picture_are_embedded_by_picture(tmp_path: Path, pictures, image_model):
    (tmp_path / "items.csv").write_text("id,text,image\na,one,pictures/red/0.png\nb,two,pictures/blue/1.png\n")
    project, _ = made(tmp_path, tmp_path / "items.csv", EmbeddingSource(embed=f"onnx:{image_model}"))
    assert project.pool.text == ("one", "two")
    assert project.pool.images == (str(pictures / "red/0.png"), str(pictures / "blue/1.png"))
    with Image.open(pictures / "red/0.png") as original:
        assert original.size == (20, 30)


def test_label_column_by_another_name(tmp_path: Path, embeddings_npz, words):
    rows = "".join(f"i{n},{word},{'yes' if n < 3 else 'no'}\n" for n, word in enumerate(words))
    (tmp_path / "items.csv").write_text("id,text,nice\n" + rows)
    project, findings = made(
        tmp_path,
        tmp_path / "items.csv",
        EmbeddingSource(embeddings_npz),
        columns=Columns(label="nice", positive_value="yes"),
    )
    assert (findings.labelled_positive, findings.labelled_negative) == (3, 3)
    assert [item["label"] for item in project.items] == ["positive"] * 3 + ["negative"] * 3


@pytest.mark.parametrize(
    ("factors", "scaled", "learnt_as"),
    [
        ((1, 1, 1), True, "centred and divided by"),
        ((1, 1, 1000), False, "each column divided by its standard deviation"),
    ],
)
def test_vectors_are_scaled_to_length_1_unless_their_columns_differ_in_units(
    tmp_path: Path, factors: tuple[int, ...], scaled: bool, learnt_as: str
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)) * factors
    (tmp_path / "items.csv").write_text(
        "id,text\n" + "".join(f"i{row},t{row}\n" for row in range(40)), encoding="utf-8"
    )
    np.savez(tmp_path / "emb.npz", ids=[f"i{row}" for row in range(40)], X=X)
    source = EmbeddingSource(file=tmp_path / "emb.npz")
    project, findings = Ingest(tmp_path / "p", tmp_path / "items.csv", source).run()
    assert findings.normalised is project.settings.data.normalised is scaled
    assert learnt_as in "\n".join(findings.lines())
    assert np.allclose(np.linalg.norm(project.pool.X, axis=1), 1) is scaled
    given, _ = Ingest(tmp_path / "q", tmp_path / "items.csv", source, normalise=True).run()
    assert given.settings.data.normalised


def test_long_tails_are_named_with_advice(tmp_path: Path):
    """Before the rows are scaled to length 1, which hides them."""
    logs = np.random.default_rng(0).normal(size=(300, 5)) * np.linspace(0.3, 1.6, 5)
    (tmp_path / "items.jsonl").write_text("".join(f'{{"id": {n}, "text": "x"}}\n' for n in range(300)))
    told = []
    for number, X in enumerate((np.exp(logs), logs)):
        np.savez(tmp_path / f"x{number}.npz", ids=np.arange(300).astype(str), X=X)
        folder = tmp_path / f"project {number}"
        _, findings = Ingest(folder, tmp_path / "items.jsonl", EmbeddingSource(tmp_path / f"x{number}.npz")).run()
        told.append([line for line in findings.lines() if "use their logarithms" in line])
    assert [len(lines) for lines in told] == [1, 0]
