"""Simulated participants of a running study, over its real HTTP API. Times are reported without any waiting.

Answers are drawn as people would give them about words with known scores; times come from a cost model with its spread, at each
person's own speed (`study.people`). An inattentive participant misses one gold question of each kind.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tellmore import kinds
from tellmore.client import Client, Link
from tellmore.data.bundled import demo_pool
from tellmore.errors import StateError
from tellmore.kinds import perceived
from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.questions import Question, answer_from
from tellmore.study.create import create_study
from tellmore.study.entry import signature_of
from tellmore.study.people import PAPER_DEMOGRAPHICS, Person, crowd, people_cost
from tellmore.study.presets import preset
from tellmore.study.records import Records, read_records, study_events
from tellmore.study.settings import PAPER_KINDS, Stage, Study
from tellmore.types import Array

INSTRUCTIONS_S = 240.0
"""Median seconds for everything except the questions."""


class Respondent:
    """Answers everything that the study shows, as one person."""

    def __init__(
        self,
        study: Study,
        person: Person,
        *,
        rng: np.random.Generator,
        cost: CostModel = PAPER_COST,
        score: Callable[[str], float] | None = None,
        key: str | None = None,
    ) -> None:
        self._study, self._person, self._rng, self._cost = study, person, rng, cost
        self._proof = {} if key is None else {"signature": signature_of(key, person.external)}
        self._coins = rng.spawn(1)[0]  # breaks ties; a generator of its own, so that ties change nothing else
        self._score = score or (lambda _item: 0.0)
        self._clock_ms = 0.0
        self._answered = 0
        self._missed: set[str] = set()
        # The person's time outside questions; lognormal, as total times are.
        self._clock_ms += 1000 * person.speed * INSTRUCTIONS_S * float(rng.lognormal(0.0, 0.3))

    @property
    def elapsed_ms(self) -> int:
        """The person's time since the start."""
        return int(self._clock_ms)

    def take_part(self, client: Client) -> dict[str, Any]:
        """Take part to the end, or until ``stop_after`` answers, and return the last state."""
        state = client.request("POST", "/api/study/enter", {"prolific_pid": self._person.external, **self._proof})
        while state["step"] != "done":
            if state["question"] is None:
                body = {"step": state["step"], "value": self._step(state), "elapsed_ms": self.elapsed_ms}
                state = client.request("POST", "/api/study/step", body)
                continue
            if self._person.stop_after is not None and self._answered >= self._person.stop_after:
                return state
            body = {"question_id": state["question"]["id"], **self.respond(state["question"], state["step"])}
            state = client.request("POST", "/api/study/answers", body)["next"]
        return state

    def _step(self, state: Mapping[str, Any]) -> Any:
        if state["step"] == "consent":
            return self._person.consents
        if state["step"] == "comprehension":
            right = [choice.correct for choice in self._study.comprehension]
            wrong = [(c.correct + 1) % len(c.options) for c in self._study.comprehension]
            return right if self._person.understands else wrong
        if state["step"] == "demographics":
            return self._about_me()
        return "" if state["step"] == "debrief" else True

    def _about_me(self) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for field in self._study.demographics:
            if field.name == "age":
                given["age"] = int(np.clip(self._rng.normal(43.25, 13), 18, 90))
                continue
            shares = PAPER_DEMOGRAPHICS.get(field.name) or dict.fromkeys(field.options, 1)
            if shares:
                weights = np.array(list(shares.values()), dtype=float)
                given[field.name] = str(self._rng.choice(list(shares), p=weights / weights.sum()))
        return {name: value for name, value in given.items() if value != ""}

    def respond(self, question: Mapping[str, Any], step: str) -> dict[str, Any]:
        """Answer and timing of one question, as a browser would send them."""
        items = [item["id"] for item in question["items"]]
        shown = Question(question["kind"], items)
        answer = answer_from(shown, perceived(self._judge(shown), self._coins))
        onset, marks = self._clock_ms, kinds.named(shown.kind).marks(answer)
        seconds = self._cost.sample(shown.kind, shown.size, self._rng, marks=marks)
        self._clock_ms += 1000 * self._person.speed * seconds
        if step == "question":
            self._answered += 1
        timing = {"onset_ms": round(onset), "submit_ms": round(self._clock_ms), "moves": len(items)}
        return {"answer": answer.as_json(), "timing": timing}

    def _judge(self, question: Question) -> Array:
        """How far above the boundary this person sees each item [k]."""
        if self._person.lapse > 0 and self._rng.random() < self._person.lapse:
            return self._rng.standard_normal(question.size)
        gold = next((g for g in self._study.gold if set(g.order) == set(question.items)), None)
        if gold is None:
            return np.array([self._score(item) + self._rng.normal(0, 0.5) for item in question.items])
        above = np.array([gold.n_positive - 0.5 - gold.order.index(item) for item in question.items])
        if question.kind in self._person.inattentive_in and question.kind not in self._missed:
            self._missed.add(question.kind)
            return -above
        return above


def run_crowd(
    host: str,
    port: int,
    study: Study,
    people: Sequence[Person],
    *,
    seed: int = 0,
    cost: CostModel | None = None,
    score: Callable[[str], float] | None = None,
    progress: Callable[[], None] | None = None,
    key: str | None = None,
) -> list[dict[str, Any]]:
    """Let every person take part at the server, one after another, and return their last states.

    ``cost``: the seconds of a person of speed 1; by default the paper's, with the spread of one person's answers.
    ``key`` signs their links.
    """
    states = []
    cost = people_cost(study) if cost is None else cost
    for number, person in enumerate(people):
        rng = np.random.default_rng([seed, 4, number])
        with Client(Link(host, port)) as client:
            states.append(Respondent(study, person, rng=rng, cost=cost, score=score, key=key).take_part(client))
        if progress is not None:
            progress()
    return states


@contextmanager
def served_study(folder: Path) -> Iterator[tuple[str, int]]:
    """``tellmore study serve`` in a separate process on a free port: (host, port) while the block runs."""
    command = [sys.executable, "-m", "tellmore", "study", "serve", str(folder), "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True
    ) as server:
        try:
            yield _address(server)
        finally:
            server.terminate()
            server.wait(30)


def _address(server: subprocess.Popen[str]) -> tuple[str, int]:
    said = []
    assert server.stdout is not None
    for line in server.stdout:
        said.append(line.strip())
        match = re.search(r"http://([\w.-]+):(\d+)/study", line)
        if match:
            return match[1], int(match[2])
    raise StateError(f"the study's server did not start: {' '.join(said)[-500:] or 'it said nothing'}")


SHORT_RUN = (
    Stage(name="early", first=1, last=2),
    Stage(name="mid", first=11, last=12),
    Stage(name="late", first=21, last=22),
)
"""For trying out: simulated people take no longer over later questions, and drawing a thousand questions takes minutes."""


def simulated_study(
    folder: Path, *, participants: int = 101, seed: int = 0, stages: tuple[Stage, ...] | None = None
) -> tuple[Study, Records]:
    """The paper's study on the bundled words, run with simulated people through the real server, and its records.

    ``participants`` people pass the comprehension check; others fail it. The shares are the paper's: 38 of 101 miss a gold
    ranking, 18 of 101 miss a gold selection, and 22 for every 101 fail the check. ``stages``: by default the paper's.
    """
    codes = iter(("COMPLETE", "NOCONSENT", "FAILED"))
    study = preset("paper", lambda: next(codes), seed=seed)
    study = study if stages is None else study.model_copy(update={"stages": stages})
    project, _ = create_study(folder, study, demo_pool, seed=seed)
    failing = round(participants * 22 / 101)
    inattentive = {kind: round(participants * count / 101) for kind, count in zip(PAPER_KINDS, (38, 18), strict=True)}
    people = crowd(participants + failing, inattentive=inattentive, failing=failing, seed=seed)
    with served_study(folder) as (host, port):
        run_crowd(host, port, study, people, seed=seed)
    return study, read_records(study, study_events(project.database_url))
