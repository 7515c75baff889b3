"""The settings of a project: one TOML file, checked when it is read; every error names the key and the line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from tellmore import kinds as question_kinds
from tellmore.data.checked import AfterValidator, Field, Section, check_section, read_section
from tellmore.errors import SettingError
from tellmore.kinds import Words
from tellmore.policy.asking import AUTO, AUTO_SIZES, Asking
from tellmore.version import __version__

SETTINGS_FILE = "tellmore.toml"
FIRST_VERSION = "0.1.0"
"""The version of a project whose file does not name one."""
PriorChoice = Literal["pool", "isotropic", "earlier"]
BoundChoice = Literal["moments", "centred", "paper"]


def _set_size(size: int) -> int:
    most = max(kind.most for kind in question_kinds.all_kinds())
    if size > most:
        raise ValueError(f"no kind of question shows more than {most} items")
    return size


def _question(name: str) -> str:
    if name != AUTO:
        question_kinds.family(name)
    return name


SetSize = Annotated[int, Field(ge=2), AfterValidator(_set_size)]
KindName = Annotated[str, AfterValidator(lambda name: question_kinds.named(name).name)]
QuestionChoice = Annotated[str, AfterValidator(_question)]
"""``auto``, a family of kinds, or one kind."""


class ProjectSettings(Section):
    """What is taught, in the words that people read.

    ``guidelines``: a longer text that people can open. ``quota``: how many answers each annotator is asked for; unset: no limit.
    """

    name: str = Field(default="project", min_length=1, max_length=200)
    attribute: str = Field(default="positive", min_length=1, max_length=200)
    positive: str = Field(default="positive", min_length=1, max_length=200)
    negative: str = Field(default="negative", min_length=1, max_length=200)
    instruction: str = Field(default="", max_length=5000)
    guidelines: str = Field(default="", max_length=20_000)
    quota: int | None = Field(default=None, ge=1)


class LearningSettings(Section):
    """How it is learnt. If they are not set, ``bound``, ``w`` and ``K`` are the learner's defaults and ``set_size`` is the
    kind's; ``prior = "earlier"`` reads FOLDER/prior.npz."""

    question: QuestionChoice = "auto"
    kinds: tuple[KindName, ...] = Field(default_factory=question_kinds.standard_kinds, min_length=1)
    sizes: tuple[SetSize, ...] = Field(default=AUTO_SIZES, min_length=1)
    set_size: SetSize | None = None
    target_accuracy: float = Field(default=0.9, gt=0.5, lt=1.0)
    check_share: float = Field(default=0.1, ge=0.0, le=0.9)
    by_person: bool = True
    ties: bool = False
    prior: PriorChoice = "pool"
    bound: BoundChoice | None = None
    seed: int = Field(default=0, ge=0)
    w: float | None = Field(default=None, gt=0)
    K: float | None = Field(default=None, gt=0)
    seeds_positive: tuple[str, ...] = ()
    seeds_negative: tuple[str, ...] = ()

    def shown(self, n_items: int) -> int | None:
        """How many of ``n_items`` a question shows: ``set_size``, or the nearest number that is possible; None: the usual number.
        A number that was saved once must not keep a project from opening; `check_questions` refuses it in new settings."""
        asked = () if self.question == AUTO else question_kinds.family(self.question)
        if self.set_size is None or all(kind.most == 1 for kind in asked):
            return None
        fewest, most = max(kind.fewest for kind in asked), min(kind.most for kind in asked)
        return max(min(self.set_size, most, n_items), fewest)

    def check_questions(self, n_items: int) -> None:
        """Raise SettingError if no question with these settings can be asked about ``n_items``."""
        shown = self.shown(n_items)
        Asking.checked(self.question, shown if shown is None else self.set_size, self.kinds, self.sizes, n_items)


class StartSettings(Section):
    """What learning starts from, before the answers correct it: words, or items by id or full text, that are like what is looked
    for and unlike it; or a kept column with another model's scores, numbers or words, of which ``positive_value`` (or yes,
    true, positive) means positive; or an ``earlier`` project's classifier, stored in FOLDER/prior.npz."""

    like: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    scores_column: str = ""
    positive_value: str = ""
    earlier: bool = False


class TeamSettings(Section):
    """For several people. ``overlap``: share of the questions that somebody else has answered, to measure the agreement
    between people. ``known_share``: share of the questions about items that an owner chose to label, to score each person;
    nothing is learnt from them."""

    overlap: float = Field(default=0.0, ge=0.0, le=0.5)
    known_share: float = Field(default=0.0, ge=0.0, le=0.5)


class ServerSettings(Section):
    """Where the log is stored. An empty ``database`` means FOLDER/tellmore.sqlite; the address may contain a password.
    ``process_from``: with so many people at work, learning and choosing move to a separate process."""

    database: str = ""
    lease_s: float = Field(default=120.0, gt=0, le=86_400)
    process_from: int = Field(default=2, ge=1)


class DataSettings(Section):
    """Where the items came from, and what the matrix contains. ``version`` made the project; 0.1.0 did not write it. ``pool``
    is ``file``, or ``dask`` if the embeddings are on Dask workers (``--dask`` names them). ``columns`` are the names of the
    dimensions, if the items came from a DataFrame."""

    version: str = Field(default=__version__, pattern=r"^\d+\.\d+\.\d+")
    items: str = ""
    embeddings: str = ""
    normalised: bool = False
    pool: Literal["file", "dask"] = "file"
    n: int = Field(default=0, ge=0)
    d: int = Field(default=0, ge=0)
    sha256: str = ""
    columns: tuple[str, ...] = ()


class Settings(Section):
    """All sections of ``tellmore.toml``.

    >>> Settings().learning.check_share
    0.1
    """

    project: ProjectSettings = ProjectSettings()
    learning: LearningSettings = LearningSettings()
    start: StartSettings = StartSettings()
    team: TeamSettings = TeamSettings()
    server: ServerSettings = ServerSettings()
    data: DataSettings = DataSettings()

    @property
    def examples(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Examples like and unlike what is looked for; version 0.1 called them seeds."""
        return (*self.learning.seeds_positive, *self.start.like), (*self.learning.seeds_negative, *self.start.unlike)

    @property
    def classic(self) -> bool:
        """Whether the project was made by version 0.1 and learns as in that version."""
        return self.data.version.startswith("0.1.")

    def redacted(self) -> dict[str, Any]:
        """The settings as plain values that may be shown or exported, without user, password and query of the database."""
        values: dict[str, Any] = self.model_dump(mode="json")
        values["server"]["database"] = redacted_database(self.server.database)
        return values

    def check_change(self, n_items: int) -> None:
        """Raise SettingError if people cannot be asked about ``n_items`` with these new settings."""
        positive, negative = self.project.positive.strip(), self.project.negative.strip()
        if positive.casefold() == negative.casefold():
            raise SettingError(f"the words for positive and negative are both {positive!r}; they must differ")
        self.learning.check_questions(n_items)

    def changed(self, **sections: dict[str, Any]) -> Settings:
        """A checked copy with some keys of some sections replaced: ``changed(learning={"seed": 1})``."""
        values = self.model_dump()
        for section, keys in sections.items():
            values.setdefault(section, {}).update(keys)
        return parse_settings(values, source="settings")


def words_for(attribute: str) -> dict[str, str]:
    """The words that people read, for a project that teaches ``attribute``. They can be changed in the app and tellmore.toml."""
    negative = "negative" if attribute == "positive" else f"not {attribute}"
    instruction = f"Decide for yourself what is {attribute}; there is no right answer to look up."
    return {"attribute": attribute, "positive": attribute, "negative": negative, "instruction": instruction}


def words_of(settings: Settings) -> Words:
    """The words for questions and answers."""
    words = settings.project
    return Words(in_degrees(words.attribute), words.positive, words.negative)


def in_degrees(attribute: str) -> str:
    """An attribute as it is used after "most" and "least"; a phrase that is not an adjective needs "clearly".

    >>> in_degrees("pleasant"), in_degrees("a flower"), in_degrees("about sports")
    ('pleasant', 'clearly a flower', 'clearly about sports')
    """
    no_adjective = re.match(r"(an?|the|about|of|in|on|from|for|like|to|with)\s", attribute, re.IGNORECASE)
    return f"clearly {attribute}" if no_adjective else attribute


def redacted_database(database: str) -> str:
    """``database`` without user, password and query.

    >>> redacted_database("postgresql://me:secret@db.example/answers?sslkey=x")
    'postgresql://***@db.example/answers'
    """
    without_query = database.split("?", 1)[0]
    return re.sub(r"//[^/]*@", "//***@", without_query)


def read_settings(path: Path) -> Settings:
    """Settings of the TOML file at ``path``; SettingError names key and line."""
    settings = read_section(Settings, path, advice="make a project with: tellmore init FOLDER")
    if "version" in settings.data.model_fields_set:
        return settings
    return settings.model_copy(update={"data": settings.data.model_copy(update={"version": FIRST_VERSION})})


def parse_settings(values: dict[str, Any], *, source: str) -> Settings:
    """Check plain ``values``; SettingError names ``source`` and key."""
    return check_section(Settings, values, source)
