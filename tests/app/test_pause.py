"""Somebody who slows down reads that a break may help, as does the owner but nobody else, and still gets questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tellmore.app.present import dashboard_out, question_reply
from tellmore.app.session import Session
from tellmore.app.together import Submission
from tellmore.app.tokens import Visitor
from tellmore.kinds.label import LabelAnswer
from tellmore.store.repository import Repository
from tests.app.conftest import SETTINGS, Clock
from tests.app.test_crowd import crowded_pool

STEADY_ANSWERS, SLOW_ANSWERS = 50, 40


def learn(session: Session) -> None:
    """Learn what the planner's thread would learn, at once."""
    desk = session.desk
    session.planner._learn(desk.counting(), desk.mark, desk.initial, 512)


def timing(seconds: float) -> dict[str, int]:
    return {"onset_ms": 0, "submit_ms": round(1000 * seconds)}


def test_who_slows_down_is_told_kindly_and_asked_on(tmp_path: Path, clock: Clock) -> None:
    pool, rng = crowded_pool(), np.random.default_rng(0)
    settings = SETTINGS.changed(learning={"question": "label"})
    session = Session(Repository(f"sqlite:///{tmp_path}/log"), pool, settings, clock=clock)
    session.desk.going_on = True
    tired, fresh = (Visitor(who, "annotator", who, who) for who in ("tired", "fresh"))
    said: list[str | None] = []
    for number in range(STEADY_ANSWERS + SLOW_ANSWERS):
        for visitor in (tired, fresh) if number % 5 == 0 else (tired,):
            asked = session.question(visitor.participant, patience_s=0)
            assert asked is not None  # nobody is refused a question for it
            slow = visitor is tired and number >= STEADY_ANSWERS
            seconds = (3.0 if slow else 1.0) * 4.0 * float(np.exp(0.3 * rng.standard_normal()))
            answer = LabelAnswer(bool(pool.X[pool.rows(asked.question.items)[0], 0] > 0))
            session._together.submit(Submission(visitor.participant, asked.question.id, answer, timing(seconds)))
        if number % 5 == 4:
            learn(session)
            pause = question_reply(session, tired, session.question("tired", patience_s=0)).pause
            said.append(None if pause is None else pause.id)
            assert question_reply(session, fresh, session.question("fresh", patience_s=0)).pause is None
    begun = said[: STEADY_ANSWERS // 5]
    assert begun == [None] * len(begun)
    shown = {each for each in said if each is not None}
    assert len(shown) == 1  # one thing is said once: the browser knows it again by this
    assert shown.pop().startswith("slower-")
    lately = {person.participant: person.lately for person in dashboard_out(session).annotators}
    assert lately["fresh"] is None
    session.repository.close()
