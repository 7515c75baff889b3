"""A project from Python: the folder that the app and the command line use."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tellmore.classifier import Classifier
from tellmore.encoding import text_list
from tellmore.errors import QuestionError, SettingError, needs
from tellmore.learner import RECENT_QUESTIONS, Learner
from tellmore.options import one_path, switch
from tellmore.pool import Pool, pool_of
from tellmore.questions import Question, answer_to
from tellmore.start import index_of, rows_of_index
from tellmore.types import MISSING_VALUES, Answer, Array

with needs("the part of tellmore that keeps projects", "app"):
    from tellmore.data import project as folders
    from tellmore.data.ingest import EmbeddingSource, Ingest
    from tellmore.data.items import Columns
    from tellmore.data.reading import Reading
    from tellmore.data.settings import Settings, words_for
    from tellmore.data.words import text_side
    from tellmore.export import write_export
    from tellmore.store.formats.contract import FROM_PYTHON
    from tellmore.store.importing import Collected, append_answers
    from tellmore.store.people import leave_out
    from tellmore.store.state import State, load_state
    from tellmore.store.warm import WarmStart

log = logging.getLogger(__name__)


class Project:
    """A project: items, embeddings, settings and the log of all answers, in one folder. `create` makes a new one.

    folder: the project's folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     project = Project.create(f"{place}/calm", [[0.0, 1.0], [1.0, 0.5], [1.0, 0.0]], attribute="calm")
    ...     project.tell(Question("label", items=[2]), True)
    ...     len(project.learner().history), bool(project.learner().predict()[2])
    (1, True)
    """

    def __init__(self, folder: str | Path) -> None:
        self._project = folders.open_project(one_path("folder", folder))

    @classmethod
    def open(cls, folder: str | Path) -> Project:
        """The project in ``folder``; SettingError if there is none."""
        return cls(folder)

    @classmethod
    def create(
        cls,
        folder: str | Path,
        items: Any,
        *,
        attribute: str = "positive",
        embedder: Any = None,
        embed: str | None = None,
        embeddings: str | Path | None = None,
        labels: Sequence[bool | None] | None = None,
        like: Sequence[str] = (),
        unlike: Sequence[str] = (),
        earlier: str | Path | None = None,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        positive_value: str | None = None,
        negative_value: str | None = None,
    ) -> Project:
        """Make a project; if this fails, nothing is left at ``folder``.

        folder: where to make it; it must not exist yet.
        items: a Pool, embeddings as an array or a DataFrame, texts; or the path of a file, as `tellmore init --items` takes it.
        attribute: the property that items have or do not have, in a word.
        embedder: embeds ``items`` that are texts: a function of a list of texts, or a model with ``encode``.
        embed: for items in a file, the name of the embedder: ``tfidf``, ``model2vec:MODEL``.
        embeddings: for items in a file, the file with their vectors, in place of ``embed``.
        labels: for items in memory, their known labels, one per item: True, False, or None or NaN if unknown. They are in
            the order of the items, or a Series of pandas whose index has the ids.
        like, unlike: what you are looking for and its opposite, to start from: words, or items by id or text.
        earlier: the folder of an earlier project with the same embeddings, to start from its classifier.
        settings: other settings by section, as in tellmore.toml: ``{"learning": {"question": "rank"}}``.
        encoding: of items in a CSV file, such as ``cp1252``; without it, detected, or guessed and logged as a warning.
        delimiter: of items in a CSV file; without it, detected.
        positive_value, negative_value: the words of a file's column label, if they are others than positive and negative.
        """
        folder = one_path("folder", folder)
        named = {"name": folder.absolute().name, **words_for(attribute)}
        sections = _sections(settings or {})
        wanted = Settings().changed(project=named).changed(**sections)
        start = sections.get("start", {})
        sides = {"like": like, "unlike": unlike}
        start |= {name: text_list(name, side or start.get(name, ())) for name, side in sides.items()}
        if earlier is None and (wanted.learning.prior == "earlier" or wanted.start.earlier):
            raise SettingError("the settings say to start from an earlier project; give its folder as earlier")
        warm = WarmStart(None if earlier is None else Path(earlier), start, embed, tried=True)
        if isinstance(items, str | Path):
            if embedder is not None or labels is not None:
                raise SettingError(
                    "embedder and labels go with items in memory; a file has a column label, and embed names a model"
                )
            if (embed is None) == (embeddings is None):
                raise SettingError(
                    "items in a file go with one of embed and embeddings: embed='tfidf', or embeddings='vectors.npy'"
                )
            source = EmbeddingSource(None if embeddings is None else Path(embeddings), embed=embed)
            reading = Reading(delimiter, encoding)
            columns = Columns(positive_value=positive_value, negative_value=negative_value)
            Ingest(folder, Path(items), source, wanted, columns, reading=reading).run(warm)
            for note in reading.notes:
                log.warning(note)
            return cls(folder)
        for_files = embed, embeddings, encoding, delimiter, positive_value, negative_value
        if any(each is not None for each in for_files):
            raise SettingError(
                "embed, embeddings, encoding, delimiter, positive_value and negative_value go with items in a file; give "
                "items in memory with embedder, or as vectors"
            )
        pool = pool_of(items, embedder)
        folders.create_project(folder, pool, wanted, labels=_known(labels, pool), finish=warm)
        return cls(folder)

    def __repr__(self) -> str:
        return f"Project({str(self.folder)!r}, {self.pool!r})"

    @property
    def folder(self) -> Path:
        """The project's folder."""
        return self._project.folder

    @property
    def pool(self) -> Pool:
        """The project's items; their ids are strings."""
        return self._project.pool

    @property
    def settings(self) -> dict[str, Any]:
        """The project's settings by section, without passwords."""
        return self._project.settings.redacted()

    def learner(self) -> Learner:
        """A learner with all answers in the log, to ask and to predict. It asks random checks as often as the project's
        settings say. It is a copy: answers given to it, or to its widget, are not written to the log. Give them to the
        project instead: ``project.tell(learner.ask(), True)``."""
        state = self._state()
        learner = state.learner
        twin = learner.at(learner.beliefs, learner.history, learner.tally, learner.told_by, learner.team)
        twin.check_share, twin.exclude_last = state.ledger.settings.learning.check_share, RECENT_QUESTIONS
        return twin

    @property
    def classifier(self) -> Classifier:
        """The classifier learnt so far, for raw embeddings."""
        return self._state().classifier

    def tell(self, question: Question, answer: Answer | Any, *, participant: str = FROM_PYTHON) -> None:
        """Write an answer to the log; QuestionError or AnswerError, and no change, if question or answer is not valid.

        question: one that a learner asked, or your own about items of the project.
        answer: an Answer or a plain value, as for `Learner.tell`.
        participant: who answered.
        """
        if not isinstance(question, Question):
            raise QuestionError(f"a project takes answers to a Question, not to {question!r}")
        given = Collected(question, answer_to(question, answer), row=1, participant=participant)
        if not append_answers(self._project, [given], random=question.check):
            raise QuestionError(
                f"the question {question.id!r} is already in the log; ask the same items in a new Question"
            )

    def leave_out(self, participant: str, out: bool = True) -> None:
        """Leave out one person's answers, or count them again; the answers stay in the log.

        participant: a name or an id.
        out: False to count them again.
        """
        leave_out(self._project, participant, switch("out", out))

    def export(self, out: str | Path, format: str, *, table: str = "scores", person: str | None = None) -> list[Path]:
        """Write the classifier, or what belongs to it, to a file, and return all files written.

        out: the file, or for hub and mlflow the folder.
        format: onnx, sklearn, npz, json, sql, csv, parquet, jsonl, report, label-studio, argilla, hub or mlflow.
        table: for csv and parquet, ``scores`` of the items or ``answers``.
        person: export this person's own classifier instead of the shared one.
        """
        place, state = one_path("out", out), self._state()
        return write_export(state if person is None else state.of_person(person), format, place, table=table)

    def embed(self, texts: Sequence[str], embed: str | None = None) -> Array:
        """The vectors [m, d] of texts in the space of the items.

        texts: words or texts.
        embed: the name of the items' embedder; not needed for ``tfidf``, which was fitted on the items.
        """
        return text_side(self._project, embed)(list(texts))

    def _state(self) -> State:
        return load_state(self._project)


def _sections(settings: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(settings, Mapping) or not all(isinstance(keys, Mapping) for keys in settings.values()):
        raise SettingError(f'settings go by section, as in {{"learning": {{"question": "rank"}}}}, not {settings!r}')
    return {name: dict(keys) for name, keys in settings.items()}


def _known(labels: Any, pool: Pool) -> list[str | None] | None:
    """The labels in the order of the pool's items, as words; None if none are given."""
    if labels is None:
        return None
    rows = rows_of_index(pool, index_of(labels, "labels"), "labels")
    known: list[Any] = [None if str(each) in MISSING_VALUES else each for each in labels]  # pandas has its own
    if rows is not None:
        found = dict(zip(rows.tolist(), known, strict=True))
        known = [found.get(row) for row in range(len(pool))]
    if len(known) != len(pool) or any(label not in (True, False, None) for label in known):
        raise SettingError(f"labels must hold True, False or None, one for each of the {len(pool)} items")
    return [None if label is None else "positive" if label else "negative" for label in known]
