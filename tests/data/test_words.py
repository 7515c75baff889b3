"""Words in the space of the items: the text encoder of every embedder that has one, and a one-line error for the others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.project import Project, open_project
from tellmore.data.words import NO_TEXT_SIDE, KeptWords, TextSide, text_side
from tellmore.errors import DataFileError, SettingError

WORDS = ["calm", "warm", "kind", "grim", "cold", "cruel"]


def made(items: Path, embed: str, *, normalise: bool | None = True) -> Project:
    Ingest(items.parent / "p", items, EmbeddingSource(embed=embed), normalise=normalise).run()
    return open_project(items.parent / "p")


def write_text_tower(folder: Path, *, tokens: int | str = "tokens", kind: str = "INT64") -> np.ndarray:
    """A text tower of three dimensions: the sum of its words' vectors. Returns the vectors, by token."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {token: n for n, token in enumerate(["[PAD]", "[UNK]", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "words.json"))
    table = np.random.default_rng(1).normal(size=(len(vocabulary), 3)).astype(np.float32)
    table[:2] = 0
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["each"]),
            helper.make_node("ReduceSum", ["each", "axes"], ["text_embeds"], keepdims=0),
        ],
        "text",
        [helper.make_tensor_value_info("input_ids", getattr(TensorProto, kind), ["batch", tokens])],
        [helper.make_tensor_value_info("text_embeds", TensorProto.FLOAT, ["batch", 3])],
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([1], dtype=np.int64), "axes")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, folder / "text.onnx")
    (folder / "text.json").write_text(json.dumps({"tokenizer": "words.json"}))
    return table


def pair(image_model: Path, **options: str | int) -> np.ndarray:
    """Makes the picture encoder one of two towers."""
    declared = json.loads(image_model.with_suffix(".json").read_text())
    image_model.with_suffix(".json").write_text(json.dumps({**declared, "text_model": "text.onnx"}))
    return write_text_tower(image_model.parent, **options)  # type: ignore[arg-type]


def unit(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("normalise", [True, False])
def test_texts_are_their_own_text_side_and_scaled_as_the_items(items_csv: Path, text_model: Path, normalise: bool):
    project = made(items_csv, f"onnx:{text_model}", normalise=normalise)
    told = text_side(project, f"onnx:{text_model}")
    assert np.allclose(told(WORDS), project.pool.X, atol=1e-6)
    assert np.allclose(np.linalg.norm(told(["calm warm"])), 1) is normalise


def test_static_vectors_are_their_own_text_side(items_csv: Path, static_model: Path):
    project = made(items_csv, f"model2vec:{static_model}")
    assert np.allclose(text_side(project, f"model2vec:{static_model}")(WORDS[:2]), project.pool.X[:2], atol=1e-6)


def test_a_command_is_its_own_text_side_for_texts(items_csv: Path, tmp_path: Path):
    script = tmp_path / "embed.py"
    script.write_text("import json, sys\nfor line in sys.stdin: print([len(json.loads(line)['text']), 1, 2.5])\n")
    project = made(items_csv, f"exec:python {script}", normalise=False)
    assert text_side(project, f"exec:python {script}")(["abc"]).tolist() == [[3, 1, 2.5]]


def test_tfidf_needs_no_name_and_refuses_words_that_it_does_not_know(tmp_path: Path):
    pytest.importorskip("sklearn")
    texts = ["kind warm staff", "cold rude staff", "kind food", "rude cold food"]
    items = tmp_path / "items.csv"
    items.write_text("id,text\n" + "".join(f"i{n},{text}\n" for n, text in enumerate(texts)))
    project = made(items, "tfidf")
    told = text_side(project)
    assert np.allclose(told(texts), project.pool.X, atol=1e-6)
    assert np.array_equal(text_side(project, "tfidf")(["Warm"]), told(["warm"]))
    with pytest.raises(SettingError, match="nothing is known of 'xyzzy'; choose words"):
        told(["kind", "xyzzy"])


@pytest.mark.parametrize(("tokens", "kind"), [("tokens", "INT64"), (5, "INT64"), (5, "INT32")])
def test_an_onnx_pair_embeds_words_beside_pictures(image_model: Path, pictures: Path, tokens: int | str, kind: str):
    table = pair(image_model, tokens=tokens, kind=kind)
    project = made(pictures, f"onnx:{image_model}")
    told = text_side(project, f"onnx:{image_model}")(["calm", "warm grim"])
    assert np.allclose(told, unit(np.stack([table[2], table[3] + table[5]])), atol=1e-6)
    assert told.shape[1] == project.pool.d == 3


def test_a_pair_of_different_spaces_is_refused(image_model: Path, text_model: Path, pictures: Path):
    declared = json.loads(image_model.with_suffix(".json").read_text())
    other = f"../{text_model.parent.name}/{text_model.name}"
    image_model.with_suffix(".json").write_text(json.dumps({**declared, "text_model": other}))
    project = made(pictures, f"onnx:{image_model}")
    with pytest.raises(DataFileError, match="words get vectors of 4 dimensions, but those of the items have 3"):
        text_side(project, f"onnx:{image_model}")(["calm"])


def test_a_text_model_that_is_not_there_is_named(image_model: Path, pictures: Path):
    project = made(pictures, f"onnx:{image_model}")
    pair(image_model)
    (image_model.parent / "text.onnx").unlink()
    with pytest.raises(DataFileError, match=r"text\.onnx: no such file"):
        text_side(project, f"onnx:{image_model}")


def test_pictures_without_a_text_model_have_no_text_side(image_model: Path, pictures: Path):
    project = made(pictures, f"onnx:{image_model}")
    for embed in (f"onnx:{image_model}", "exec:cat"):
        with pytest.raises(SettingError) as raised:
            text_side(project, embed)
        assert str(raised.value) == NO_TEXT_SIDE


def test_ready_vectors_have_no_text_side(tmp_path: Path, items_csv: Path, embeddings_npz: Path):
    Ingest(tmp_path / "p", items_csv, EmbeddingSource(embeddings_npz)).run()
    with pytest.raises(SettingError) as raised:
        text_side(open_project(tmp_path / "p"))
    assert str(raised.value) == NO_TEXT_SIDE


def test_a_model_that_only_the_project_names_is_not_loaded(items_csv: Path, text_model: Path):
    project = made(items_csv, f"onnx:{text_model}")
    with pytest.raises(SettingError, match=r"with --embed \(the project says onnx:.*never loaded automatically"):
        text_side(project)


@pytest.mark.parametrize("texts", [[""], ["calm", "  "]])
def test_empty_words_are_refused(items_csv: Path, text_model: Path, texts: list[str]):
    with pytest.raises(SettingError, match="an empty text says nothing"):
        text_side(made(items_csv, f"onnx:{text_model}"), f"onnx:{text_model}")(texts)


def test_no_words_are_no_rows(items_csv: Path, text_model: Path):
    assert text_side(made(items_csv, f"onnx:{text_model}"), f"onnx:{text_model}")([]).shape == (0, 4)


def test_words_are_kept_so_that_no_embedder_is_needed_again(tmp_path: Path) -> None:
    calls: list[list[str]] = []

    def side(texts: list[str]) -> np.ndarray:
        calls.append(list(texts))
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    words = KeptWords(tmp_path / "words.npz", lambda: side)
    np.testing.assert_array_equal(words(["warm", "kind", "warm"]), [[4, 1], [4, 1], [4, 1]])
    assert calls == [["warm", "kind"]]
    words.keep(["warm"])
    words.keep(["rude"])
    assert calls[1:] == [["rude"]]

    def gone() -> TextSide:
        raise SettingError("there is no embedder")

    again = KeptWords(tmp_path / "words.npz", gone)
    np.testing.assert_array_equal(again(["rude", "warm"]), [[4, 1], [4, 1]])
    with pytest.raises(SettingError, match="no embedder"):
        again(["kind"])  # used, but never stored
    (tmp_path / "words.npz").write_bytes(b"broken")
    with pytest.raises(DataFileError, match="not a readable list of words"):
        KeptWords(tmp_path / "words.npz", gone)
