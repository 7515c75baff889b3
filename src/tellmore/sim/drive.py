"""Simulated people who answer through the HTTP API as browsers do: a load test, and a way to watch a project being taught.

Each person is a thread with its own connection. It waits for the time that the time model gives, answers, and repeats the same
request while the server is down. Afterwards, the acknowledged answers are compared with the server's log.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tellmore import kinds
from tellmore.client import GIVE_UP_S, Client, Link, error_of
from tellmore.errors import InputError, StateError
from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.questions import Question
from tellmore.sim.people import GOOD, Person
from tellmore.types import Answer

ARRIVAL_S = 10.0


@dataclass(frozen=True)
class Shown:
    """A question on a person's screen, from ``start_s`` to ``end_s`` of one common clock."""

    question_id: str
    kind: str
    items: frozenset[str]
    start_s: float
    end_s: float
    person: int


@dataclass
class Report:
    """What happened: all questions shown and answers acknowledged, with latencies from an answer to the next question."""

    shown: list[Shown] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    latency_ms: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0
    lost: int = 0
    duplicated: int = 0

    def same_at_once(self) -> int:
        """How many pairs of people saw a question of the same kind on the same items at the same time."""
        count = 0
        active: list[Shown] = []
        for each in sorted(self.shown, key=lambda one: one.start_s):
            active = [one for one in active if one.end_s > each.start_s]
            alike = (one for one in active if (one.kind, one.items) == (each.kind, each.items))
            count += sum(one.person != each.person for one in alike)
            active.append(each)
        return count

    def summary(self) -> dict[str, Any]:
        """The numbers to print."""
        found = np.percentile(self.latency_ms, [50, 95, 99]) if self.latency_ms else [float("nan")] * 3
        return {
            "answers": len(self.acknowledged),
            "seconds": self.seconds,
            "answers_per_s": len(self.acknowledged) / self.seconds if self.seconds else 0.0,
            "p50_ms": float(found[0]),
            "p95_ms": float(found[1]),
            "p99_ms": float(found[2]),
            "lost": self.lost,
            "duplicated": self.duplicated,
            "same_question_at_once": self.same_at_once(),
            "faults": len(self.faults),
        }


NOISE = 0.3
"""Standard deviation of the noise added to an opinion each time."""


class Mind:
    """How a simulated person sees items: by ``scores`` if known, else by a fixed pseudo-random opinion about the id; with the
    habits of ``person``."""

    def __init__(self, scores: Mapping[str, float], seed: int, person: Person = GOOD) -> None:
        self._scores, self._person = scores, person
        self._rng = np.random.default_rng(seed)
        self._unit = float(np.std(list(scores.values()))) if scores else 1.0
        self._answered, self._before = 0, 0.0

    def opinion(self, item: str) -> float:
        """The person's opinion about an item, positive above 0, with a little noise each time."""
        known = self._scores.get(item)
        if known is None:
            known = _fixed(item)
        share = self._person.camp
        if share < 1:
            known = share * known + float(np.sqrt(1 - share**2)) * self._unit * _fixed(f"camp {item}")
        return known + NOISE * float(self._rng.standard_normal())

    def answer(self, kind: str, items: list[str]) -> Answer:
        """The person's answer."""
        z = np.array([self.opinion(item) for item in items])
        answer = self._person.answer(
            Question(kind, items),
            z,
            unit=self._unit,
            before=self._before,
            n_answered=self._answered,
            rng=self._rng,
        )
        self._answered, self._before = self._answered + 1, float(z.mean())
        return answer

    def think_s(self, kind: str, size: int, answer: Answer, cost: CostModel) -> float:
        """The seconds that the answer takes."""
        usual = cost.sample(kind, size, self._rng, marks=kinds.named(kind).marks(answer))
        return usual * self._person.slower_after(self._answered)


def _fixed(name: str) -> float:
    return float(np.random.default_rng(list(name.encode())).standard_normal())


def invite(link: Link, people: int) -> list[Link]:
    """One link per person; with several people, ``link`` must be the owner's."""
    if people == 1:
        return [link]
    with Client(link) as client:
        return [_invited(client, link, f"simulated {number + 1}") for number in range(people)]


def _invited(owner: Client, link: Link, name: str) -> Link:
    status, reply = owner.patiently("POST", "/api/invitations", {"name": name})
    if status == 403:
        raise InputError("several annotators need the owner's address, the one that `tellmore serve` prints")
    if status != 201:
        raise StateError(f"the server refused an invitation: {error_of(reply)}")
    return Link(link.host, link.port, Link.parse(reply["url"]).token, link.secure)


def drive(
    links: list[Link],
    *,
    answers: int,
    think: bool = True,
    speed: float = 1.0,
    scores: Mapping[str, float] | None = None,
    seed: int = 0,
    team: Sequence[Person] = (),
    cost: CostModel = PAPER_COST,
    stop: threading.Event | None = None,
    stagger: bool = False,
    give_up_s: float = GIVE_UP_S,
    on_answer: Callable[[], None] = lambda: None,
) -> Report:
    """Let the people behind all ``links`` give ``answers`` answers each, at the same time.

    ``speed`` divides their times; ``team``: how each of them answers, by default attentively; ``stop`` ends it early;
    ``stagger`` lets people arrive over some seconds, as real people do; a person who gets no reply for ``give_up_s`` gives up.
    """

    def person_of(number: int) -> Person:
        return team[number] if team else GOOD

    report, turn, halt = Report(), threading.Lock(), stop or threading.Event()

    def person(number: int) -> None:
        try:
            with Client(links[number]) as client:
                work(client, Mind(scores or {}, seed * 100_003 + number, person_of(number)), number)
        except Exception as problem:
            with turn:
                report.faults.append(str(problem))

    def work(client: Client, mind: Mind, number: int) -> None:
        if stagger and halt.wait(ARRIVAL_S * number / len(links) / speed):
            return
        _, reply = client.patiently("GET", "/api/question", give_up_s=give_up_s)
        for _ in range(answers):
            question = reply.get("question") if isinstance(reply, dict) else None
            if question is None or halt.is_set():
                return
            start = time.monotonic()
            items = [item["id"] for item in question["items"]]
            answer = mind.answer(question["kind"], items)
            thought_s = mind.think_s(question["kind"], len(items), answer, cost)
            if think and halt.wait(thought_s / speed):
                return
            body = _body(question, answer.as_json(), thought_s)
            sent = time.monotonic()
            status, outcome = client.patiently("POST", "/api/answers", body, give_up_s)
            done = time.monotonic()
            shown = Shown(question["id"], question["kind"], frozenset(items), start, sent, number)
            with turn:
                report.shown.append(shown)
                if status != 200:
                    report.faults.append(error_of(outcome))
                    return
                report.acknowledged.append(question["id"])
                report.latency_ms.append((done - sent) * 1000)
            on_answer()
            reply = outcome["next"]

    threads = [threading.Thread(target=person, args=(number,), daemon=True) for number in range(len(links))]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report.seconds = time.monotonic() - began
    return report


def _body(question: dict[str, Any], answer: dict[str, Any], thought_s: float) -> dict[str, Any]:
    submit_ms = max(1, round(thought_s * 1000))
    timing = {"onset_ms": 0, "first_action_ms": submit_ms // 2, "submit_ms": submit_ms, "moves": 1, "device": "api"}
    return {"question_id": question["id"], "answer": answer, "timing": timing}


def compare_with_log(report: Report, link: Link) -> Report:
    """The report with ``lost`` and ``duplicated`` counted in the owner's export of the log."""
    with Client(link) as client:
        status, log = client.read("GET", "/api/export/jsonl")
    if status != 200:
        raise InputError("the log can be compared only with the owner's address, the one that `tellmore serve` prints")
    events = [json.loads(line) for line in log.splitlines()]
    found = Counter(event["question_id"] for event in events if event["kind"] in ("answer", "skip"))
    report.lost = sum(found[question_id] == 0 for question_id in report.acknowledged)
    report.duplicated = sum(found[question_id] > 1 for question_id in report.acknowledged)
    return report
