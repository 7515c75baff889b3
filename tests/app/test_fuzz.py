"""A bounded schemathesis run over the whole OpenAPI surface: whatever is sent, the server never fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error

from tellmore.app.api import create_app
from tellmore.app.limits import RateLimit
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tests.store.databases import BOTH, fresh_url

STREAM = "/api/events"


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    yield from fresh_url(request.param, tmp_path)


@pytest.fixture
def fuzzed(open_session: Callable[..., Session], url: str) -> tuple[Any, str]:
    session = open_session(url=url)
    tokens = Tokens(session.repository)
    app = create_app(session, tokens=tokens, bind="0.0.0.0", allow_hosts=["testserver"], limit=RateLimit(1e6, 1e6))
    return schemathesis.openapi.from_asgi("/api/openapi.json", app), tokens.issue_owner_link()


def test_no_request_makes_the_server_fail(fuzzed: tuple[Any, str]) -> None:
    schema, token = fuzzed
    seen: set[str] = set()
    statuses: set[int] = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path == STREAM:
            continue  # it never ends, and has its own test
        seen.add(f"{operation.method.upper()} {operation.path}")
        _send_many(operation, token, statuses)
    assert len(seen) >= 16
    assert {200, 404, 422} <= statuses


def _send_many(operation: Any, token: str, statuses: set[int]) -> None:
    """Bodies and parameters that fit the description, and some that do not, if anything can be wrong."""
    for mode in GenerationMode:

        @settings(
            max_examples=8,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def attempt(case: Any) -> None:
            response = case.call(headers={"authorization": f"Bearer {token}"})
            statuses.add(response.status_code)
            case.validate_response(response, checks=[not_a_server_error])

        if mode is GenerationMode.POSITIVE:
            attempt()
        else:
            with suppress(Unsatisfiable):
                attempt()
