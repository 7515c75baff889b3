"""A machine-learning backend for Label Studio: it predicts tasks, and writes the labels that people give there to the
project's log.

Label Studio calls /health, /setup, /predict and /webhook. The score of a prediction is low if a label would be
informative, so that Label Studio's order "by prediction score" gives the most informative tasks first.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import secrets
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from typing import Annotated, Any

import uvicorn
from fastapi import APIRouter, Depends, FastAPI, HTTPException
from fastapi.security import HTTPBasic, HTTPBasicCredentials
from starlette.middleware.trustedhost import TrustedHostMiddleware

from tellmore import kinds
from tellmore.app.access import LOOPBACK
from tellmore.app.address import address_of, bind
from tellmore.data.labels import LabelWords, own_words
from tellmore.data.project import Project
from tellmore.data.reading import Reading
from tellmore.errors import InputError, SettingError
from tellmore.export.tools import choice, label_config
from tellmore.questions import Question
from tellmore.store.events import undo_event
from tellmore.store.formats.contract import Source
from tellmore.store.formats.label_studio import annotation_drafts
from tellmore.store.importing import append_answers, collected
from tellmore.store.ledger import Given
from tellmore.store.repository import Repository
from tellmore.store.state import State, load_state

log = logging.getLogger(__name__)

MODEL_CLASS = "tellmore"
LEARNT_FROM = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")
FORGOTTEN_BY = ("ANNOTATIONS_DELETED",)


class Backend:
    """The project behind the service; it is learnt again when there are new labels."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._turn = threading.Lock()
        self._state: State | None = None

    @property
    def state(self) -> State:
        """The project now."""
        with self._turn:
            self._state = self._state or load_state(self.project)
            return self._state

    @property
    def version(self) -> str:
        """Changes with every answer, so that Label Studio asks for fresh predictions."""
        return f"{MODEL_CLASS}-{self.state.provenance['log_seq']}"

    def predict(self, tasks: list[dict[str, Any]], tags: tuple[str, str] | None) -> list[dict[str, Any]]:
        """One prediction per task; if a task names no item of the project, its prediction has no result and is last in order."""
        state = self.state
        source = self._source(tasks)
        bits = {}
        for row, task in enumerate(tasks, start=1):
            with source.reading.row():
                item = source.item(row, task.get("data") or {})
                state.pool.rows([item])
                bits[row] = (item, state.learner.information_gain(Question(kinds.single().name, [item])))
        return [self._prediction(state, bits.get(row), tags) for row in range(1, len(tasks) + 1)]

    def _prediction(
        self, state: State, found: tuple[str, float] | None, tags: tuple[str, str] | None
    ) -> dict[str, Any]:
        if found is None:
            return {"model_version": self.version, "score": 1.0, "result": []}
        item, gain = found  # a label gives at most 1 bit; every call has the same scale, because tasks come in batches
        probability = float(state.learner.probabilities()[state.pool.rows([item])[0]])
        result = choice(state, probability >= 0.5)
        if tags is not None:
            result["from_name"], result["to_name"] = tags
        return {"model_version": self.version, "score": 1.0 - gain, "result": [result]}

    def learn(self, task: dict[str, Any], annotation: dict[str, Any]) -> int:
        """Write the labels of an annotation to the log, replacing its earlier ones; returns the number of new answers."""
        source = self._source([task])
        content = json.dumps(annotation.get("result"), sort_keys=True)
        name = f"label-studio-{annotation.get('id')}"[:40]
        stands = self._stands(name)
        key = f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
        if annotation.get("was_cancelled") or any(given.question_id.startswith(key) for given in stands):
            return 0
        revision = sum(question.startswith(name + "-") for question in self.state.ledger.asked)
        drafts = [
            replace(draft, question_id=f"{key}-{revision}-{number}")
            for number, draft in enumerate(annotation_drafts(source, 1, task.get("data") or {}, annotation))
        ]
        found = collected(source, drafts, LabelWords(own=own_words(self.project.settings)))
        source.reading.settle()
        self._take_back(stands)
        added = append_answers(self.project, found)
        self._changed()
        return added

    def forget(self, annotations: list[dict[str, Any]]) -> int:
        """Undo the answers of deleted annotations; returns how many there were."""
        stands = [given for each in annotations for given in self._stands(f"label-studio-{each.get('id')}"[:40])]
        self._take_back(stands)
        return len(stands)

    def _stands(self, name: str) -> list[Given]:
        """The answers of an annotation that still count."""
        given = self.state.ledger.given.values()
        return [each for each in given if each.counts and each.question_id.startswith(name + "-")]

    def _take_back(self, given: list[Given]) -> None:
        if given:
            with closing(Repository(self.project.database_url)) as repository:
                repository.append([undo_event(each.question_id, each.participant, each.seq) for each in given])
            self._changed()

    def _changed(self) -> None:
        with self._turn:
            self._state = None

    def _source(self, tasks: list[dict[str, Any]]) -> Source:
        named = self.project.folder / "label-studio"
        return Source(named, self.project.pool, [], list(enumerate(tasks, start=1)), Reading())


def create_backend(project: Project, *, password: str | None = None) -> FastAPI:
    """The service; with ``password``, callers must send it (basic authentication, any user name)."""
    backend = Backend(project)

    def known(given: Annotated[HTTPBasicCredentials | None, Depends(HTTPBasic(auto_error=False))]) -> None:
        if password is None:
            return
        if given is None or not secrets.compare_digest(given.password.encode(), password.encode()):
            raise HTTPException(401, "wrong password", {"www-authenticate": "Basic"})

    app = FastAPI(title="tellmore for Label Studio", openapi_url=None)
    if password is None:  # only programs on this computer may call; this check prevents DNS rebinding
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(LOOPBACK))
    app.include_router(_routes(backend), dependencies=[Depends(known)])

    @app.get("/")
    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "UP", "model_class": MODEL_CLASS}

    return app


def serve_backend(project: Project, host: str, port: int, *, password: str | None, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; ``say`` prints a line for the person at the terminal."""
    if host not in LOOPBACK and not password:
        raise SettingError(
            f"--host {host} lets other computers connect: set a password with TELLMORE_LABEL_STUDIO_PASSWORD"
        )
    app = create_backend(project, password=password)
    with closing(bind(host, port)) as listener:
        say(f"Labelling interface for Label Studio: {label_config(load_state(project))}")
        say(f"Connect it in Label Studio (Settings, Model) to {address_of(host, listener.getsockname()[1])}")
        say("Press Ctrl-C to stop.")
        config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, ws="none")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _routes(backend: Backend) -> APIRouter:
    router = APIRouter()

    @router.post("/setup")
    def setup(_asked: dict[str, Any]) -> dict[str, str]:
        return {"model_version": backend.version, "label_config": label_config(backend.state)}

    @router.post("/predict")
    def predict(asked: dict[str, Any]) -> dict[str, Any]:
        tags = choices_tags(str(asked.get("label_config") or ""))
        return {"results": backend.predict(asked.get("tasks") or [], tags), "model_version": backend.version}

    @router.post("/webhook", status_code=201)
    def webhook(event: dict[str, Any]) -> dict[str, Any]:
        try:
            if event.get("action") in LEARNT_FROM:
                return {"added": backend.learn(event.get("task") or {}, event.get("annotation") or {})}
            if event.get("action") in FORGOTTEN_BY:
                return {"taken_back": backend.forget(event.get("annotations") or [])}
            return {}
        except InputError as error:
            log.warning("an annotation was not learnt from: %s", error)
            raise HTTPException(422, str(error)) from None

    return router


def choices_tags(config: str) -> tuple[str, str] | None:
    """name and toName of the first Choices tag of a labelling interface."""
    tag = re.search(r"<Choices\b[^>]*>", config)
    if tag is None:
        return None
    found = dict(re.findall(r"""(\w+)\s*=\s*["']([^"']*)["']""", tag[0]))
    return (found["name"], found["toName"]) if {"name", "toName"} <= found.keys() else None
