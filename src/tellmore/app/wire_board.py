"""What is sent over HTTP to the owner's dashboard: every number that is plotted or listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Base64Bytes, Field

from tellmore.app.lately import AskedLately
from tellmore.app.wire import ItemOut, Name, ProjectOut, Wire
from tellmore.app.wire_team import NoteOut
from tellmore.policy.quality import Quality
from tellmore.policy.rates import Rate
from tellmore.store.agreement import Reliability
from tellmore.store.judge import Verdict
from tellmore.store.people import Manner
from tellmore.store.standing import Standing
from tellmore.store.statistics import Accuracy, Contribution


class CurvePoint(Wire):
    """After ``answers`` answers and ``minutes`` minutes of everybody's time."""

    answers: int
    minutes: float
    logdet_per_dim: float = Field(
        description="log|Sigma| / D relative to the prior, in nats; falls as the belief narrows"
    )
    bits: float = Field(description="information that this answer was expected to give, in bits")
    expected_accuracy: float = Field(description="mean over the pool of max(p, 1 - p): the model's own estimate")
    check: bool
    question_id: str
    kind: str
    size: int


@dataclass(frozen=True)
class AccuracyPoint(Accuracy):
    """Accuracy on random checks after ``answers`` answers."""

    answers: int
    minutes: float


class HistogramOut(Wire):
    """Counts of the pool's probabilities in equal bins; ``edges`` has one more entry than ``counts``."""

    edges: list[float]
    counts: list[int]


class ScoredItem(ItemOut):
    """An item with its probability of being positive, its mean score and the score's standard deviation."""

    probability: float
    score: float
    score_sd: float


class ItemRow(ScoredItem):
    """An item of the list; ``label`` is its last label, or null. ``notes`` counts comments and flags."""

    label: bool | None
    notes: int
    flagged: bool


class ItemsOut(Wire):
    """A page of the items found; ``total`` counts all of them."""

    rows: list[ItemRow]
    total: int


class TextsIn(Wire):
    """Body of ``POST /api/items``: a CSV file with the columns id and text."""

    name: Name = Field(description="the name of the file, for messages")
    content: Base64Bytes
    encoding: Name | None = Field(None, description="null: detected; if it can only be guessed, it must be named")


class GuessOut(Wire):
    """An encoding that a file may have, and some of its text read in it."""

    encoding: str
    reading: str


class AddingOut(Wire):
    """Adding texts: why it is not possible here, or the progress of the last addition."""

    refusal: str | None = Field(description="why no texts can be added; null if they can")
    max_bytes: int
    state: Literal["none", "guessed", "embedding", "learning", "done", "failed"]
    guesses: list[GuessOut] = Field(description="guessed: encodings that the file may have, the likeliest first")
    encodings: list[str] = Field(description="all encodings that can be named")
    done: int = Field(description="texts embedded so far")
    total: int
    message: str


class WhyOut(Wire):
    """An item, and the answered items most similar to it, the most similar first."""

    item: ItemRow
    nearest: list[ItemRow]
    notes: list[NoteOut] = Field(description="comments and flags, oldest first")


class MistakeOut(ItemOut):
    """An item, whether people called it positive (``told``), and its ``probability`` of being positive before that."""

    probability: float
    told: bool


@dataclass(frozen=True)
class AnnotatorOut(Contribution):
    """One person's work; ``open``: whether they have an open question. `reliability` compares them with others on the same
    items, `manner` with what everybody else's answers teach, ``lately`` their newest answers with their own earlier ones."""

    open: bool
    reliability: Reliability
    manner: Manner
    lately: str | None


class LogRow(Wire):
    """One row of the answer log."""

    seq: int
    t_utc: str
    participant: str
    question_id: str
    kind: str
    items: list[ItemOut]
    answer: dict[str, Any] | None = Field(description="null if it was erased")
    told: str | None = Field(description="the answer in one line; null if it was erased")
    rt_ms: int | None
    why: str = Field(
        description="why it was asked: best, next_best, supposed, check, fallback, again, second, known, direct, settled"
    )
    stale: bool
    check: bool
    late: bool
    undone: bool
    left_out: bool = Field(description="whether this person's answers do not count")


class LogOut(Wire):
    """The answer log, newest first; ``total`` counts all rows."""

    rows: list[LogRow]
    total: int


class JudgeOut(Wire):
    """Another model's scores against people's answers to random questions."""

    columns: list[str] = Field(description="columns of scores that the project keeps")
    column: str | None = Field(description="the one that is judged; null if none is kept")
    pool_size: int
    problem: str | None = Field(default=None, description="why these scores cannot be judged, if they cannot")
    verdict: Verdict | None = Field(default=None, description="null before the first random answer about a scored item")
    wrong_items: int = Field(
        default=0, description="items that people labelled differently; `verdict.wrong_most` has the worst"
    )
    items: dict[str, ItemOut] = Field(default={}, description="what the items of `verdict.wrong_most` look like, by id")


class ExportOut(Wire):
    """A file that can be downloaded: what it is for, code that uses it, and what to install first if something is missing."""

    path: str
    title: str
    use: str
    snippet: str | None
    install: str | None


class DashboardOut(Wire):
    """Every number of the owner's dashboard."""

    project: ProjectOut
    answers: int
    skips: int
    minutes: float
    accuracy: Accuracy | None
    quality: Quality | None
    target_accuracy: float
    standing: Standing
    over: bool = Field(description="whether the questions have ended")
    stop_reason: str | None = Field(description="why it is time to stop, by the stopping rule; null before")
    may_go_on: bool = Field(description="whether the owner may continue after the end")
    mistakes: list[MistakeOut] = Field(
        description="random checks that were predicted wrongly, the most confident first"
    )
    curve: list[CurvePoint]
    accuracy_curve: list[AccuracyPoint]
    rates: list[Rate]
    now: str = Field(description="kind and size now asked, for example 'rank 4'")
    histogram: HistogramOut
    most_positive: list[ScoredItem]
    most_negative: list[ScoredItem]
    most_uncertain: list[ScoredItem]
    positive_share: float = Field(description="class balance: share of the pool with probability >= threshold")
    threshold: float
    rates_answers: int = Field(description="answers that were learnt when the rates were measured; -1 before")
    rates_seq: int = Field(description="number of the last event whose times the rates include")
    pool_size: int
    annotators: list[AnnotatorOut]
    seq: int = Field(description="number of the last event these numbers include")
    start_verdict: str | None = Field(
        None, description="how far the answers agree with the start; null without one or before any answer"
    )
    problem: str | None = Field(None, description="what went wrong in the background, if anything did")
    asked: AskedLately
    warnings: list[str] = Field(
        description="signs that a linear classifier on these embeddings cannot work, and what to do"
    )


class AuditOut(Wire):
    """Something that an owner did; ``what``: the kind of event in the log."""

    seq: int
    t_utc: str
    who: str | None
    what: str
    details: dict[str, Any]
