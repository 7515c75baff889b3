"""The state of a project at one moment, from which exports are made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tellmore.classifier import Classifier
from tellmore.cluster.pool import DaskPool
from tellmore.data.project import DATABASE_FILE, Project
from tellmore.errors import AnswerError, QuestionError, SettingError, StoreError
from tellmore.learner import Learner
from tellmore.pool import Pool
from tellmore.questions import check_answer
from tellmore.store.beforehand import Example, beforehand_of
from tellmore.store.fold import AnswerEffect, Fold, Restore, nothing_saved
from tellmore.store.ledger import EventError, Ledger
from tellmore.store.repository import Event, Repository
from tellmore.store.snapshots import SnapshotKeeper
from tellmore.version import __version__


@dataclass(frozen=True)
class State:
    """``effects`` has what each counting answer changed; ``events`` is the whole log. ``person``: whose own view the learner
    has; None for the shared one."""

    pool: Pool
    learner: Learner
    ledger: Ledger
    effects: Sequence[AnswerEffect]
    events: Sequence[Event]
    images_folder: Path | None = None
    tfidf_path: Path | None = None
    examples: Sequence[Example] = ()
    person: str | None = None

    def of_person(self, name: str) -> State:
        """The same state with the classifier of one person, given by name or by id in the log."""
        ids = [one for one, called in self.ledger.names.items() if called == name] or [name]
        if len(ids) > 1:
            raise SettingError(
                f"{len(ids)} people are called {name!r}; name one by the id in the log: {', '.join(ids)}"
            )
        known = [self.ledger.names.get(one, one) for one in dict.fromkeys(self.learner.told_by)]
        if ids[0] not in self.learner.told_by:
            raise SettingError(f"{name!r} has given no answer; those who have: {', '.join(known) or 'nobody'}")
        return replace(self, learner=self.learner.person(ids[0]), person=name)

    @property
    def on_dask(self) -> bool:
        """Whether the pool is on Dask workers."""
        return isinstance(self.pool, DaskPool)

    @cached_property
    def classifier(self) -> Classifier:
        """The classifier to export."""
        learner, data = self.learner, self.ledger.initial.data
        return Classifier(learner.posteriors, learner.w, data.normalised, learner.calibration.slope, data.columns)

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Version, seed, configuration (without secrets), data hash, and how good the classifier is on random questions; equal
        states give equal provenance."""
        quality = self.learner.quality()
        return ({} if self.person is None else {"person": self.person}) | {
            "tellmore_version": __version__,
            "project": self.ledger.initial.project.name,
            "seed": self.ledger.initial.learning.seed,
            "data_sha256": self.pool.fingerprint,
            "answers": len(self.effects),
            # Exports are recorded in the log, but do not change the classifier.
            "log_seq": max((event.seq for event in self.events if event.kind != "audit"), default=0),
            "quality": None if quality is None else asdict(quality),
            "config": self.ledger.settings.redacted(),
        }

    @cached_property
    def metadata(self) -> dict[str, str]:
        """The provenance as texts, for formats that allow only texts."""
        return as_texts(self.provenance)


def as_texts(provenance: Mapping[str, Any]) -> dict[str, str]:
    """Each value as text: unchanged if it is text, else as JSON."""
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        for key, value in provenance.items()
    }


def load_state(project: Project) -> State:
    """The current state of ``project``: its log, folded, starting from a snapshot if there is one."""
    with closing(Repository(project.database_url)) as repository:
        events = list(repository.since())
        return state_of(project, events, SnapshotKeeper(repository, project.pool).restore)


def load_ledger(project: Project) -> Ledger:
    """The current log of ``project``, without any learning."""
    with fitting_log(project):
        return Ledger(project.settings, _events(project))


def _events(project: Project) -> list[Event]:
    with closing(Repository(project.database_url)) as repository:
        return list(repository.since())


@contextmanager
def fitting_log(project: Project) -> Iterator[None]:
    """A block that reads the log and learns from it; if the log does not fit ``project``, one line says so, and what to run.
    Settings from which nothing can be learnt are named as such."""
    try:
        yield
    except SettingError as problem:
        raise SettingError(f"{project.folder}, settings: {problem}") from None
    except (QuestionError, AnswerError, EventError, KeyError) as problem:
        what = f"an event has no {problem}" if isinstance(problem, KeyError) else problem
        own = not project.settings.server.database
        log = f"the log {project.folder / DATABASE_FILE}" if own else "the log"
        raise StoreError(f"{log} is damaged: {what}; see what can be done: tellmore repair {project.folder}") from None


def check_log(ledger: Ledger, pool: Pool) -> None:
    """Raise QuestionError or AnswerError if an answer does not fit its question, or a question the items of ``pool``."""
    for asked, given in ledger.counting():
        pool.rows(asked.question.items)
        if given.answer is not None:
            check_answer(asked.question, given.answer)


def state_of(project: Project, events: Sequence[Event], restore: Restore = nothing_saved) -> State:
    """The state of ``project`` after ``events``; only those after the state that ``restore`` finds have to be learnt."""
    beforehand = beforehand_of(project)
    with fitting_log(project):
        ledger = Ledger(project.settings, events)
        fold = Fold.of(ledger, project.pool, beforehand=beforehand, restore=restore)
    return State(
        project.pool,
        fold.learner,
        ledger,
        fold.effects,
        events,
        project.images_folder,
        project.tfidf_path,
        beforehand.examples(ledger.settings, project.pool),
    )
