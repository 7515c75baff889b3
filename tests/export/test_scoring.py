from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tellmore.classifier import Classifier
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.project import Project
from tellmore.data.reading import Reading
from tellmore.data.settings import Settings
from tellmore.data.tfidf import Tfidf
from tellmore.errors import DataFileError, SettingError
from tellmore.export import write_export
from tellmore.export.scoring import score_file, score_source
from tellmore.store.state import load_state

PROVENANCE = {"tellmore_version": "9.9", "seed": 3, "data_sha256": "ab", "config": {"learning": {"seed": 3}}}


@pytest.fixture
def classifier() -> Classifier:
    return Classifier(
        Mixture.of(Gaussian.from_moments(np.array([0.1, 1.0, -1.0]), np.eye(3) / 50)), 5.0, normalised=True
    )


@pytest.fixture
def new(tmp_path: Path) -> tuple[Path, Path, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(5, 2)) * 3
    (tmp_path / "new.csv").write_text("id,text\n" + "".join(f"n{row},t\n" for row in range(5)))
    order = [4, 2, 0, 1, 3]
    np.savez(tmp_path / "new.npz", ids=[f"n{row}" for row in order], X=X[order])
    return tmp_path / "new.csv", tmp_path / "new.npz", X


def test_scores_follow_the_items_in_every_format(tmp_path: Path, classifier, new):
    items, vectors, X = new
    wanted = classifier.apply(X).probability
    for suffix in ("csv", "jsonl", "parquet"):
        out = tmp_path / f"out.{suffix}"
        assert score_file(classifier, items, out, EmbeddingSource(vectors), provenance=PROVENANCE) == 5
        if suffix == "csv":
            rows = list(csv.DictReader(out.read_text().splitlines()))
            assert json.loads((tmp_path / "out.csv.provenance.json").read_text()) == PROVENANCE
        elif suffix == "jsonl":
            first, *rows = [json.loads(line) for line in out.read_text().splitlines()]
            assert first == {"kind": "provenance", "payload": PROVENANCE}
        else:
            rows = pq.read_table(out).to_pylist()
            metadata = pq.read_schema(out).metadata
            assert metadata[b"seed"] == b"3"
            assert json.loads(metadata[b"config"]) == PROVENANCE["config"]
        assert [row["id"] for row in rows] == [f"n{row}" for row in range(5)]
        assert np.allclose([float(row["probability"]) for row in rows], wanted)
        assert all(float(row["score_sd"]) > 0 for row in rows)


def test_vectors_alone_are_enough(tmp_path: Path, classifier, new):
    _, vectors, X = new
    source = score_source(Settings(), vectors)
    score_file(classifier, vectors, tmp_path / "o.jsonl", source, provenance=PROVENANCE)
    first = json.loads((tmp_path / "o.jsonl").read_text().splitlines()[1])
    assert first["id"] == "n4"
    assert first["score"] == pytest.approx(classifier.apply(X[4:]).score[0])


def test_new_texts_through_an_embedder(tmp_path: Path, classifier, new):
    import sys

    (tmp_path / "mine.py").write_text("import sys\nfor line in sys.stdin: print([len(line), 1])\n")
    source = EmbeddingSource(embed=f"exec:{sys.executable} {tmp_path}/mine.py")
    assert score_file(classifier, new[0], tmp_path / "o.csv", source, provenance=PROVENANCE) == 5
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_what_cannot_be_scored(tmp_path: Path, classifier, new):
    items, vectors, _ = new
    settings = Settings().changed(data={"embeddings": "model2vec:some/model"})
    with pytest.raises(
        SettingError, match=r"there: model2vec:some/model\); a model named in a project is never loaded"
    ):
        score_source(settings, items)
    with pytest.raises(SettingError, match=r"written as \.csv, \.jsonl or \.parquet"):
        score_file(classifier, items, tmp_path / "o.xlsx", EmbeddingSource(vectors), provenance=PROVENANCE)
    np.savez(tmp_path / "wide.npz", X=np.ones((5, 7)), ids=[f"n{row}" for row in range(5)])
    with pytest.raises(DataFileError, match=r"vectors of 7 dimensions, but the classifier takes 2"):
        score_file(classifier, items, tmp_path / "o.csv", EmbeddingSource(tmp_path / "wide.npz"), provenance=PROVENANCE)
    np.savez(tmp_path / "nameless.npz", X=np.ones((5, 2)))
    with pytest.raises(DataFileError, match="no array 'ids'"):
        score_file(classifier, tmp_path / "nameless.npz", tmp_path / "o.csv", None, provenance=PROVENANCE)
    np.savez(tmp_path / "nan.npz", X=np.full((5, 2), np.nan), ids=[f"n{row}" for row in range(5)])
    with pytest.raises(DataFileError, match="row 1, column 1: nan"):
        score_file(classifier, items, tmp_path / "o.csv", EmbeddingSource(tmp_path / "nan.npz"), provenance=PROVENANCE)
    assert not list(tmp_path.glob("*o.csv*"))


def tfidf_project(folder: Path) -> Project:
    pytest.importorskip("sklearn")
    texts = ["kind staff", "rude staff", "kind room", "cold room", "rude cold"]
    (folder / "items.csv").write_text("id,text\n" + "".join(f"i{row},{text}\n" for row, text in enumerate(texts)))
    source = EmbeddingSource(embed="tfidf")
    settings = Settings().changed(start={"like": ["i0", "i2"], "unlike": ["i1", "i4"]})
    return Ingest(folder / "p", folder / "items.csv", source, settings).run()[0]


@pytest.mark.parametrize("embed", [None, "tfidf"])
def test_new_texts_go_through_what_was_fitted_on_the_projects_own(tmp_path: Path, embed: str | None):
    project = tfidf_project(tmp_path)
    state = load_state(project)
    new = tmp_path / "new.csv"
    new.write_text("id,text\nn1,kind kind cold\nn2,rude\nn3,unheard of\n")
    source = score_source(project.settings, new, embed=embed, tfidf=project.tfidf_path)
    score_file(state.classifier, new, tmp_path / "o.csv", source, provenance=PROVENANCE)
    rows = list(csv.DictReader((tmp_path / "o.csv").read_text().splitlines()))
    assert project.tfidf_path is not None
    X = Tfidf.load(project.tfidf_path).encode(["kind kind cold", "rude", "unheard of"])
    assert np.allclose([float(row["probability"]) for row in rows], state.classifier.apply(X).probability)
    assert float(rows[0]["probability"]) > 0.5 > float(rows[1]["probability"])


def test_tfidf_is_only_for_projects_made_by_it(tmp_path: Path, new):
    items, vectors, _ = new
    with pytest.raises(SettingError, match="the project's vectors were not made with it"):
        score_source(Settings(), items, embed="tfidf")
    assert score_source(Settings(), vectors, tfidf=tmp_path / "tfidf.npz") is None
    assert score_source(Settings(), items, vectors, tfidf=tmp_path / "tfidf.npz") == EmbeddingSource(vectors)


def test_an_exported_classifier_has_its_text_step_beside_it(tmp_path: Path):
    skops_io = pytest.importorskip("skops.io")
    project = tfidf_project(tmp_path)
    state = load_state(project)
    out, beside = write_export(state, "sklearn", tmp_path / "c.skops")
    assert beside == tmp_path / "c.skops.tfidf.skops"
    assert skops_io.get_untrusted_types(file=beside) == []
    texts = ["kind cold", "rude room"]
    assert project.tfidf_path is not None
    X = Tfidf.load(project.tfidf_path).encode(texts)
    vectors = skops_io.load(beside).transform(texts)
    assert np.allclose(vectors, X, atol=1e-6)
    positive = skops_io.load(out).predict_proba(vectors)[:, 1] > 0.5
    assert np.array_equal(positive, state.classifier.apply(X).score > 0)
    _, plain = write_export(state, "npz", tmp_path / "c.npz")
    assert plain == tmp_path / "c.npz.tfidf.npz"
    assert plain.read_bytes() == project.tfidf_path.read_bytes()
    assert write_export(state, "report", tmp_path / "r.html") == [tmp_path / "r.html"]


def test_both_steps_run_in_onnx(tmp_path: Path):
    onnxruntime = pytest.importorskip("onnxruntime")
    project = tfidf_project(tmp_path)
    state = load_state(project)
    out, beside = write_export(state, "onnx", tmp_path / "c.onnx")
    assert beside == tmp_path / "c.onnx.tfidf.onnx"
    texts = ["Kind cold", "RUDE room", "unheard of"]
    first, second = (onnxruntime.InferenceSession(path) for path in (beside, out))
    vectors = first.run(["embedding"], {"lowercase_text": [text.lower() for text in texts]})[0]
    probability = second.run(["probability"], {"embedding": vectors})[0]
    assert project.tfidf_path is not None
    expected = state.classifier.apply(Tfidf.load(project.tfidf_path).encode(texts))
    assert np.allclose(probability, expected.probability, atol=1e-5)
    assert first.get_modelmeta().custom_metadata_map["data_sha256"] == state.pool.fingerprint


def test_pictures_that_cannot_be_read_are_left_out_where_wished(tmp_path: Path):
    from PIL import Image

    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, colour in (("a.png", "red"), ("c.png", "blue")):
        Image.new("RGB", (8, 8), colour).save(folder / name)
    (folder / "b.png").write_bytes(b"no picture")
    (tmp_path / "colour.py").write_text("import sys\nfor line in sys.stdin:\n    print([1, 0, 0])\n")
    classifier = Classifier(Mixture.of(Gaussian.from_moments(np.zeros(4), np.eye(4))), 1.0, False)
    source = EmbeddingSource(embed=f"exec:{sys.executable} {tmp_path / 'colour.py'}")
    out = tmp_path / "s.csv"
    reading = Reading()
    count = score_file(classifier, folder, out, source, provenance={}, skip_unreadable=True, reading=reading)
    assert (count, reading.notes) == (2, ["left out as unreadable: 'b.png'"])
    assert [line.split(",")[0] for line in out.read_text().splitlines()] == ["id", "a.png", "c.png"]
