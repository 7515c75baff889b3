"""A small project, its session, and people who visit it over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore.app.api import create_app
from tellmore.app.limits import RateLimit
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tellmore.data.settings import LearningSettings, ProjectSettings, Settings
from tellmore.pool import Pool
from tellmore.store.repository import Repository

SETTINGS = Settings(
    project=ProjectSettings(name="moods", attribute="calm", positive="calm", negative="tense"),
    learning=LearningSettings(question="rank", set_size=3, sizes=(2, 3), check_share=0.0, target_accuracy=0.8),
)


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def pool() -> Pool:
    """60 items in 5 dimensions; the text of one is markup, that of another a formula."""
    X = np.random.default_rng(3).standard_normal((60, 5))
    texts = [f"text {row}" for row in range(60)]
    texts[0], texts[1] = "<img src=x onerror=alert(1)>", "=HYPERLINK(1)"
    return Pool(X / np.linalg.norm(X, axis=1, keepdims=True), ids=[f"i{row}" for row in range(60)], text=texts)


@pytest.fixture
def open_session(tmp_path: Path, pool: Pool, clock: Clock) -> Iterator[Callable[..., Session]]:
    """Opens (and opens again) the project's session; all are closed at the end."""
    opened: list[Session] = []

    def open_(settings: Settings = SETTINGS, url: str | None = None, pool: Pool = pool) -> Session:
        address = url or f"sqlite:///{tmp_path / 'log.sqlite'}"
        session = Session(Repository(address), pool, settings, clock=clock)
        opened.append(session)
        return session.start()

    yield open_
    for session in opened:
        if not session.closing:
            session.close()


@pytest.fixture
def session(open_session: Callable[..., Session]) -> Session:
    return open_session()


@pytest.fixture
def tokens(session: Session) -> Tokens:
    return Tokens(session.repository)


@pytest.fixture
def app(session: Session, tokens: Tokens) -> Any:
    return create_app(session, tokens=tokens, limit=RateLimit(rate=10_000, burst=10_000))


@pytest.fixture
def visit(app: Any, tokens: Tokens) -> Callable[..., TestClient]:
    """A browser that has opened the link of somebody with ``role``."""

    def visit_(role: str = "owner", participant: str = "", name: str = "") -> TestClient:
        client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
        participant = participant or role
        token, _ = tokens.issue(role, participant, name or participant)
        assert client.get(f"/?token={token}", follow_redirects=False).status_code == 303
        return client

    return visit_


def answer_to(question: dict[str, Any], *, flip: bool = False) -> dict[str, Any]:
    """An answer that fits the question: items with an even number are positive."""
    items = [item["id"] for item in question["items"]]
    even = [item for item in items if int(item[1:]) % 2 == 0]
    order = even + [item for item in items if item not in even]
    match question["kind"]:
        case "label":
            return {"type": "label", "positive": bool(even) is not flip}
        case "rank":
            return {"type": "rank", "order": order[::-1] if flip else order, "n_positive": len(even)}
        case "tick":
            return {"type": "tick", "positive": [item for item in items if (item in even) is not flip]}
        case "select_high" | "select_low":
            return {"type": "select", "chosen": order[-1 if flip else 0], "positive": bool(even)}
    raise AssertionError(f"nobody knows how to answer {question}")


TIMING = {"onset_ms": 1000, "first_action_ms": 2000, "submit_ms": 7000, "moves": 2, "device": "mouse", "latency_ms": 12}


def body_for(question: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"question_id": question["id"], "answer": answer_to(question, **options), "timing": TIMING}
