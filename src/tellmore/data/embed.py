"""Embedders: they turn items into vectors, behind one small protocol, and can be resumed.

    onnx:MODEL.onnx                       any ONNX encoder on this machine; see ``tellmore.data.embed_onnx``
    tfidf                                 TF-IDF, fitted on the project's own texts; see ``tellmore.data.tfidf``
    tfidf:FILE.npz                        the same, as fitted by an earlier project
    model2vec:FOLDER_OR_NAME              static text vectors, quick on a CPU
    sentence-transformers:FOLDER_OR_NAME  text, extra ``torch``
    open_clip:MODEL/WEIGHTS_OR_FOLDER     pictures, extra ``torch``
    exec:COMMAND                          your own command: JSON lines in, one JSON vector per line out

Embedders are named only on the command line. A project's settings may come from a stranger, so nothing named there is ever
run, loaded or downloaded.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tellmore.data.embed_exec import CommandEmbedder
from tellmore.data.embed_hub import (
    open_model2vec,
    open_open_clip,
    open_open_clip_words,
    open_sentence_transformers,
)
from tellmore.data.embed_onnx import open_onnx, open_onnx_words
from tellmore.data.embedder import BatchEmbedder, Embedder, EmbedItem, Media
from tellmore.data.progress import Advance, ProgressBar, silent
from tellmore.data.tfidf import TFIDF, Tfidf
from tellmore.errors import DataFileError, InputError, SettingError
from tellmore.types import Array


def open_embedder(spec: str, media: Media) -> Embedder:
    """The embedder named by ``spec``, for texts or for pictures."""
    opener, name = _opener(spec, media)
    return opener(name, media)


def open_words(spec: str, media: Media) -> Embedder | None:
    """The embedder of words for items that ``spec`` embeds: for texts, the same one; None if there is none."""
    opener, name = _opener(spec, media)
    if media == "text":
        return opener(name, media)
    scheme = spec.partition(":")[0]
    return _TEXT_TOWERS[scheme](name) if scheme in _TEXT_TOWERS else None


def known_embedder(recorded: str) -> bool:
    """Whether a project's record of where its vectors come from names an embedder, not a file."""
    return recorded.partition(":")[0] in _SCHEMES


def _opener(spec: str, media: Media) -> tuple[Callable[[str, Media], Embedder], str]:
    scheme, _, name = spec.partition(":")
    if scheme not in _SCHEMES or not name:
        known = ", ".join(f"{key}:…" for key in _SCHEMES)
        raise SettingError(f"--embed {spec!r}: expected one of {known} or {TFIDF}")
    allowed, opener = _SCHEMES[scheme]
    if media not in allowed:
        raise SettingError(f"--embed {spec!r}: {scheme} embeds {' and '.join(allowed)}, but the items are {media}s")
    return opener, name


_SCHEMES: dict[str, tuple[tuple[Media, ...], Callable[[str, Media], Embedder]]] = {
    "onnx": (("text", "image"), lambda name, media: BatchEmbedder(open_onnx(Path(name), media))),
    "model2vec": (("text",), lambda name, _: open_model2vec(name)),
    "sentence-transformers": (("text",), lambda name, _: open_sentence_transformers(name)),
    "open_clip": (("image",), lambda name, _: open_open_clip(name)),
    "exec": (("text", "image"), lambda name, _: CommandEmbedder(name)),
    TFIDF: (("text",), lambda name, _: tfidf_embedder(Tfidf.load(Path(name)))),
}


def _onnx_words(name: str) -> Embedder | None:
    encode = open_onnx_words(Path(name))
    return None if encode is None else BatchEmbedder(encode)


_TEXT_TOWERS: dict[str, Callable[[str], Embedder | None]] = {"onnx": _onnx_words, "open_clip": open_open_clip_words}
"""The embedders of pictures that can embed texts into the same space."""


def tfidf_embedder(model: Tfidf) -> Embedder:
    """An embedder of texts by a fitted model."""
    return BatchEmbedder(lambda items: model.encode([item.text or "" for item in items]), batch=1024)


def embed_all(
    embedder: Embedder, items: Sequence[EmbedItem], cache: Path, *, key: str, progress: ProgressBar = silent
) -> Array:
    """Embed every item into ``cache``/vectors.f4 and return it memory-mapped [n, d].

    Vectors already stored under the same ``key`` (see ``embedding_key``) are kept, so an interrupted run continues where it
    stopped. The caller removes ``cache`` when done. If the input is wrong, it is removed here, because continuing cannot help.
    """
    try:
        state = _resume(cache, key)
        with progress("embedding", len(items)) as advance:
            advance(state.done)
            d = _append_vectors(embedder, items, cache, state, advance)
    except InputError:
        shutil.rmtree(cache, ignore_errors=True)
        raise
    except OSError as error:
        shutil.rmtree(cache, ignore_errors=True)
        raise DataFileError(f"{cache}: the vectors could not be written: {error.strerror}") from error
    except BaseException:
        if not (cache / "state.json").exists():  # there is no vector to continue from
            shutil.rmtree(cache, ignore_errors=True)
        raise
    return np.memmap(cache / "vectors.f4", dtype="<f4", mode="r", shape=(len(items), d))


def embedding_key(spec: str, items: Iterable[EmbedItem]) -> str:
    """A key that changes with the embedder's name, with its local model (a file or a folder), and with any text or picture."""
    model = spec.partition(":")[2]
    digest = hashlib.sha256(repr((spec, _model_stamps(Path(model)) if model else [])).encode())
    for item in items:
        digest.update(repr((item.id, item.text, item.image and _stamp(item.image))).encode())
    return digest.hexdigest()


def _model_stamps(model: Path) -> list[tuple[str, int, int] | None]:
    """Name, size and time of a model file, or of every file in a folder, whose own time does not change when a file does."""
    inside = sorted(model.rglob("*")) if model.is_dir() else []
    return [_stamp(path) for path in (model, *inside)]


def _stamp(path: Path) -> tuple[str, int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return str(path), status.st_size, status.st_mtime_ns


@dataclass(frozen=True)
class _State:
    """The progress of an embedding: how many vectors are complete, and their dimension (0 before the first)."""

    key: str
    done: int = 0
    d: int = 0


def _resume(cache: Path, key: str) -> _State:
    """The state in ``cache`` for ``key``; a cache of other items, or one that cannot be read, is emptied."""
    vectors = cache / "vectors.f4"
    try:
        known = json.loads((cache / "state.json").read_text(encoding="utf-8"))
        if known["key"] == key:
            d = int(known["d"])
            done = vectors.stat().st_size // (4 * d)
            with vectors.open("r+b") as file:
                file.truncate(4 * d * done)
            return _State(key, done, d)
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError):
        pass
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(parents=True)
    return _State(key)


def _append_vectors(
    embedder: Embedder, items: Sequence[EmbedItem], cache: Path, state: _State, advance: Advance
) -> int:
    """Write the vectors that are still missing; returns their dimension."""
    d = state.d
    vectors = embedder.embed(items[state.done :])
    with (cache / "vectors.f4").open("ab") as file:
        for position in range(state.done, len(items)):
            vector = next(vectors, None)
            if vector is None:
                raise DataFileError(f"the embedder gave {position} vectors for {len(items)} items")
            vector = _checked(vector, items[position], d)
            if not d:
                d = len(vector)
                (cache / "state.json").write_text(json.dumps({"key": state.key, "d": d}), encoding="utf-8")
            file.write(vector.tobytes())
            advance()
        if next(vectors, None) is not None:
            raise DataFileError(f"the embedder gave more vectors than the {len(items)} items")
    return d


def _checked(vector: Array, item: EmbedItem, d: int) -> Array:
    vector = np.asarray(vector, dtype="<f4")
    if vector.ndim != 1 or not vector.size or (d and len(vector) != d):
        raise DataFileError(f"the embedder gave shape {list(vector.shape)} for item {item.id!r}, expected [{d or 'd'}]")
    if not np.isfinite(vector).all():
        raise DataFileError(f"the embedder gave NaN or infinity for item {item.id!r}")
    return vector
