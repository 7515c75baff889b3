from __future__ import annotations

import ssl
import sys
import types
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from email.message import Message
from importlib.abc import MetaPathFinder
from pathlib import Path
from urllib.error import HTTPError, URLError

import numpy as np
import pytest

from tellmore.data import embed_hub
from tellmore.data.embed import embed_all, embedding_key, open_embedder
from tellmore.data.embedder import BatchEmbedder, EmbedItem
from tellmore.errors import DataFileError, MissingExtraError, SettingError, StateError


def texts(words: Iterable[str]) -> list[EmbedItem]:
    return [EmbedItem(f"i{n}", text=word) for n, word in enumerate(words)]


class Lengths:
    """Embeds a text by its length, and can be told to stop."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.seen: list[str] = []
        self.stop_after = stop_after

    def embed(self, items: Iterable[EmbedItem]) -> Iterator[np.ndarray]:
        for item in items:
            if self.stop_after is not None and len(self.seen) >= self.stop_after:
                raise KeyboardInterrupt
            self.seen.append(item.id)
            yield np.array([len(item.text or ""), 1.0])


def test_an_interrupted_embedding_goes_on_where_it_stopped(tmp_path: Path):
    items = texts("abcdefghij")
    with pytest.raises(KeyboardInterrupt):
        embed_all(Lengths(stop_after=4), items, tmp_path / "cache", key="k")
    rest = Lengths()
    X = embed_all(rest, items, tmp_path / "cache", key="k")
    assert rest.seen == [f"i{n}" for n in range(4, 10)]
    assert np.array_equal(X, np.ones((10, 2)))


def test_a_torn_vector_is_made_again(tmp_path: Path):
    items = texts(["a", "bb", "ccc"])
    with pytest.raises(KeyboardInterrupt):
        embed_all(Lengths(stop_after=2), items, tmp_path / "cache", key="k")
    with (tmp_path / "cache" / "vectors.f4").open("ab") as file:
        file.write(b"\x01\x02\x03")
    rest = Lengths()
    assert embed_all(rest, items, tmp_path / "cache", key="k")[:, 0].tolist() == [1, 2, 3]
    assert rest.seen == ["i2"]


def test_other_items_start_anew(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        embed_all(Lengths(stop_after=2), texts("abc"), tmp_path / "cache", key="k")
    again = Lengths()
    embed_all(again, texts("abc"), tmp_path / "cache", key="other")
    assert len(again.seen) == 3


def test_the_key_changes_with_what_matters(tmp_path: Path, static_model: Path):
    key = embedding_key("model2vec:a", texts("ab"))
    assert key == embedding_key("model2vec:a", texts("ab"))
    assert key != embedding_key("model2vec:b", texts("ab"))
    assert key != embedding_key("model2vec:a", texts("ac"))
    (tmp_path / "m.onnx").write_bytes(b"1")
    before = embedding_key(f"onnx:{tmp_path}/m.onnx", texts("ab"))
    (tmp_path / "m.onnx").write_bytes(b"22")
    assert before != embedding_key(f"onnx:{tmp_path}/m.onnx", texts("ab"))
    before = embedding_key(f"model2vec:{static_model}", texts("ab"))
    (static_model / "config.json").write_text("{}")
    assert before != embedding_key(f"model2vec:{static_model}", texts("ab"))


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1.0, 2.0], [1.0]], "shape .1. for item 'i1', expected .2."),
        ([[1.0, np.nan], [1.0, 2.0]], "NaN or infinity for item 'i0'"),
        ([[1.0, 2.0]], "1 vectors for 2 items"),
        ([[1.0], [1.0], [1.0]], "more vectors than the 2 items"),
        ([[[1.0]], [[1.0]]], "shape .1, 1."),
    ],
)
def test_wrong_vectors_are_refused_and_nothing_remains(tmp_path: Path, vectors, said):
    class Wrong:
        def embed(self, items: Iterable[EmbedItem]) -> Iterator[np.ndarray]:
            list(items)
            yield from (np.array(vector) for vector in vectors)

    with pytest.raises(DataFileError, match=said):
        embed_all(Wrong(), texts("ab"), tmp_path / "cache", key="k")
    assert not (tmp_path / "cache").exists()


def test_batches_keep_the_order():
    sizes = []

    def encode(items):
        sizes.append(len(items))
        return np.array([[float(item.id[1:])] for item in items])

    vectors = list(BatchEmbedder(encode, batch=4).embed(texts("abcdefghij")))
    assert [float(vector[0]) for vector in vectors] == list(range(10))
    assert sizes == [4, 4, 2]


def test_model2vec_from_a_folder(static_model: Path, words):
    X = np.stack(list(open_embedder(f"model2vec:{static_model}", "text").embed(texts([*words, "calm calm", ""]))))
    table = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
    assert np.allclose(X[:6], table[1:], atol=1e-6)
    assert np.allclose(X[6], table[1], atol=1e-6)
    assert not X[7].any()


def test_without_a_network_the_error_says_what_to_do(no_hub, one_line):
    with pytest.raises(DataFileError) as raised:
        open_embedder("model2vec:some/model", "text")
    said = one_line(raised.value)
    assert "could not be downloaded (the hub does not respond); offline, download it elsewhere" in said
    assert "--embed model2vec:FOLDER" in said


def test_without_a_network_an_earlier_download_is_found(downloaded, static_model: Path):
    downloaded(static_model, "nobody/static")
    ours = list(open_embedder("model2vec:nobody/static", "text").embed(texts(["calm"])))
    assert np.allclose(ours, list(open_embedder(f"model2vec:{static_model}", "text").embed(texts(["calm"]))))


def test_a_model_that_cannot_be_had_says_why_in_one_line(monkeypatch, one_line):
    import model2vec

    def unknown(*_args, **_kwargs):
        raise OSError("Repository not found\nand much more")

    monkeypatch.setattr(embed_hub, "hub_answers", lambda: True)
    monkeypatch.setattr(model2vec.StaticModel, "from_pretrained", unknown)
    with pytest.raises(DataFileError, match=r"downloaded \(Repository not found\); offline") as raised:
        open_embedder("model2vec:some/model", "text")
    assert one_line(raised.value)


def test_a_damaged_folder_is_not_called_a_failed_download(static_model: Path, one_line):
    (static_model / "model.safetensors").write_bytes(b"torn")
    with pytest.raises(DataFileError, match="the model cannot be loaded") as raised:
        open_embedder(f"model2vec:{static_model}", "text")
    assert "download" not in one_line(raised.value)


@pytest.mark.parametrize(
    ("raised", "answers"),
    [
        (None, True),
        (HTTPError("", 404, "not found", Message(), None), True),
        (URLError(ssl.SSLError("unknown certificate")), True),
        (URLError("name not known"), False),
        (TimeoutError(), False),
    ],
)
def test_when_the_hub_counts_as_reachable(monkeypatch, no_hub, raised, answers):
    def urlopen(_request, *, timeout):
        assert timeout <= 10
        if raised:
            raise raised
        return nullcontext()

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    assert embed_hub.hub_answers() is answers


def test_an_extra_that_is_broken_is_not_called_missing(monkeypatch, one_line):
    """A CPU build of torch with a CUDA build of torchvision raises a RuntimeError."""

    class Broken(MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name == "open_clip":
                raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.delitem(sys.modules, "open_clip", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(StateError, match=r"cannot be imported \(operator .*torch and torchvision") as raised:
        open_embedder("open_clip:a/b", "image")
    assert one_line(raised.value)


@pytest.mark.parametrize(
    ("spec", "media", "package"),
    [("sentence-transformers:x", "text", "sentence_transformers"), ("open_clip:a/b", "image", "open_clip")],
)
def test_without_the_extra_the_error_names_it(monkeypatch, spec, media, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"tellmore\[torch\]"):
        open_embedder(spec, media)


def test_sentence_transformers_is_called_as_its_documentation_says(monkeypatch):
    class SentenceTransformer:
        def __init__(self, name: str) -> None:
            assert name == "some/model"

        def encode(self, sentences: list[str], *, show_progress_bar: bool) -> np.ndarray:
            return np.array([[len(sentence), 0.5] for sentence in sentences], dtype=np.float32)

    fake = types.ModuleType("sentence_transformers")
    fake.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    monkeypatch.setattr(embed_hub, "hub_answers", lambda: True)
    embedder = open_embedder("sentence-transformers:some/model", "text")
    assert [vector.tolist() for vector in embedder.embed(texts(["a", "bb"]))] == [[1, 0.5], [2, 0.5]]


@pytest.mark.parametrize(
    ("spec", "media", "said"),
    [
        ("word2vec:x", "text", "expected one of onnx:…, model2vec:…"),
        ("onnx", "text", "expected one of"),
        ("onnx:", "text", "expected one of"),
        ("model2vec:x", "image", "model2vec embeds text, but the items are images"),
        ("open_clip:x/y", "text", "open_clip embeds image, but the items are texts"),
    ],
)
def test_unknown_embedders(spec, media, said):
    with pytest.raises(SettingError, match=said):
        open_embedder(spec, media)
