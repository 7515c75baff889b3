"""The study file: one TOML file, checked when it is read; every error names the key and the line."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from tellmore import kinds
from tellmore.data.checked import Field, Section, model_validator, read_section
from tellmore.data.settings import KindName, SetSize

STUDY_FILE = "study.toml"
StudyKind = Annotated[KindName, Field(description="a kind of question that can show several items")]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Word = Annotated[str, Field(min_length=1, max_length=500)]


class Stage(Section):
    """A stratum: the questions that a learning run asks at iterations ``first`` to ``last``, counted from 1."""

    name: Word
    first: int = Field(ge=1, le=100_000)
    last: int = Field(ge=1, le=100_000)

    @model_validator(mode="after")
    def _in_order(self) -> Stage:
        if self.last < self.first:
            raise ValueError(f"last ({self.last}) comes before first ({self.first})")
        return self


PAPER_KINDS = ("rank", "select_high")
"""The kinds in the paper's study; only here does the code of studies name kinds."""


class Design(Section):
    """How many questions of which kinds and sizes, and the positions of the gold questions in each kind's block (from 1).

    ``own_sizes``: the sizes of kinds that do not use ``sizes``, such as grids.
    """

    kinds: tuple[StudyKind, ...] = Field(default=PAPER_KINDS, min_length=1, max_length=10)
    questions_per_kind: int = Field(default=20, ge=1, le=500)
    sizes: tuple[SetSize, ...] = Field(default=tuple(range(2, 9)), min_length=1)
    own_sizes: dict[StudyKind, Annotated[tuple[SetSize, ...], Field(min_length=1)]] = Field(default_factory=dict)
    gold_positions: tuple[Annotated[int, Field(ge=1)], ...] = (1, 2, 11, 12, 21)
    order: Literal["counterbalanced", "fixed"] = "counterbalanced"
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _consistent(self) -> Design:
        for kind in map(kinds.named, self.kinds):
            if kind.most == 1:
                raise ValueError(f"kinds: a {kind.name} always shows one item, so its size cannot vary; choose another")
            sizes = self.sizes_for(kind.name)
            if max(sizes) > kind.most:
                raise ValueError(f"sizes: a {kind.name} question shows at most {kind.most} items, not {max(sizes)}")
            if len(set(sizes)) < len(sizes):
                raise ValueError("sizes: name each one only once")
        if len(set(self.kinds)) < len(self.kinds):
            raise ValueError("kinds: name each one only once")
        if not set(self.own_sizes) <= set(self.kinds):
            raise ValueError(f"own_sizes must be for kinds that are asked: {', '.join(self.kinds)}")
        total = self.questions_per_kind + len(self.gold_positions)
        if len(set(self.gold_positions)) < len(self.gold_positions) or max(self.gold_positions, default=0) > total:
            raise ValueError(f"gold_positions must differ and lie from 1 to {total}")
        return self

    def sizes_for(self, kind: str) -> tuple[int, ...]:
        """How many items questions of ``kind`` show."""
        return self.own_sizes.get(kind, self.sizes)


class Gold(Section):
    """A question with one right answer: its items, highest first, and how many of them are positive."""

    order: tuple[Word, ...] = Field(min_length=2, max_length=20)
    n_positive: int = Field(ge=0)

    @model_validator(mode="after")
    def _possible(self) -> Gold:
        if len(set(self.order)) < len(self.order) or self.n_positive > len(self.order):
            raise ValueError("order names each item once, and n_positive is at most their number")
        return self


class Practice(Section):
    """A question for trying the controls; stored, never analysed."""

    kind: StudyKind
    items: tuple[Word, ...] = Field(min_length=2, max_length=20)


class Choice(Section):
    """A multiple-choice question of the comprehension check; ``correct`` counts the options from 0."""

    question: Text
    options: tuple[Word, ...] = Field(min_length=2, max_length=10)
    correct: int = Field(ge=0)

    @model_validator(mode="after")
    def _has_answer(self) -> Choice:
        if self.correct >= len(self.options):
            raise ValueError(f"correct must be from 0 to {len(self.options) - 1}")
        return self


class PersonQuestion(Section):
    """A voluntary question about the person: a number, a text, or one of the options."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    question: Word
    type: Literal["number", "text", "choice"] = "text"
    options: tuple[Word, ...] = ()


class Texts(Section):
    """What participants read, as plain text; an empty line starts a new paragraph."""

    eligibility: Text
    consent: Text
    instructions: Text
    debrief: Text


class Completion(Section):
    """The codes of the three outcomes, and the address to which participants return; ``{code}`` stands for the code."""

    complete: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{3,40}$")]
    no_consent: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{3,40}$")]
    failed_comprehension: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{3,40}$")]
    url: str = Field(default="", pattern=r"^(https://\S+)?$", max_length=500)


class Pay(Section):
    """The pay for a completed study; used for the hourly pay in the report."""

    amount: float = Field(default=0.0, ge=0)
    currency: Word = "USD"


class Entry(Section):
    """Who may take part: anyone with an id, ids listed in participants.txt, or only people with signed links; and how many."""

    by: Literal["open", "list", "signed"] = "open"
    most: int = Field(default=500, ge=1, le=100_000)


class Recruitment(Section):
    """Whom the recruiting service admits (its screeners), and the planned number of people; for the pre-registration."""

    screeners: tuple[Word, ...] = ()
    participants: int | None = Field(default=None, ge=1)


class Study(Section):
    """All of ``study.toml``."""

    title: Word
    attribute: Word = "positive"
    positive: Word = "positive"
    negative: Word = "negative"
    comprehension_attempts: int = Field(default=2, ge=1, le=10)
    design: Design = Design()
    stages: tuple[Stage, ...] = Field(min_length=1)
    gold: tuple[Gold, ...] = ()
    practice: tuple[Practice, ...] = ()
    comprehension: tuple[Choice, ...] = ()
    demographics: tuple[PersonQuestion, ...] = ()
    texts: Texts
    completion: Completion
    pay: Pay = Pay()
    entry: Entry = Entry()
    recruitment: Recruitment = Recruitment()

    @model_validator(mode="after")
    def _gold_fits(self) -> Study:
        if len(self.gold) != len(self.design.gold_positions):
            raise ValueError(
                f"gold: {len(self.gold)} gold questions for {len(self.design.gold_positions)} design.gold_positions; "
                "give one for each position"
            )
        return self

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all settings except who may enter; it identifies the version of the study that a participant saw."""
        return hashlib.sha256(self.model_dump_json(exclude={"entry"}).encode()).hexdigest()


def read_study(path: Path) -> Study:
    """The study in the TOML file at ``path``; SettingError names key and line."""
    return read_section(Study, path, advice=f"make a study with: tellmore study init {path.parent}")
