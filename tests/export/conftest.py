"""A small project with a few answers and everything that is awkward."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.data.project import Project, create_project
from tellmore.data.settings import Settings
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event, undo_event
from tellmore.store.repository import Repository
from tellmore.types import Answer, Skip

SECRET = "hunter2"


def embeddings(n: int = 40, d: int = 6) -> np.ndarray:
    """[n, d] of unit length; the first column says what is positive."""
    X = np.random.default_rng(3).normal(size=(n, d))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


def timing(seconds: float) -> dict[str, int]:
    return {"onset_ms": 100, "first_action_ms": 200, "submit_ms": 100 + round(1000 * seconds), "latency_ms": 12}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Forty items, of which some look like formulas or like markup; twelve answers, one skipped, one undone."""
    X = embeddings()
    texts = [f"text {row}" for row in range(len(X))]
    texts[:3] = ["=HYPERLINK(1)", "<script>alert(1)</script>", "-minus, and a comma"]
    ids = [f"id{row}" for row in range(len(X))]
    ids[3] = "@id3"
    settings = Settings().changed(project={"name": "A & B <b>", "attribute": "good"}, learning={"seed": 5})
    settings = settings.changed(data={"normalised": True})
    made = create_project(tmp_path / "project", Pool(X, ids=ids, text=texts), settings)
    repository = Repository(made.database_url)
    told = [
        event
        for number, (question, answer) in enumerate(_answers(ids, X))
        for event in (
            question_event(question, "ann", check=number % 4 == 0),
            answer_event(question.id, "ann", answer, timing=timing(3.0 + number)),
        )
    ]
    last = repository.append(told)[-1]
    repository.append([undo_event(last.question_id or "", "ann", last.seq)])
    repository.close()
    return made


def _answers(ids: list[str], X: np.ndarray) -> list[tuple[Question, Answer]]:
    score = dict(zip(ids, X[:, 0], strict=True))
    asked: list[tuple[Question, Answer]] = [
        (Question("label", [ids[row]]), LabelAnswer(bool(X[row, 0] > 0))) for row in range(6)
    ]
    for start in (6, 9, 12):
        items = ids[start : start + 3]
        best = max(items, key=score.__getitem__)
        asked.append((Question("select_high", items), SelectAnswer(best, bool(score[best] > 0))))
    for start in (15, 19):
        order = sorted(ids[start : start + 4], key=score.__getitem__, reverse=True)
        asked.append((Question("rank", ids[start : start + 4]), RankAnswer(order, sum(score[i] > 0 for i in order))))
    asked.append((Question("label", [ids[30]]), Skip("cant_tell")))
    asked.append((Question("label", [ids[31]]), LabelAnswer(True)))
    return asked
