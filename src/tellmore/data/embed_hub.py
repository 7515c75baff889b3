"""Embedders whose models come from a hub, by public name, or from a folder on this machine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.data.embedder import BatchEmbedder, Embedder, EmbedItem
from tellmore.data.hub import hub_answers, offline
from tellmore.errors import DataFileError, MissingExtraError, SettingError, StateError, needs
from tellmore.types import Array


def open_model2vec(name: str) -> Embedder:
    """Static text vectors, from a folder or by public name."""
    with needs("model2vec", "app"):
        from model2vec import StaticModel
    model = _fetched(
        lambda: StaticModel.from_pretrained(name, force_download=False), "model2vec", name, local=Path(name).exists()
    )
    return BatchEmbedder(lambda items: np.asarray(model.encode(_texts(items))), batch=1024)


def open_sentence_transformers(name: str) -> Embedder:
    """A sentence-transformers model, from a folder or by public name."""
    with _importing("sentence-transformers"):
        from sentence_transformers import SentenceTransformer
    model = _fetched(lambda: SentenceTransformer(name), "sentence-transformers", name, local=Path(name).exists())
    return BatchEmbedder(lambda items: np.asarray(model.encode(_texts(items), show_progress_bar=False)))


def open_open_clip(name: str) -> Embedder:
    """The picture encoder of an open_clip model: MODEL/WEIGHTS (a public name or a file), a folder, or hf-hub:NAME."""
    model, preprocess = _open_clip(name)

    def encode(items: Sequence[EmbedItem]) -> Array:
        import torch

        from tellmore.data.images import load_picture

        pictures = [preprocess(load_picture(item.image)) for item in items if item.image]
        with torch.no_grad():
            return np.asarray(model.encode_image(torch.stack(pictures)).float().cpu().numpy())

    return BatchEmbedder(encode)


def open_open_clip_words(name: str) -> Embedder:
    """The text encoder of the same model."""
    model, _ = _open_clip(name)
    import open_clip

    tokenizer = _fetched(
        lambda: open_clip.get_tokenizer(_clip_names(name)[0]), "open_clip", name, local=_is_local(name)
    )

    def encode(items: Sequence[EmbedItem]) -> Array:
        import torch

        with torch.no_grad():
            return np.asarray(model.encode_text(tokenizer(_texts(items))).float().cpu().numpy())

    return BatchEmbedder(encode)


def _open_clip(name: str) -> tuple[Any, Any]:
    """The model, and its preprocessing of pictures."""
    model_name, weights = _clip_names(name)
    with _importing("open_clip_torch"):
        import open_clip

    def load() -> Any:
        # Unlike create_model_and_transforms, this never falls back to random weights.
        return open_clip.create_model_from_pretrained(model_name, pretrained=weights)

    model, preprocess = _fetched(load, "open_clip", name, local=_is_local(name))
    model.eval()
    return model, preprocess


def _is_local(name: str) -> bool:
    model_name, weights = _clip_names(name)
    return model_name.startswith("local-dir:") or (weights is not None and Path(weights).is_file())


def _clip_names(name: str) -> tuple[str, str | None]:
    """open_clip's name for the model, and for its weights if they are named separately."""
    if Path(name).is_dir():
        return f"local-dir:{name}", None
    if name.startswith("hf-hub:"):
        return name, None
    model, _, weights = name.partition("/")
    if not model or not weights:
        raise SettingError(
            f"--embed open_clip:{name}: expected MODEL/WEIGHTS, for example ViT-B-32/laion2b_s34b_b79k, "
            "or a folder with open_clip_config.json and the weights"
        )
    return model, weights


def _texts(items: Sequence[EmbedItem]) -> list[str]:
    return [item.text or "" for item in items]


@contextmanager
def _importing(package: str) -> Iterator[None]:
    """Turn a failed import of ``package``, of the extra torch, into an error of one line."""
    try:
        with needs(package, "torch"):
            yield
    except MissingExtraError:
        raise
    except Exception as error:  # mismatched builds of torch and torchvision raise many kinds of errors
        raise StateError(
            f"{package} is installed but cannot be imported ({_reason(error)}); "
            "install builds of torch and torchvision that belong together"
        ) from error


def _fetched(load: Callable[[], Any], scheme: str, name: str, *, local: bool) -> Any:
    """The model, or an error of one line that says what to do. Loaders raise many kinds of errors; here all mean the same."""
    reachable = local or hub_answers()
    try:
        with _no_log(), nullcontext() if reachable else offline():
            return load()
    except Exception as error:
        if local:
            raise DataFileError(f"--embed {scheme}:{name}: the model cannot be loaded: {_reason(error)}") from error
        reason = _reason(error) if reachable else "the hub does not respond"
        raise DataFileError(
            f"--embed {scheme}:{name}: the model is not a folder here and could not be downloaded ({reason}); "
            f"offline, download it elsewhere, copy its folder here and give --embed {scheme}:FOLDER, "
            "or give ready vectors with --embeddings"
        ) from error


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


@contextmanager
def _no_log() -> Iterator[None]:
    """Silence the loaders' logs: they also log what they raise."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
