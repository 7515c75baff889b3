"""Embeds words into the space of a project's items, with the text encoder of its embedder."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tellmore.data.embed import known_embedder, open_words, tfidf_embedder
from tellmore.data.embedder import Embedder, EmbedItem
from tellmore.data.ingest import unit_rows
from tellmore.data.project import Project
from tellmore.data.tfidf import TFIDF, Tfidf
from tellmore.errors import DataFileError, SettingError, TellmoreError
from tellmore.files import replacing
from tellmore.types import Array

TextSide = Callable[[Sequence[str]], Array]
"""A function from texts [m] to vectors [m, d], scaled to length 1 if the rows of the project's matrix are."""

WORDS_FILE = "words.npz"
NO_TEXT_SIDE = "the vectors of these items come without a model for words; use items as examples instead"


def text_side(project: Project, embed: str | None = None) -> TextSide:
    """The embedder of words into the space of the items of ``project``; raises SettingError if there is none.

    ``embed`` names the embedder with which the project was made, as on the command line. A model fitted on the project's own
    texts is plain numbers and needs no name; any other model that a project names is never loaded automatically.
    """
    embedder = _embedder(project, embed)
    normalised, d = project.settings.data.normalised, project.settings.data.d

    def embedded(texts: Sequence[str]) -> Array:
        if not all(text.strip() for text in texts):
            raise SettingError("an empty text says nothing; give words")
        vectors = [_checked(vector, d) for vector in embedder.embed(EmbedItem(text, text) for text in texts)]
        X = np.array(vectors, dtype=np.float32).reshape(len(texts), d)
        unknown = [text for text, vector in zip(texts, X, strict=True) if not vector.any()]
        if unknown:
            raise SettingError(f"nothing is known of {unknown[0]!r}; choose words that the items contain")
        return unit_rows(X) if normalised else X

    return embedded


def _checked(vector: Array, d: int) -> Array:
    if len(vector) != d:
        raise DataFileError(
            f"words get vectors of {len(vector)} dimensions, but those of the items have {d}; name the items' own embedder"
        )
    if not np.isfinite(vector).all():
        raise DataFileError("the embedder gave NaN or infinity for words")
    return vector


def _embedder(project: Project, embed: str | None) -> Embedder:
    if project.tfidf_path is not None and embed in (None, TFIDF):
        return tfidf_embedder(Tfidf.load(project.tfidf_path))
    recorded = project.settings.data.embeddings
    if embed is None and known_embedder(recorded):
        raise SettingError(
            f"name the embedder of the items with --embed (the project says {recorded}): a model that a project names is never "
            "loaded automatically"
        )
    pictures = any(item.get("image") for item in project.items)
    embedder = None if embed is None else open_words(embed, "image" if pictures else "text")
    if embedder is None:
        raise SettingError(NO_TEXT_SIDE)
    return embedder


class KeptWords:
    """Vectors of the words that a project starts from, stored in its folder, so that they are available without the embedder.

    ``side`` embeds words that are not stored yet; without it, they are an error.
    """

    def __init__(self, path: Path, side: Callable[[], TextSide]) -> None:
        self._path, self._open_side = path, side
        self._known = _read_kept(path)
        self._side: TextSide | None = None

    def __call__(self, texts: Sequence[str]) -> Array:
        """Vectors [m, d] of texts."""
        self._embed([text for text in dict.fromkeys(texts) if text not in self._known])
        return np.array([self._known[text] for text in texts])

    def __contains__(self, text: str) -> bool:
        return text in self._known

    @property
    def refusal(self) -> str | None:
        """Why new words cannot be embedded; None if they can."""
        try:
            self._opened()
        except TellmoreError as problem:
            return str(problem)
        return None

    def keep(self, texts: Sequence[str]) -> None:
        """Add the vectors of ``texts`` to those in the folder."""
        kept = _read_kept(self._path) | dict(zip(texts, self(texts), strict=True))
        if kept:
            with replacing(self._path) as fresh, fresh.open("wb") as file:
                np.savez(file, texts=np.array(list(kept)), X=np.array(list(kept.values())))

    def _embed(self, texts: list[str]) -> None:
        if texts:
            self._known |= dict(zip(texts, self._opened()(texts), strict=True))

    def _opened(self) -> TextSide:
        self._side = self._side or self._open_side()
        return self._side


def kept_words(project: Project, embed: str | None = None) -> KeptWords:
    """The words of ``project``; ``embed`` names its embedder, as on the command line."""
    return KeptWords(project.folder / WORDS_FILE, lambda: text_side(project, embed))


def _read_kept(path: Path) -> dict[str, Array]:
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as arrays:
            return dict(zip(map(str, arrays["texts"]), arrays["X"], strict=True))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataFileError(
            f"{path}: not a readable list of words: {error}; remove it and name the words again"
        ) from None
