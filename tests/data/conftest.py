"""Tiny real data and tiny real models, made when they are needed."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WORDS = ["calm", "warm", "kind", "grim", "cold", "cruel"]


@pytest.fixture
def words() -> list[str]:
    return list(WORDS)


@pytest.fixture
def items_csv(tmp_path: Path) -> Path:
    """Six items with ids that differ from the row numbers."""
    path = tmp_path / "items.csv"
    path.write_text("id,text\n" + "".join(f"i{n},{word}\n" for n, word in enumerate(WORDS)), encoding="utf-8")
    return path


@pytest.fixture
def vectors() -> np.ndarray:
    """[6, 3], of different lengths, so that normalising can be seen."""
    return np.random.default_rng(1).normal(size=(6, 3)) * np.arange(1, 7)[:, None]


@pytest.fixture
def embeddings_npz(tmp_path: Path, vectors: np.ndarray) -> Path:
    """The vectors in another order than the items."""
    order = [3, 1, 0, 5, 4, 2]
    path = tmp_path / "emb.npz"
    np.savez(path, ids=np.array([f"i{n}" for n in order]), X=vectors[order])
    return path


@pytest.fixture
def no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub that does not respond, and no earlier downloads."""
    from huggingface_hub import constants

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))


@pytest.fixture
def downloaded(no_hub: None, tmp_path: Path) -> Callable[[Path, str], None]:
    """Puts the model of a folder where an earlier download by its public name would be."""

    def put(folder: Path, name: str) -> None:
        repository = tmp_path / "hub-cache" / f"models--{name.replace('/', '--')}"
        commit = "0" * 40
        shutil.copytree(folder, repository / "snapshots" / commit)
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text(commit)

    return put


@pytest.fixture
def text_model(tmp_path: Path) -> Path:
    """An ONNX text encoder: embedding table lookup, [batch, tokens, 4]; with its tokenizer next to it."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path / "text-model"
    folder.mkdir()
    vocabulary = {token: n for n, token in enumerate(["[PAD]", "[UNK]", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.random.default_rng(0).normal(size=(len(vocabulary), 4)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"]),
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        ],
        "encoder",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"]),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "tokens"]),
        ],
        [
            helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", 4]),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["batch", "tokens"]),
        ],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    np.save(folder / "table.npy", table)
    return folder / "model.onnx"


@pytest.fixture
def image_model(tmp_path: Path) -> Path:
    """An ONNX image encoder: the mean of each colour; with its preprocessing declared next to it."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    folder = tmp_path / "image-model"
    folder.mkdir()
    graph = helper.make_graph(
        [helper.make_node("ReduceMean", ["pixels", "axes"], ["features"], keepdims=0)],
        "colours",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["batch", 3, 16, 16])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", 3])],
        [numpy_helper.from_array(np.array([2, 3], dtype=np.int64), "axes")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    (folder / "model.json").write_text(json.dumps({"size": [16, 16], "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}))
    return folder / "model.onnx"


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder with eight plain pictures in two subfolders, red ones and blue ones."""
    from PIL import Image

    folder = tmp_path / "pictures"
    for n in range(8):
        red = n % 2 == 0
        target = folder / ("red" if red else "blue") / f"{n}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (20 + n, 30), (200 + n if red else 10 + n, 20, 10 if red else 220)).save(target)
    return folder


@pytest.fixture
def static_model(tmp_path: Path) -> Path:
    """A model2vec model of six words, saved in a folder."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({t: n for n, t in enumerate(["[UNK]", *WORDS])}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
    model: Any = StaticModel(vectors, tokenizer)
    model.save_pretrained(tmp_path / "static")
    return tmp_path / "static"
