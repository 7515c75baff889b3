"""Any ONNX encoder on this machine.

In the folder of ``model.onnx`` there must be, for texts, ``tokenizer.json`` (a file of the tokenizers library) and, if the
defaults do not fit, ``model.toml`` or ``model.json`` with what cannot be read from the graph:

    output = "last_hidden_state"     which output to take; the first by default
    pooling = "mean"                 texts, of outputs [batch, tokens, d]: mean (default), cls or max
    max_length = 256                 texts, in tokens
    prefix = ""                      texts, put before each
    size = [224, 224]                pictures, height and width (needed)
    resize = "crop"                  pictures: crop (shorter side fitted, centre kept; default) or squash
    mean = [0.485, 0.456, 0.406]     pictures, subtracted after scaling to 0..1
    std = [0.229, 0.224, 0.225]      pictures, divided by
    layout = "NCHW"                  pictures: NCHW (default) or NHWC
    tokenizer = "tokenizer.json"     texts, next to the model
    text_model = "text.onnx"         pictures: the model, next to this one, that embeds words into the same space

The text model of a pair has its own tokenizer and, if needed, its own ``text.toml``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tellmore.data.checked import Section, check_section
from tellmore.data.embedder import EmbedItem, Media
from tellmore.data.images import load_picture
from tellmore.data.records import require_file
from tellmore.errors import DataFileError, SettingError, needs
from tellmore.types import Array

Positive = Annotated[float, Field(gt=0)]


class Preprocessing(Section):
    """The contents of ``model.toml``; see the docstring of this module."""

    output: str | None = None
    pooling: Literal["mean", "cls", "max"] = "mean"
    max_length: int = Field(default=256, ge=1)
    prefix: str = ""
    size: tuple[Annotated[int, Field(ge=1, le=4096)], Annotated[int, Field(ge=1, le=4096)]] | None = None
    resize: Literal["crop", "squash"] = "crop"
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    std: tuple[Positive, Positive, Positive] = (1.0, 1.0, 1.0)
    layout: Literal["NCHW", "NHWC"] = "NCHW"
    tokenizer: str = "tokenizer.json"
    text_model: str | None = None


def open_onnx(path: Path, media: Media) -> Callable[[Sequence[EmbedItem]], Array]:
    """A function from a batch of items to vectors [batch, d]."""
    session = _session(path)
    declared = read_preprocessing(path)
    if media == "image":
        return _image_encoder(path, session, declared)
    return _text_encoder(path, session, declared)


def open_onnx_words(path: Path) -> Callable[[Sequence[EmbedItem]], Array] | None:
    """The text encoder that belongs to a picture encoder; None if ``model.toml`` names none."""
    require_file(path)
    text_model = read_preprocessing(path).text_model
    return None if text_model is None else open_onnx(path.parent / text_model, "text")


def _session(path: Path) -> Any:
    with needs("onnxruntime", "onnx"):
        import onnxruntime
    require_file(path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own classes share no public base
        raise DataFileError(f"{path}: not a model that onnxruntime can load: {str(error).splitlines()[0]}") from None


def read_preprocessing(model: Path) -> Preprocessing:
    """The declaration next to ``model``, or the defaults if there is none."""
    for path, parse in ((model.with_suffix(".toml"), tomllib.loads), (model.with_suffix(".json"), json.loads)):
        if path.exists():
            try:
                values = parse(path.read_text(encoding="utf-8"))
            except (ValueError, OSError) as error:
                raise DataFileError(f"{path}: cannot be read: {error}") from None
            return check_section(Preprocessing, values, str(path))
    return Preprocessing()


def _run(path: Path, session: Any, declared: Preprocessing, feeds: dict[str, NDArray[Any]]) -> NDArray[Any]:
    names = [output.name for output in session.get_outputs()]
    if declared.output is not None and declared.output not in names:
        raise SettingError(f"{path}: no output {declared.output!r}; the model has {', '.join(names)}")
    try:
        return np.asarray(session.run([declared.output or names[0]], feeds)[0])
    except Exception as error:  # as above
        raise DataFileError(f"{path}: the model cannot take these items: {str(error).splitlines()[0]}") from None


def _text_encoder(path: Path, session: Any, declared: Preprocessing) -> Callable[[Sequence[EmbedItem]], Array]:
    wanted = {given.name: given for given in session.get_inputs()}
    unknown = set(wanted) - {"input_ids", "attention_mask", "token_type_ids"}
    if unknown:
        raise DataFileError(
            f"{path}: input {sorted(unknown)[0]!r} is not of a text encoder (input_ids, attention_mask, token_type_ids)"
        )
    tokenizer = _tokenizer(path.parent / declared.tokenizer, declared.max_length, _fixed_length(wanted.values()))

    def encode(items: Sequence[EmbedItem]) -> Array:
        encoded = tokenizer.encode_batch([declared.prefix + (item.text or "") for item in items])
        mask = np.array([each.attention_mask for each in encoded], dtype=np.int64)
        feeds = {
            "input_ids": np.array([each.ids for each in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([each.type_ids for each in encoded], dtype=np.int64),
        }
        chosen = {name: feeds[name].astype(_INTEGERS.get(given.type, np.int64)) for name, given in wanted.items()}
        return _pooled(path, _run(path, session, declared, chosen), mask, declared.pooling)

    return encode


_INTEGERS: dict[str, type[np.signedinteger[Any]]] = {"tensor(int32)": np.int32, "tensor(int64)": np.int64}


def _fixed_length(inputs: Iterable[Any]) -> int | None:
    """How many tokens the graph takes, if that number is fixed, as it often is in exported text encoders."""
    lengths = [given.shape[1] for given in inputs if len(given.shape) == 2]
    return next((length for length in lengths if isinstance(length, int)), None)


def _tokenizer(path: Path, max_length: int, fixed: int | None) -> Any:
    with needs("tokenizers", "onnx"):
        from tokenizers import Tokenizer
    if not path.is_file():
        raise DataFileError(
            f"{path.absolute()}: no such file; put the tokenizer of the text encoder (a file of the tokenizers library) there"
        )
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise DataFileError(f"{path}: not a file of the tokenizers library: {error}") from None
    tokenizer.enable_truncation(fixed or max_length)
    if fixed is not None:
        tokenizer.enable_padding(**{**(tokenizer.padding or {}), "length": fixed})
    elif tokenizer.padding is None:
        tokenizer.enable_padding()
    return tokenizer


def _pooled(path: Path, output: NDArray[Any], mask: NDArray[np.int64], pooling: str) -> Array:
    """[batch, tokens, d] pooled to [batch, d] over the tokens that are not padding; [batch, d] is returned unchanged."""
    if output.ndim == 2:
        return output
    if output.ndim != 3 or output.shape[:2] != mask.shape:
        raise DataFileError(
            f"{path}: an output of shape {list(output.shape)} cannot be pooled; name another in model.toml"
        )
    weights = mask[:, :, None].astype(output.dtype)
    if pooling == "cls":
        return np.asarray(output[:, 0])
    if pooling == "max":
        return np.asarray(np.where(weights > 0, output, -np.inf).max(axis=1))
    return np.asarray((output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1))


def _image_encoder(path: Path, session: Any, declared: Preprocessing) -> Callable[[Sequence[EmbedItem]], Array]:
    if declared.size is None:
        raise SettingError(
            f"{path}: pictures need declared preprocessing; write size = [height, width] and, if the model "
            f"needs them, mean, std, layout into {path.with_suffix('.toml')}"
        )
    inputs = session.get_inputs()
    if len(inputs) != 1:
        raise DataFileError(f"{path}: an image encoder has one input, this model has {len(inputs)}")

    def encode(items: Sequence[EmbedItem]) -> Array:
        pixels = np.stack([_pixels(item, declared) for item in items])
        output = _run(path, session, declared, {inputs[0].name: pixels})
        return output.reshape(len(items), -1)

    return encode


def _pixels(item: EmbedItem, declared: Preprocessing) -> NDArray[np.float32]:
    """One picture in the model's layout: [3, h, w] or [h, w, 3]."""
    from PIL import Image, ImageOps

    if item.image is None:
        raise DataFileError(f"item {item.id!r} has no picture to embed")
    assert declared.size is not None
    height, width = (int(side) for side in declared.size)
    picture = load_picture(item.image)
    if declared.resize == "crop":
        picture = ImageOps.fit(picture, (width, height), Image.Resampling.BICUBIC)
    else:
        picture = picture.resize((width, height), Image.Resampling.BICUBIC)
    mean, std = np.array(declared.mean, dtype=np.float32), np.array(declared.std, dtype=np.float32)
    scaled = (np.asarray(picture, dtype=np.float32) / np.float32(255) - mean) / std
    return np.ascontiguousarray(scaled if declared.layout == "NHWC" else scaled.transpose(2, 0, 1))
