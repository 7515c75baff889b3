"""Random and repeated questions are counted and reported in words: on the dashboard, in the metrics and in the server's log."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from tellmore.app.lately import LATELY, Lately
from tellmore.app.session import Session
from tellmore.questions import Question
from tellmore.store.ledger import Asked


def asked(why: str, *items: str) -> Asked:
    return Asked(Question("label", items), "ann", 1, "", False, False, why)


def test_shares_are_of_the_last_questions_and_leave_out_what_was_wanted_again() -> None:
    lately = Lately()
    for number in range(LATELY):
        lately.add(asked("fallback" if number < 30 else "best", f"i{number}"))
    shares = lately.shares()
    assert (shares.questions, shares.random, shares.repeated) == (LATELY, 30 / LATELY, 0.0)
    assert shares.warning.startswith("15 % of the last 200 questions were random")
    assert "because people answer faster than questions can be chosen. Allow larger questions" in shares.warning
    lately.add(asked("again", "i5"))
    lately.add(asked("second", "i6"))
    assert lately.shares().repeated == 0
    for number in range(30):
        lately.add(asked("next_best", f"i{number}"))
    shares = lately.shares()
    assert shares.random == 0  # they were the oldest
    assert shares.repeated == 30 / LATELY
    assert "had been asked before" in shares.warning
    lately.clear()
    assert lately.shares().questions == 0


def test_few_questions_warn_of_nothing() -> None:
    lately = Lately()
    for number in range(19):
        lately.add(asked("fallback", f"i{number}"))
    assert lately.shares().warning is None


def test_the_owner_reads_it_on_the_dashboard_in_the_metrics_and_in_the_log(
    session: Session,
    visit: Callable[..., TestClient],
    caplog: pytest.LogCaptureFixture,
) -> None:
    session.planner.take = lambda *_: None  # nothing is ever ready
    with caplog.at_level(logging.WARNING):
        for number in range(25):
            session.question(f"p{number}", patience_s=0)
    owner = visit("owner")
    shown = owner.get("/api/dashboard").json()["asked"]
    assert shown["random"] > 0.5
    assert "larger questions" in shown["warning"]
    assert f"tellmore_random_share {shown['random']}" in owner.get("/metrics").text
    assert any(getattr(record, "random_share", 0) > 0.5 for record in caplog.records)
