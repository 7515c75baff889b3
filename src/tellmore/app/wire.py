"""What is sent over HTTP: Pydantic models, and their conversion to and from the frozen types.

Validation happens here once; what leaves this module is a ``Question`` or an ``Answer``.
Times are whole milliseconds of the browser's ``performance.now()``, raw; durations shown are minutes or seconds, as named.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    StrictInt,
    StringConstraints,
    TypeAdapter,
    WithJsonSchema,
    model_validator,
)

from tellmore import kinds
from tellmore.data.settings import KindName, QuestionChoice, SetSize
from tellmore.types import Answer, Skip

MAX_MS = 10**10

Id: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=512)]
QuestionId: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Words: TypeAlias = Annotated[str, StringConstraints(max_length=2000)]
Milliseconds: TypeAlias = Annotated[StrictInt, Field(ge=0, le=MAX_MS)]
Intervals: TypeAlias = Annotated[list[tuple[Milliseconds, Milliseconds]], Field(max_length=200)]
Role = Literal["owner", "annotator", "participant", "monitor"]
Examples: TypeAlias = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=2000)]], Field(max_length=1000)
]


class Wire(BaseModel):
    """Base of all models: unknown fields are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# Answers, from the browser


def answer_schema() -> dict[str, Any]:
    """The JSON schema of an answer, for all registered kinds of question."""
    types = dict.fromkeys([*(kind.answer_type for kind in kinds.all_kinds()), Skip])
    return {"oneOf": [_schema_of(answer_type) for answer_type in types], "title": "Answer"}


def _schema_of(answer_type: type[Answer]) -> dict[str, Any]:
    schema = TypeAdapter(answer_type).json_schema()
    return {
        "type": "object",
        "title": answer_type.__name__,
        "description": (answer_type.__doc__ or "").partition("\n")[0],
        "properties": {"type": {"const": answer_type.type}, **schema["properties"]},
        "required": ["type", *schema.get("required", [])],
        "additionalProperties": False,
    }


AnswerWire: TypeAlias = Annotated[
    Answer,
    PlainValidator(kinds.answer_from_json),
    PlainSerializer(lambda answer: answer.as_json(), return_type=dict[str, Any]),
    WithJsonSchema(answer_schema()),
]
"""An answer; each kind of question defines and checks its own."""


class Timing(Wire):
    """Raw times of one answer in whole milliseconds; ``onset`` is after the card is painted and its pictures are decoded."""

    onset_ms: Milliseconds
    first_action_ms: Milliseconds | None = None
    submit_ms: Milliseconds
    moves: Annotated[StrictInt, Field(ge=0, le=100_000)] = 0
    device: Literal["mouse", "touch", "pen", "keyboard", "mixed", "api", "unknown"] = "api"
    hidden_ms: Milliseconds = 0
    blurred_ms: Milliseconds = 0
    hidden: Intervals = Field(default=[], description="[from, to] intervals in which the page was hidden")
    blurred: Intervals = Field(default=[], description="[from, to] intervals in which the page did not have the focus")
    away: Intervals = Field(
        default=[],
        description="[from, to] intervals off the screen, because of a reload or an undo; part of hidden",
    )
    latency_ms: Milliseconds | None = None


class AnswerIn(Wire):
    """Body of ``POST /api/answers``."""

    question_id: QuestionId
    answer: AnswerWire
    timing: Timing | None = None


class LabelIn(Wire):
    """Body of ``POST /api/labels``: an item and whether it is positive."""

    item: Id
    positive: StrictBool


class UndoIn(Wire):
    """Body of ``POST /api/undo``: ``{}`` undoes one's own last answer, or name the question."""

    question_id: QuestionId | None = None


# Questions, to the browser


class ItemOut(Wire):
    """One item shown; ``image`` is an address on this server."""

    id: str
    text: str | None = None
    image: str | None = None


class ShownOut(Wire):
    """A question, with its items in the order in which they are first shown."""

    id: str
    kind: str
    items: list[ItemOut]


class QuestionOut(ShownOut):
    """A question of a project."""

    stale: bool = Field(description="chosen before the latest answer had been learnt")


class ProgressOut(Wire):
    """The progress; what the classifier can do is for the owner only."""

    answers: int = Field(description="this person's answers that count, skips not included")
    minutes: float = Field(description="this person's time on questions, hidden time not included")
    answers_all: int | None = Field(None, description="owner only: everybody's answers that count")
    quota: int | None = Field(None, description="how many answers this person is asked for")
    standing: list[str] = Field([], description="owner only: accuracy, time left and whether to stop, in words")
    can_undo: int = Field(0, description="how many of this person's answers can be undone now")


class EndOut(Wire):
    """The end, in words; ``go_on``: whether this person may ask for more questions."""

    title: str
    text: str
    go_on: bool


class GlanceOut(Wire):
    """Predictions for items that nobody was asked about: the most and the least positive, and an uncertain one. ``most`` has only
    items that are predicted positive, ``least`` only the others, so each may be empty."""

    most: list[ItemOut]
    least: list[ItemOut]
    unsure: ItemOut


class PauseOut(Wire):
    """A friendly suggestion to take a break; ``id`` is the same as long as it is about the same answers."""

    id: str
    text: str


class QuestionReply(Wire):
    """This person's open question, or why there is none; ``end`` if none will follow."""

    question: QuestionOut | None
    reason: str | None = None
    end: EndOut | None = None
    glance: GlanceOut | None = Field(None, description="owner only, now and then")
    pause: PauseOut | None = Field(
        None, description="now and then, if this person's answers change as if they were tired"
    )
    progress: ProgressOut


class AnswerReply(Wire):
    """The answer is on disk; ``next`` is the question to show now."""

    saved: Literal[True] = True
    next: QuestionReply


class UndoReply(Wire):
    """``next`` shows the undone question again, under a new id; ``previous`` is the undone answer."""

    undone: str
    previous: AnswerWire
    next: QuestionReply


class ErrorOut(Wire):
    """Every refusal, with a 4xx status."""

    error: str


class KindOut(Wire):
    """A kind of question: its short title, what it asks and how to answer, in the project's words.

    ``sizes``: fewest and most items. ``standard``: whether "auto" may choose it without being told to. ``laboratory``: for
    experiments; settings do not offer it. ``script``: where the module is that draws it, for kinds that do not come with
    tellmore.
    """

    name: str
    family: str
    title: str
    ask: str
    help: str
    sizes: tuple[int, int]
    standard: bool
    laboratory: bool
    script: str | None


class ProjectOut(Wire):
    """The project's words; ``kinds`` are all that may be asked; ``ties``: whether rankings may have ties."""

    name: str
    attribute: str
    positive: str
    negative: str
    instruction: str
    guidelines: str
    kinds: list[KindOut]
    media: Literal["text", "image"]
    ties: bool


class MeOut(Wire):
    """Who is asking."""

    role: Role
    participant: str
    name: str
    project: ProjectOut
    introduction: list[str] = Field(description="what to read before the first question, one short line each")
    shortcuts: bool = True


# Owner: settings, invitations


class SettingsOut(Wire):
    """What the owner may edit, and the whole configuration with secrets redacted."""

    name: str
    attribute: str
    positive: str
    negative: str
    instruction: str
    guidelines: str
    quota: int | None = Field(description="how many answers each annotator is asked for; null: no limit")
    question: str
    kinds: list[str]
    sizes: list[int]
    set_size: int | None = Field(description="items per question; null: the usual number for the kind")
    target_accuracy: float
    check_share: float
    ties: bool
    overlap: float = Field(description="share of the questions given to a second person")
    known_share: float = Field(description="share of the questions about items whose label is known")
    like: list[str]
    unlike: list[str]
    config: dict[str, Any]


class SettingsChange(Wire):
    """Body of ``PUT /api/settings`` and ``POST /api/settings/preview``: only what changes."""

    name: Name | None = None
    attribute: Name | None = None
    positive: Name | None = None
    negative: Name | None = None
    instruction: Words | None = None
    guidelines: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    quota: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        None, description="how many answers each annotator is asked for; null: no limit"
    )
    question: QuestionChoice | None = None
    kinds: Annotated[list[KindName], Field(min_length=1, max_length=100)] | None = None
    sizes: Annotated[list[SetSize], Field(min_length=1, max_length=20)] | None = None
    set_size: SetSize | None = Field(None, description="items per question; null: the usual number for the kind")
    target_accuracy: Annotated[float, Field(gt=0.5, lt=1.0)] | None = None
    check_share: Annotated[float, Field(ge=0.0, le=0.9)] | None = None
    ties: StrictBool | None = None
    overlap: Annotated[float, Field(ge=0.0, le=0.5)] | None = Field(
        None, description="share of the questions given to a second person"
    )
    known_share: Annotated[float, Field(ge=0.0, le=0.5)] | None = Field(
        None, description="share of the questions about items whose label is known"
    )
    like: Examples | None = Field(None, description="words, or items by id or full text, like what is looked for")
    unlike: Examples | None = Field(None, description="words, or items by id or full text, unlike what is looked for")


class PreviewOut(Wire):
    """How people would see the project after the change; nothing is saved."""

    project: ProjectOut
    question: QuestionOut


class InvitationIn(Wire):
    """Body of ``POST /api/invitations``: a link for one person, or for ``people``, each of whom becomes a separate annotator.
    It works for ``expires_days``; null: until it is revoked."""

    name: Name
    role: Literal["annotator", "owner", "monitor"] = "annotator"
    expires_days: Annotated[int, Field(ge=1, le=3650)] | None = 90
    people: Annotated[int, Field(ge=2, le=1000)] | None = None

    @model_validator(mode="after")
    def _several_annotators(self) -> InvitationIn:
        if self.people is not None and self.role != "annotator":
            raise ValueError("people: a link for several people can only be for annotators")
        return self


class InvitationOut(Wire):
    """An invitation; ``url`` is given only when it is made, because only its hash is stored."""

    id: str
    name: str
    role: Role
    participant: str
    created_utc: str
    revoked: bool
    expires_utc: str | None = None
    expired: bool = False
    people_left: int | None = None
    url: str | None = None


class ResetIn(Wire):
    """Body of ``POST /api/reset``: the project's name, so that nobody resets it by accident."""

    confirm: Annotated[str, StringConstraints(max_length=200)]


class DoneOut(Wire):
    """A request was carried out."""

    done: Literal[True] = True
