"""TF-IDF vectors: compared with the written-out formula, stored without pickles, useful, and refused if impossible."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.embed import embedding_key, open_embedder
from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.project import open_project
from tellmore.data.tfidf import MOST_DIMENSIONS, Tfidf
from tellmore.errors import DataFileError, InputError, MissingExtraError, SettingError
from tellmore.pool import Pool

pytest.importorskip("sklearn")

TEXTS = [
    "The staff were kind, the room was warm.",
    "The room was cold and the staff were rude",
    "kind people and good food",
    "Rude people, cold food, cold room",
    "",
    "Über 3 Gäste: sehr kind",
]
TOPICS = {
    "space": ["orbit", "rocket", "moon", "launch", "engine", "shuttle", "lunar", "crew", "probe", "fuel"],
    "baking": ["flour", "oven", "dough", "butter", "sugar", "crust", "yeast", "knead", "whisk", "pastry"],
}
PLAIN = ["the", "of", "and", "to", "in", "that", "it", "was", "for", "on", "with", "as", "at", "by", "this"]


def newsgroup(n: int, seed: int) -> tuple[list[str], list[bool]]:
    """Texts of 30 words, a sixth of them about space or about baking."""
    rng = np.random.default_rng(seed)
    about = rng.random(n) < 0.5
    texts = [
        " ".join(
            rng.choice(TOPICS["space" if space else "baking"] if rng.random() < 1 / 6 else PLAIN) for _ in range(30)
        )
        for space in about
    ]
    return texts, about.tolist()


def terms_of(text: str) -> list[str]:
    words = re.findall(r"\w+", text.lower())
    return words + [f"{one} {other}" for one, other in pairwise(words)]


def slow_vector(model: Tfidf, text: str) -> list[float]:
    counts = Counter(term for term in terms_of(text) if term in model.terms)
    weight = {term: (1 + math.log(count)) * model.idf[model.terms.index(term)] for term, count in counts.items()}
    length = math.sqrt(sum(value**2 for value in weight.values())) or 1.0
    return [
        sum(value / length * float(row[model.terms.index(term)]) for term, value in weight.items())
        for row in model.components
    ]


def test_vectors_are_those_of_the_formula() -> None:
    model = Tfidf.fit(TEXTS)
    new = [*TEXTS, "kind staff and KIND food", "nothing known here"]
    assert np.allclose(model.encode(new), [slow_vector(model, text) for text in new], atol=1e-6)
    assert np.allclose(model.pipeline.transform(new), model.encode(new), atol=1e-6)


def test_rare_terms_weigh_more_and_directions_are_orthonormal() -> None:
    model = Tfidf.fit(TEXTS)
    filled = [text for text in TEXTS if text]
    for term in ("kind", "cold food", "über"):
        found = sum(term in terms_of(text) for text in filled)
        assert model.idf[model.terms.index(term)] == pytest.approx(math.log((1 + len(filled)) / (1 + found)) + 1)
    assert np.allclose(model.components @ model.components.T, np.eye(len(filled) - 1), atol=1e-5)


def test_large_pools_keep_300_dimensions_and_shared_terms_only() -> None:
    words = [f"w{n}" for n in range(2000)]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 20)) + f" only{n}" for n in range(400)]
    model = Tfidf.fit(texts)
    assert len(model.components) == MOST_DIMENSIONS
    assert not any(term.startswith("only") for term in model.terms)


def test_topics_are_told_apart_in_new_texts() -> None:
    texts, about = newsgroup(300, seed=1)
    new, truth = newsgroup(200, seed=2)
    model = Tfidf.fit(texts)
    known, unknown = model.encode(texts), model.encode(new)
    centres = [known[np.array(about) == side].mean(axis=0) for side in (False, True)]
    guess = unknown @ (centres[1] - centres[0]) > np.mean([centre @ (centres[1] - centres[0]) for centre in centres])
    assert np.mean(guess == np.array(truth)) > 0.97


def test_the_same_texts_give_the_same_model_and_it_survives_a_file(tmp_path: Path) -> None:
    model = Tfidf.fit(TEXTS)
    model.save(tmp_path / "m.npz")
    again = Tfidf.load(tmp_path / "m.npz")
    assert again.terms == model.terms == Tfidf.fit(TEXTS).terms
    assert np.array_equal(again.encode(TEXTS), model.encode(TEXTS))
    assert np.allclose(Tfidf.fit(TEXTS).encode(TEXTS), model.encode(TEXTS), atol=1e-6)
    with np.load(tmp_path / "m.npz", allow_pickle=False) as arrays:
        assert not any(arrays[name].dtype.hasobject for name in arrays.files)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["", "  "], "every text is empty; name the column"),
        (["same here"] * 5, "all texts are the same"),
        (["one", "two", "three"], "no word occurs in two texts"),
        ([f"word{n}" for n in range(300)], "no word occurs in two texts"),
        (["!!", "?", "..."], "no word occurs in two texts"),
    ],
)
def test_texts_that_cannot_be_compared(texts: list[str], message: str) -> None:
    with pytest.raises(SettingError, match=f"--embed tfidf: {message}"):
        Tfidf.fit(texts)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no such file"):
        Tfidf.load(tmp_path / "m.npz")
    (tmp_path / "m.npz").write_bytes(b"not a zip")
    with pytest.raises(DataFileError, match="not a readable TF-IDF model"):
        Tfidf.load(tmp_path / "m.npz")
    np.savez(tmp_path / "m.npz", terms=np.frombuffer(b"a\nb", dtype=np.uint8), idf=np.ones(3))
    with pytest.raises(DataFileError, match="no array 'components"):
        Tfidf.load(tmp_path / "m.npz")
    np.savez(
        tmp_path / "m.npz", terms=np.frombuffer(b"a\nb", dtype=np.uint8), idf=np.ones(3), components=np.ones((1, 2))
    )
    with pytest.raises(DataFileError, match=r"2 terms, but idf has shape \[3\]"):
        Tfidf.load(tmp_path / "m.npz")


def test_without_scikit_learn_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.decomposition", None)
    with pytest.raises(MissingExtraError, match=r"tellmore\[sklearn\]"):
        Tfidf.fit(TEXTS)


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "items.csv"
    path.write_text("id,text\n" + "".join(f'i{n},"{text}"\n' for n, text in enumerate(TEXTS)), encoding="utf-8")
    return path


def test_a_project_keeps_what_was_fitted(tmp_path: Path, items: Path) -> None:
    project, findings = Ingest(tmp_path / "p", items, EmbeddingSource(embed="tfidf")).run()
    assert (findings.dimensions, len(findings.zero_vectors)) == (4, 1)
    assert open_project(tmp_path / "p").settings.data.embeddings == "tfidf"
    assert project.tfidf_path is not None
    vectors = Tfidf.load(project.tfidf_path).encode(TEXTS)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.allclose(project.pool.X, vectors / np.where(lengths > 0, lengths, 1), atol=1e-6)
    other, _ = Ingest(tmp_path / "q", items, EmbeddingSource(embed=f"tfidf:{project.tfidf_path}")).run()
    assert np.array_equal(other.pool.X, project.pool.X)
    assert other.settings.data.embeddings == "tfidf"
    assert other.tfidf_path == tmp_path / "q" / "tfidf.npz"


def test_pictures_are_refused_and_nothing_is_made(tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / "pictures").mkdir()
    for name in "ab":
        Image.new("RGB", (8, 8)).save(tmp_path / "pictures" / f"{name}.png")
    with pytest.raises(InputError, match="tfidf embeds texts, but the items are images"):
        Ingest(tmp_path / "p", tmp_path / "pictures", EmbeddingSource(embed="tfidf")).run()
    assert not (tmp_path / "p").exists()


def test_what_lies_in_the_current_folder_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = embedding_key("tfidf", [])
    (tmp_path / "other.txt").write_text("x")
    assert embedding_key("tfidf", []) == before


def test_a_misspelt_embedder_is_told_of_tfidf() -> None:
    with pytest.raises(SettingError, match=r"expected one of onnx:.* or tfidf$"):
        open_embedder("tf-idf", "text")


def test_directions_that_are_only_rounding_are_left_out() -> None:
    """Texts made of few parts span few directions; a new word must not lie far outside along the rest."""
    pytest.importorskip("sklearn")
    texts = [f"{a} {b} {c}" for a in ("kind", "rude", "warm", "cold") for b in ("staff", "room") for c in "stuvwxyz"]
    model = Tfidf.fit(texts)
    X = model.encode(texts)
    assert X.shape[1] <= np.linalg.matrix_rank(X, tol=1e-4) < len(texts) - 1
    words = Pool(X).coordinates.into(model.encode(["kind", "rude"]))
    assert np.linalg.norm(words, axis=1).max() < 5, "typical texts have length 1 there"
