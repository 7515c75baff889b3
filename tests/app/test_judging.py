"""The judge's page: the same result as on the command line, for the owner only, and a clear message if there is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore.app.api import create_app
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.items import Columns
from tellmore.data.project import Project
from tellmore.data.scores import Meaning, read_scores
from tellmore.kinds.label import LabelAnswer
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event
from tellmore.store.judge import random_checks, verdict
from tellmore.store.repository import Repository
from tellmore.store.state import load_ledger

N = 60
Open = Callable[..., tuple[Project, TestClient]]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """A project that keeps an LLM's probabilities, wrong on every fifth item, and words; ``answers`` random labels are in."""
    sessions: list[Session] = []

    def open_(*, answers: int, keep: tuple[str, ...] = ("llm", "words")) -> tuple[Project, TestClient]:
        truth = [n % 2 == 1 for n in range(N)]
        judged = [yes ^ (n % 5 == 0) for n, yes in enumerate(truth)]
        rows = [f"i{n},text {n},{0.8 if yes else 0.1},{'spam' if yes else 'ham'}\n" for n, yes in enumerate(judged)]
        (tmp_path / "items.csv").write_text("id,text,llm,words\n" + "".join(rows))
        vectors = np.random.default_rng(0).normal(size=(N, 4))
        np.savez(tmp_path / "emb.npz", ids=[f"i{n}" for n in range(N)], X=vectors)
        source, columns = EmbeddingSource(tmp_path / "emb.npz"), Columns(keep=keep)
        project, _ = Ingest(tmp_path / "p", tmp_path / "items.csv", source, columns=columns).run()
        repository = Repository(project.database_url)
        for n in range(answers):
            question = Question("label", [f"i{n}"])
            asked = question_event(question, "ann", check=True, why="check")
            repository.append([asked, answer_event(question.id, "ann", LabelAnswer(truth[n]))])
        session = Session(repository, project.pool, project.settings).start()
        sessions.append(session)
        tokens = Tokens(repository)
        client = TestClient(create_app(session, tokens=tokens, project=project), base_url="http://127.0.0.1")
        client.headers["authorization"] = f"Bearer {tokens.issue_owner_link()}"
        return project, client

    yield open_
    for session in sessions:
        session.close()


def test_it_is_the_verdict_of_the_command_line(opened: Open) -> None:
    project, client = opened(answers=40)
    shown = client.get("/api/judge").json()
    assert (shown["columns"], shown["column"], shown["pool_size"]) == (["llm", "words"], "llm", N)
    scores = read_scores(project, "llm", Meaning(), file=None, id_column="id")
    expected = verdict(random_checks(load_ledger(project)), scores)
    assert expected is not None
    assert shown["verdict"] == json.loads(json.dumps(expected.as_dict()))
    assert (shown["verdict"]["agreement"]["correct"], shown["verdict"]["checks"]) == (32, 40)
    assert shown["wrong_items"] == 8
    assert shown["items"]["i5"] == {"id": "i5", "text": "text 5", "image": None}


def test_a_long_list_of_wrong_items_is_cut_and_counted(opened: Open) -> None:
    shown = opened(answers=N)[1].get("/api/judge").json()
    assert shown["wrong_items"] == 12
    assert len(shown["verdict"]["wrong_most"]) == len(shown["items"]) == 10


@pytest.mark.parametrize(
    ("query", "correct"),
    [
        ({"column": "words", "positive_value": "spam"}, 32),
        ({"column": "words", "positive_value": "ham", "negative_value": "spam"}, 8),
        ({"column": "llm", "threshold": 0.05}, 20),
    ],
)
def test_the_owner_says_what_is_positive(opened: Open, query: dict[str, Any], correct: int) -> None:
    shown = opened(answers=40)[1].get("/api/judge", params=query).json()
    assert shown["verdict"]["agreement"]["correct"] == correct


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"column": "words"}, "--positive-value"),
        ({"column": "gpt"}, "keeps no column 'gpt'"),
        ({"threshold": "nan"}, "threshold"),
        ({"threshold": 0.5, "positive_value": "a"}, "choose one"),
    ],
)
def test_what_cannot_be_judged_is_one_line(opened: Open, query: dict[str, Any], message: str) -> None:
    shown = opened(answers=1)[1].get("/api/judge", params=query).json()
    assert message in shown["problem"]
    assert (shown["columns"], shown["verdict"]) == (["llm", "words"], None)


def test_before_the_first_random_answer_there_is_no_verdict(opened: Open) -> None:
    shown = opened(answers=0)[1].get("/api/judge").json()
    assert (shown["column"], shown["verdict"], shown["items"]) == ("llm", None, {})


def test_without_a_column_there_is_nothing_to_judge(opened: Open, visit: Callable[..., TestClient]) -> None:
    for client in (opened(answers=3, keep=())[1], visit("owner")):
        shown = client.get("/api/judge").json()
        assert (shown["columns"], shown["column"], shown["verdict"]) == ([], None, None)
