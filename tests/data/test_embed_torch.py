"""The embedders of the extra torch, with real models: tiny, of random weights, made here and never downloaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellmore import cli
from tellmore.data.embed import open_embedder, open_words
from tellmore.data.embedder import EmbedItem
from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.project import open_project
from tellmore.data.words import text_side
from tellmore.errors import DataFileError, SettingError

# Libraries this large always have some deprecation warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

TEXTS = ["calm and warm", "kind", "", "grim and cold", "a word it has never seen", "warm " * 100]


@pytest.fixture(scope="module")
def sentence_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers model: a one-layer BERT over twelve word pieces, and the mean over tokens."""
    pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("sentence")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "calm", "warm", "kind", "grim", "cold", "cruel", "and"]
    (folder / "vocab.txt").write_text("\n".join(pieces))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
    )
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=32).save_pretrained(folder / "bert")
    model = SentenceTransformer(modules=[Transformer(str(folder / "bert")), Pooling(8)], device="cpu")
    model.save(str(folder / "model"))
    return folder / "model"


@pytest.fixture(scope="module")
def clip_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An open_clip model in a folder as the hub keeps it: configuration and weights."""
    pytest.importorskip("torch")
    pytest.importorskip("open_clip")
    import torch
    from open_clip.model import CLIP

    folder = tmp_path_factory.mktemp("clip")
    model_cfg = {
        "embed_dim": 6,
        "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 16},
        "text_cfg": {"context_length": 8, "vocab_size": 49408, "width": 64, "heads": 1, "layers": 1},
    }
    preprocess_cfg = {"mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4], "interpolation": "bicubic"}
    (folder / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": model_cfg, "preprocess_cfg": preprocess_cfg})
    )
    torch.manual_seed(0)
    torch.save(CLIP(**model_cfg).state_dict(), folder / "open_clip_pytorch_model.bin")
    return folder


def rows(spec: str, items: list[EmbedItem]) -> np.ndarray:
    media = "image" if items[0].image else "text"
    return np.stack(list(open_embedder(spec, media).embed(items)))


def clip_vectors(model: Any, preprocess: Any, pictures: list[Path]) -> np.ndarray:
    """What the library itself says of each picture, one at a time."""
    import torch
    from PIL import Image

    model.eval()
    with torch.no_grad():
        opened = [preprocess(Image.open(path)).unsqueeze(0) for path in pictures]
        return np.concatenate([model.encode_image(pixels).numpy() for pixels in opened])


def unit(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def fails(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a failing command prints."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    return said


def test_sentence_transformers_gives_what_the_library_gives(sentence_model: Path):
    from sentence_transformers import SentenceTransformer

    ours = rows(f"sentence-transformers:{sentence_model}", [EmbedItem(str(n), text) for n, text in enumerate(TEXTS)])
    model = SentenceTransformer(str(sentence_model), device="cpu")
    assert ours.shape == (len(TEXTS), 8)
    assert np.allclose(ours, np.stack([model.encode(text) for text in TEXTS]), atol=1e-5)
    assert len(np.unique(ours.round(4), axis=0)) == len(TEXTS)


@pytest.mark.timeout(60)
def test_without_a_network_an_earlier_download_is_found(sentence_model: Path, downloaded):
    downloaded(sentence_model, "nobody/tiny")
    items = [EmbedItem(str(n), text) for n, text in enumerate(TEXTS)]
    ours = rows("sentence-transformers:nobody/tiny", items)
    assert np.allclose(ours, rows(f"sentence-transformers:{sentence_model}", items), atol=1e-6)


def test_texts_from_the_command_line(sentence_model: Path, tmp_path: Path, monkeypatch):
    from sentence_transformers import SentenceTransformer

    monkeypatch.chdir(tmp_path)
    Path("items.csv").write_text("id,text\n" + "".join(f"i{n},{text}\n" for n, text in enumerate(TEXTS)))
    embed = ["--embed", f"sentence-transformers:{sentence_model}"]
    with pytest.raises(SystemExit, match="0"):
        cli.main(["init", "p", "--items", "items.csv", *embed, "--attribute", "calm", "--like", "i0"])
    project = open_project("p")
    assert np.allclose(project.pool.X, unit(SentenceTransformer(str(sentence_model)).encode(TEXTS)), atol=1e-5)
    assert project.settings.data.embeddings == f"sentence-transformers:{sentence_model}"
    with pytest.raises(SystemExit, match="0"):
        cli.main(["score", "p", "items.csv", *embed, "--out", "scores.csv"])
    assert len(Path("scores.csv").read_text().splitlines()) == len(TEXTS) + 1
    assert not list(tmp_path.glob(".p*"))


def test_open_clip_gives_what_the_library_gives(clip_model: Path, pictures: Path):
    import open_clip

    files = sorted(pictures.rglob("*.png"))
    ours = rows(f"open_clip:{clip_model}", [EmbedItem(file.name, image=file) for file in files])
    model, preprocess = open_clip.create_model_from_pretrained(f"local-dir:{clip_model}")
    assert ours.shape == (len(files), 6)
    assert np.allclose(ours, clip_vectors(model, preprocess, files), atol=1e-5)
    assert np.ptp(ours, axis=0).max() > 0.01


def test_open_clip_by_name_with_a_file_of_weights(clip_model: Path, pictures: Path, tmp_path: Path):
    import open_clip
    import torch

    config = json.loads((clip_model / "open_clip_config.json").read_text())["model_cfg"]
    (tmp_path / "Tiny.json").write_text(json.dumps(config))
    open_clip.add_model_config(tmp_path / "Tiny.json")
    weights = clip_model / "open_clip_pytorch_model.bin"
    files = sorted(pictures.rglob("*.png"))
    ours = rows(f"open_clip:Tiny/{weights}", [EmbedItem(file.name, image=file) for file in files])
    model, _, preprocess = open_clip.create_model_and_transforms("Tiny")
    model.load_state_dict(torch.load(weights))
    assert np.allclose(ours, clip_vectors(model, preprocess, files), atol=1e-5)


def test_pictures_from_the_command_line(clip_model: Path, pictures: Path, tmp_path: Path, monkeypatch):
    import open_clip
    from PIL import Image

    turned = Image.effect_noise((40, 60), 90).convert("RGB")
    exif = turned.getexif()
    exif[0x0112] = 6
    turned.save(pictures / "turned.png", exif=exif)
    upright = tmp_path / "upright.png"
    turned.transpose(Image.Transpose.ROTATE_270).save(upright)

    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="0"):
        cli.main(["init", "p", "--items", "pictures", "--embed", f"open_clip:{clip_model}", "--attribute", "red"])
    pool = open_project("p").pool
    files = [upright if identifier == "turned.png" else pictures / identifier for identifier in pool.ids]
    library = clip_vectors(*open_clip.create_model_from_pretrained(f"local-dir:{clip_model}"), files)
    assert np.allclose(pool.X, unit(library), atol=1e-5)


def clip_words(model: Any, tokenizer: Any, words: list[str]) -> np.ndarray:
    """What the library itself says of each text, one at a time."""
    import torch

    model.eval()
    with torch.no_grad():
        return np.concatenate([model.encode_text(tokenizer([word])).numpy() for word in words])


def test_open_clip_embeds_words_beside_pictures(clip_model: Path, pictures: Path, tmp_path: Path):
    import open_clip

    embed = f"open_clip:{clip_model}"
    project, _ = Ingest(tmp_path / "p", pictures, EmbeddingSource(embed=embed), normalise=True).run()
    words = ["a red picture", "blue", "a much longer line of words than the model can take at once"]
    model, _ = open_clip.create_model_from_pretrained(f"local-dir:{clip_model}")
    expected = unit(clip_words(model, open_clip.get_tokenizer(f"local-dir:{clip_model}"), words))
    told = text_side(project, embed)(words)
    assert np.allclose(told, expected, atol=1e-5)
    assert told.shape[1] == project.pool.d


def test_open_clip_by_name_embeds_words_with_a_file_of_weights(clip_model: Path, tmp_path: Path):
    import open_clip

    config = json.loads((clip_model / "open_clip_config.json").read_text())["model_cfg"]
    (tmp_path / "Tiny.json").write_text(json.dumps(config))
    open_clip.add_model_config(tmp_path / "Tiny.json")
    words = open_words(f"open_clip:Tiny/{clip_model / 'open_clip_pytorch_model.bin'}", "image")
    assert words is not None
    model, _ = open_clip.create_model_from_pretrained(f"local-dir:{clip_model}")
    expected = clip_words(model, open_clip.get_tokenizer(f"local-dir:{clip_model}"), ["calm", "warm"])
    ours = np.stack(list(words.embed([EmbedItem("a", "calm"), EmbedItem("b", "warm")])))
    assert np.allclose(ours, expected, atol=1e-5)


def test_a_folder_without_weights_never_becomes_random_vectors(clip_model: Path, tmp_path: Path, one_line):
    (tmp_path / "open_clip_config.json").write_bytes((clip_model / "open_clip_config.json").read_bytes())
    with pytest.raises(DataFileError, match="the model cannot be loaded") as raised:
        open_embedder(f"open_clip:{tmp_path}", "image")
    assert "download" not in one_line(raised.value)


def test_a_folder_that_is_no_model(sentence_model: Path, tmp_path: Path, one_line):
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(DataFileError, match="the model cannot be loaded") as raised:
        open_embedder(f"sentence-transformers:{tmp_path}", "text")
    assert one_line(raised.value)


@pytest.mark.parametrize("name", ["ViT-B-32", "/no/such/folder"])
def test_open_clip_without_weights_says_what_is_expected(name):
    with pytest.raises(SettingError, match=r"expected MODEL/WEIGHTS, .* or a folder"):
        open_embedder(f"open_clip:{name}", "image")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("model", "embed", "items"),
    [
        ("sentence_model", "sentence-transformers:nobody/nothing", "items.csv"),
        ("clip_model", "open_clip:ViT-B-32/laion2b_s34b_b79k", "pictures"),
        ("clip_model", "open_clip:hf-hub:nobody/nothing", "pictures"),
    ],
)
def test_without_a_network_the_error_is_quick_and_one_line(
    request, tmp_path: Path, no_hub, items_csv, pictures, monkeypatch, capsys, model, embed, items
):
    request.getfixturevalue(model)
    monkeypatch.chdir(tmp_path)
    said = fails(["init", "p", "--items", items, "--embed", embed, "--attribute", "calm"], capsys)
    scheme = embed.partition(":")[0]
    assert "could not be downloaded (the hub does not respond); offline, download it elsewhere" in said
    assert f"--embed {scheme}:FOLDER" in said
    assert not Path("p").exists()
    assert not list(tmp_path.glob(".p*"))
