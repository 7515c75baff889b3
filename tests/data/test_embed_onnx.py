from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tellmore.data.embed import open_embedder
from tellmore.data.embedder import EmbedItem
from tellmore.errors import DataFileError, SettingError


def embed(model: Path, items: list[EmbedItem], media="text") -> np.ndarray:
    return np.stack(list(open_embedder(f"onnx:{model}", media).embed(items)))


def test_texts_are_tokenised_and_averaged_without_the_padding(text_model: Path):
    table = np.load(text_model.parent / "table.npy")
    X = embed(text_model, [EmbedItem("a", "calm"), EmbedItem("b", "calm warm grim")])
    assert np.allclose(X[0], table[2], atol=1e-6)
    assert np.allclose(X[1], table[[2, 3, 5]].mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("pooling", ["cls", "max"])
def test_declared_pooling(text_model: Path, pooling):
    table = np.load(text_model.parent / "table.npy")
    text_model.with_suffix(".toml").write_text(f'pooling = "{pooling}"\nprefix = "warm "\nmax_length = 2\n')
    X = embed(text_model, [EmbedItem("a", "calm grim"), EmbedItem("b", "")])
    wanted = table[3] if pooling == "cls" else np.maximum(table[3], table[2])
    assert np.allclose(X[0], wanted, atol=1e-6)
    assert np.allclose(X[1], table[3], atol=1e-6)


def test_pictures_are_prepared_as_declared(image_model: Path, tmp_path: Path):
    Image.new("RGB", (40, 20), (255, 0, 51)).save(tmp_path / "a.png")
    X = embed(image_model, [EmbedItem("a", image=tmp_path / "a.png")], "image")
    assert np.allclose(X, [[1.0, -1.0, -0.6]], atol=1e-5)


def test_crop_keeps_the_centre_and_squash_keeps_all(image_model: Path, tmp_path: Path):
    picture = Image.new("RGB", (48, 16), "black")
    picture.paste((255, 255, 255), (16, 0, 32, 16))
    picture.save(tmp_path / "a.png")
    item = [EmbedItem("a", image=tmp_path / "a.png")]
    declared = {"size": [16, 16]}
    image_model.with_suffix(".json").write_text(json.dumps(declared))
    assert np.allclose(embed(image_model, item, "image"), 1.0, atol=1e-5)
    image_model.with_suffix(".json").write_text(json.dumps({**declared, "resize": "squash"}))
    assert np.allclose(embed(image_model, item, "image"), 1 / 3, atol=0.05)


def test_what_is_wrong_with_a_model_is_said_in_one_line(text_model: Path, image_model: Path, tmp_path: Path, one_line):
    def fault(model: Path, said: str, media="text", kind=DataFileError) -> None:
        item = EmbedItem("a", text="calm") if media == "text" else EmbedItem("a", image=picture)
        with pytest.raises(kind) as raised:
            embed(model, [item], media)
        assert said in one_line(raised.value)

    picture = tmp_path / "a.png"
    Image.new("RGB", (8, 8)).save(picture)
    fault(tmp_path / "gone.onnx", "no such file")
    (tmp_path / "bad.onnx").write_bytes(b"not a model")
    fault(tmp_path / "bad.onnx", "not a model that onnxruntime can load")
    fault(image_model, "input 'pixels' is not of a text encoder")
    image_model.with_suffix(".json").write_text("{}")
    fault(image_model, "need declared preprocessing", "image", SettingError)
    image_model.with_suffix(".json").write_text('{"size": [8, 8]}')
    fault(image_model, "the model cannot take these items", "image")
    for declared, said in {
        '{"size": [8]}': "size",
        '{"size": [8, 8], "std": [0, 1, 1]}': "std.0",
        '{"sise": [8, 8]}': "unknown key sise; allowed are output, pooling",
        '{"size": [8, 8], "layout": "CHW"}': "'NCHW' or 'NHWC'",
        "[1]": "dictionary",
    }.items():
        image_model.with_suffix(".json").write_text(declared)
        fault(image_model, said, "image", SettingError)
    image_model.with_suffix(".json").write_text("{")
    fault(image_model, "cannot be read", "image")
    text_model.with_suffix(".toml").write_text('output = "pooled"')
    fault(text_model, "no output 'pooled'; the model has last_hidden_state, mask", kind=SettingError)
    (text_model.parent / "tokenizer.json").write_text("{}")
    fault(text_model, "not a file of the tokenizers library")
    text_model.with_suffix(".toml").write_text('tokenizer = "gone.json"')
    fault(text_model, "gone.json: no such file")
