"""Every number on the dashboard equals one recomputed from the exported log, by other code than the app's."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore import Learner, Pool
from tellmore.app.api import create_app
from tellmore.app.limits import RateLimit
from tellmore.app.present import dashboard_out
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.kinds.tick import TickAnswer
from tellmore.policy.cost_fit import OnlineCost, Timed
from tellmore.policy.rates import rates
from tellmore.questions import Question
from tellmore.store.standing import accuracy_words
from tellmore.store.statistics import LISTED_MISTAKES, WINDOW, accuracy_of
from tests.app.conftest import SETTINGS, answer_to

MIXED = SETTINGS.changed(learning={"question": "auto", "check_share": 0.4, "target_accuracy": 0.7})


@pytest.fixture
def owner(open_session: Callable[..., Session]) -> TestClient:
    session = open_session(MIXED)
    tokens = Tokens(session.repository)
    app = create_app(session, tokens=tokens, limit=RateLimit(rate=10_000, burst=10_000))
    client = TestClient(app, base_url="http://127.0.0.1")
    client.headers["authorization"] = f"Bearer {tokens.issue_owner_link()}"
    client.session = session  # type: ignore[attr-defined]
    return client


def work(client: TestClient, n: int, token: str | None = None) -> None:
    """Answers with differing times; every seventh is a skip, every ninth is undone and answered again."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    reply = client.get("/api/question", headers=headers).json()
    for number in range(n):
        question = reply["question"]
        answer = {"type": "skip", "reason": "skip"} if number % 7 == 6 else answer_to(question, flip=number % 5 == 0)
        timing = {"onset_ms": 500, "submit_ms": 2500 + 317 * number, "hidden_ms": 40 * number}
        body = {"question_id": question["id"], "answer": answer, "timing": timing}
        reply = client.post("/api/answers", json=body, headers=headers).json()["next"]
        if number % 9 == 8:
            reply = client.post("/api/undo", json={}, headers=headers).json()["next"]


class Recomputed:
    """The exported log, read and learnt again."""

    def __init__(self, lines: str, pool: Pool) -> None:
        events = [json.loads(line) for line in lines.splitlines()]
        self.events = [event for event in events if "kind" in event]
        self.pool = pool
        undone = {event["question_id"] for event in self.events if event["kind"] == "undo"}
        self.undone = undone
        self.asked = {event["question_id"]: event for event in self.events if event["kind"] == "question"}
        self.given = [event for event in self.events if event["kind"] in ("answer", "skip")]
        self.valid = [event for event in self.given if event["question_id"] not in undone]
        self.learnt = [event for event in self.valid if event["kind"] == "answer"]
        self.points: list[dict[str, Any]] = []
        self.checks: list[tuple[int, int, int]] = []
        self.predictions: list[tuple[float, bool]] = []
        self.learner = Learner(pool, question="rank", set_size=3)
        self._learn()

    def seconds(self, event: dict[str, Any]) -> float:
        timing = event["payload"]["timing"]
        return max(0, timing["submit_ms"] - timing["onset_ms"] - timing["hidden_ms"]) / 1000

    def labels(self, event: dict[str, Any]) -> dict[str, bool]:
        answer, shown = event["payload"]["answer"], self.asked[event["question_id"]]["payload"]["items"]
        if answer["type"] == "label":
            return {shown[0]: answer["positive"]}
        if answer["type"] == "rank":
            return {item: place < answer["n_positive"] for place, item in enumerate(answer["order"])}
        if answer["type"] == "tick":
            return {item: item in answer["positive"] for item in shown}
        return {answer["chosen"]: answer["positive"]} if answer["type"] == "select" else {}

    def predicted(self, item: str) -> bool:
        return self.probability(item) >= 0.5 - 1e-9

    def probability(self, item: str) -> float:
        return float(self.learner.predict_proba(self.pool.X[self.pool.rows([item])])[0, 1])

    def _learn(self) -> None:
        minutes, prior = 0.0, np.linalg.slogdet(self.learner.belief.cov)[1]
        for number, event in enumerate(self.learnt, start=1):
            shown = self.asked[event["question_id"]]["payload"]
            question = Question(shown["kind"], shown["items"], id=event["question_id"], check=shown["check"])
            if shown["check"]:
                labels = self.labels(event)
                self.predictions += [(self.probability(item), label) for item, label in labels.items()]
                right = sum(self.predicted(item) == label for item, label in labels.items())
                self.checks.append((number, right, len(labels)))
            answer = event["payload"]["answer"]
            told = {
                "label": lambda a: LabelAnswer(a["positive"]),
                "select": lambda a: SelectAnswer(a["chosen"], a["positive"]),
                "rank": lambda a: RankAnswer(a["order"], a["n_positive"]),
                "tick": lambda a: TickAnswer(a["positive"]),
            }[answer["type"]](answer)
            info = self.learner.tell(question, told, person=event["participant"])
            assert info is not None
            after = np.linalg.slogdet(self.learner.belief.cov)[1]
            minutes += self.seconds(event) / 60
            p = self.learner.posteriors.probability(self.pool.X, self.learner.w)
            self.points.append(
                {
                    "answers": number,
                    "minutes": minutes,
                    "bits": info.logdet_drop_nats
                    / 2
                    / math.log(2),  # comparing people again may change the determinant too
                    "logdet_per_dim": (after - prior) / (self.pool.d + 1),
                    "expected_accuracy": float(np.maximum(p, 1 - p).mean()),
                    "check": shown["check"],
                    "kind": shown["kind"],
                    "size": len(shown["items"]),
                    "question_id": event["question_id"],
                }
            )


@pytest.fixture
def both(owner: TestClient, pool: Pool) -> tuple[dict[str, Any], Recomputed]:
    """The dashboard after two people's work, and the same from the exported log."""
    owner.get("/api/dashboard")
    work(owner, 22)
    ann = owner.post("/api/invitations", json={"name": "Ann"}).json()["url"].split("token=")[1]
    work(owner, 10, ann)
    session: Session = owner.session  # type: ignore[attr-defined]
    session.settled_view()
    with session.lock:
        # Measure again, now that nothing changes: an earlier table may include answers that were undone later.
        session.rates.answers = -1
        session.rates.watch()
        session.lock.notify_all()
        assert session.lock.wait_for(lambda: session.rates.answers >= 0, 120)
    return owner.get("/api/dashboard").json(), Recomputed(owner.get("/api/export/jsonl").text, pool)


def close(one: Any, other: Any) -> None:
    assert one == pytest.approx(other, rel=1e-5, abs=1e-5)


def test_every_number_equals_one_recomputed_from_the_exported_log(both: Any, pool: Pool) -> None:
    shown, log = both
    assert shown["answers"] == len(log.learnt) > 15
    assert shown["skips"] == sum(event["kind"] == "skip" for event in log.valid) > 0
    close(shown["minutes"], log.points[-1]["minutes"])
    for point, expected in zip(shown["curve"], log.points, strict=True):
        for key, value in expected.items():
            close(point[key], value) if isinstance(value, float) else None
            assert isinstance(value, float) or point[key] == value
    _same_accuracy(shown, log)
    _same_quality(shown, log)
    p = log.learner.predict_proba(pool.X)[:, 1]
    mean, variance = log.learner.posterior.scores(pool.X)
    close(shown["positive_share"], float(np.mean(p >= shown["threshold"])))
    assert shown["histogram"]["counts"] == np.histogram(p, bins=shown["histogram"]["edges"])[0].tolist()
    orders = {"most_positive": -p, "most_negative": p, "most_uncertain": np.abs(p - 0.5)}
    for key, order in orders.items():
        rows = np.argsort(order)[:10]
        assert [item["id"] for item in shown[key]] == [pool.ids[row] for row in rows]
        close([item["probability"] for item in shown[key]], p[rows].tolist())
        close([item["score"] for item in shown[key]], mean[rows].tolist())
        close([item["score_sd"] for item in shown[key]], np.sqrt(variance[rows]).tolist())
    assert shown["pool_size"] == len(pool)
    assert shown["target_accuracy"] == 0.7
    _same_annotators(shown, log)


def _same_accuracy(shown: dict[str, Any], log: Recomputed) -> None:
    right, n = sum(check[1] for check in log.checks), sum(check[2] for check in log.checks)
    assert 0 < n < WINDOW
    assert (shown["accuracy"]["correct"], shown["accuracy"]["n"]) == (right, n)
    close(shown["accuracy"]["estimate"], right / n)
    assert [point["answers"] for point in shown["accuracy_curve"]] == [check[0] for check in log.checks if check[2]]
    assert [point["n"] for point in shown["accuracy_curve"]] == np.cumsum([c[2] for c in log.checks if c[2]]).tolist()
    assert shown["standing"]["accuracy"] == accuracy_words(accuracy_of(right, n))
    assert len(shown["mistakes"]) == min(n - right, LISTED_MISTAKES)


def _same_quality(shown: dict[str, Any], log: Recomputed) -> None:
    told = np.array([label for _, label in log.predictions])
    called = np.array([p for p, _ in log.predictions]) >= 0.5 - 1e-9
    assert shown["quality"]["checks"] == len(told)
    close(shown["quality"]["prevalence"]["estimate"], told.mean())
    close(shown["quality"]["precision"]["estimate"], told[called].mean())
    close(shown["quality"]["recall"]["estimate"], called[told].mean())
    close(shown["quality"]["f1"]["estimate"], 2 * (called & told).sum() / (called.sum() + told.sum()))
    for part in shown["quality"]["reliability"]:
        inside = [(p, label) for p, label in log.predictions if part["low"] <= p < part["high"]]
        close([part["checks"], part["mean"]], [len(inside), np.mean([p for p, _ in inside])])
        close(part["positive"]["estimate"], np.mean([label for _, label in inside]))


def _same_annotators(shown: dict[str, Any], log: Recomputed) -> None:
    people = {row["participant"]: row for row in shown["annotators"]}
    answers = Counter(event["participant"] for event in log.learnt)
    assert {person: row["answers"] for person, row in people.items() if row["answers"]} == dict(answers)
    for person, row in people.items():
        own = [event for event in log.valid if event["participant"] == person]
        if not own:
            continue
        assert row["skips"] == sum(event["kind"] == "skip" for event in own)
        assert row["undone"] == sum(e["participant"] == person and e["question_id"] in log.undone for e in log.given)
        close(row["median_s"], median(log.seconds(event) for event in own if event["kind"] == "answer"))
        close(row["minutes"], sum(log.seconds(event) for event in own) / 60)
        agreed = [log.predicted(item) == label for event in own for item, label in log.labels(event).items()]
        close(row["agreement"], sum(agreed) / len(agreed))
        assert row["last_utc"] == max(e["t_utc"] for e in log.given if e["participant"] == person)


def test_the_table_of_rates_is_that_of_the_log(both: Any, pool: Pool) -> None:
    shown, log = both
    at = shown["rates_answers"]
    assert 0 <= at <= shown["answers"]
    early = Learner(pool, question="rank", set_size=3)
    cost = OnlineCost()
    for event in log.learnt[:at]:
        question, answer = next((q, a) for q, a in log.learner.history if q.id == event["question_id"])
        early.tell(question, answer, person=event["participant"])
    for event in [event for event in log.learnt if event["seq"] <= shown["rates_seq"]]:
        shape = log.asked[event["question_id"]]["payload"]
        marks = len(event["payload"]["answer"]["positive"]) if shape["kind"] == "tick" else 0
        timed = Timed(shape["kind"], len(shape["items"]), log.seconds(event), event["participant"], marks)
        cost = cost.observe(timed)
    rng = np.random.default_rng([0, at])
    expected = rates(early.scan, early.belief, early.behaviour, sizes=(2, 3), cost=cost.cost, rng=rng, repeats=2)
    assert [(row["kind"], row["size"], row["best"]) for row in shown["rates"]] == [
        (r.kind, r.size, r.best) for r in expected
    ]
    for row, rate in zip(shown["rates"], expected, strict=True):
        close([row["bits"], row["seconds"], row["bits_per_second"]], [rate.bits, rate.seconds, rate.bits_per_second])


def test_signs_that_the_classifier_cannot_work_are_on_the_dashboard(open_session: Callable[..., Session]) -> None:
    X = 100 + 0.01 * np.random.default_rng(0).normal(size=(40, 6))
    warned = dashboard_out(open_session(pool=Pool(X, ids=[f"i{row}" for row in range(40)])))
    assert [each.split(":")[0] for each in warned.warnings] == ["the items hardly differ"]
