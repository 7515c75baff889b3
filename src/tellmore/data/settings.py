"""The settings of a project: one TOML file, checked on reading, with the key and the line at fault in every error."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from tellmore.errors import MissingExtraError, SettingError
from tellmore.types import KINDS, Kind

try:
    from pydantic import BaseModel, ConfigDict, Field, ValidationError
except ImportError as error:
    raise MissingExtraError("pydantic", "app") from error

SETTINGS_FILE = "tellmore.toml"
QuestionChoice = Literal["auto", "label", "select", "select_high", "select_low", "rank"]
PriorChoice = Literal["pool", "isotropic", "earlier"]
BoundChoice = Literal["centred", "paper"]
SetSize = Annotated[int, Field(ge=2, le=10)]


class Section(BaseModel):
    """Checked, frozen values; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, allow_inf_nan=False)


class ProjectSettings(Section):
    """What is taught, in the words that people read."""

    name: str = Field(default="project", min_length=1, max_length=200)
    attribute: str = Field(default="positive", min_length=1, max_length=200)
    positive: str = Field(default="positive", min_length=1, max_length=200)
    negative: str = Field(default="negative", min_length=1, max_length=200)
    instruction: str = Field(default="", max_length=5000)


class LearningSettings(Section):
    """How it is learnt. ``w`` and ``K`` unset mean the learner's own; ``prior = "earlier"`` reads FOLDER/prior.npz."""

    question: QuestionChoice = "auto"
    kinds: tuple[Kind, ...] = Field(default=KINDS, min_length=1)
    sizes: tuple[SetSize, ...] = Field(default=(2, 3, 4, 5, 6), min_length=1)
    set_size: int = Field(default=4, ge=2, le=10)
    target_accuracy: float = Field(default=0.9, gt=0.5, lt=1.0)
    check_share: float = Field(default=0.1, ge=0.0, le=0.9)
    ties: bool = False
    prior: PriorChoice = "pool"
    bound: BoundChoice = "centred"
    seed: int = Field(default=0, ge=0)
    w: float | None = Field(default=None, gt=0)
    K: float | None = Field(default=None, gt=0)
    seeds_positive: tuple[str, ...] = ()
    seeds_negative: tuple[str, ...] = ()


class ServerSettings(Section):
    """Where the log is kept. An empty ``database`` means FOLDER/tellmore.sqlite; it may hold a password."""

    database: str = ""
    lease_s: float = Field(default=120.0, gt=0)


class DataSettings(Section):
    """Where the items came from, and what the matrix holds."""

    items: str = ""
    embeddings: str = ""
    normalised: bool = False
    n: int = Field(default=0, ge=0)
    d: int = Field(default=0, ge=0)
    sha256: str = ""


class Settings(Section):
    """All sections of ``tellmore.toml``.

    >>> Settings().learning.check_share
    0.1
    """

    project: ProjectSettings = ProjectSettings()
    learning: LearningSettings = LearningSettings()
    server: ServerSettings = ServerSettings()
    data: DataSettings = DataSettings()

    def redacted(self) -> dict[str, Any]:
        """As plain values that may be shown or exported: user, password and query of the database are left out."""
        values: dict[str, Any] = self.model_dump(mode="json")
        values["server"]["database"] = redacted_database(self.server.database)
        return values

    def changed(self, **sections: dict[str, Any]) -> Settings:
        """A checked copy with some keys of some sections replaced: ``changed(learning={"seed": 1})``."""
        values = self.model_dump()
        for section, keys in sections.items():
            values.setdefault(section, {}).update(keys)
        return parse_settings(values, source="settings")


def redacted_database(database: str) -> str:
    """``database`` without user, password and query.

    >>> redacted_database("postgresql://me:secret@db.example/answers?sslkey=x")
    'postgresql://***@db.example/answers'
    """
    without_query = database.split("?", 1)[0]
    return re.sub(r"//[^/]*@", "//***@", without_query)


def read_settings(path: Path) -> Settings:
    """Settings of the TOML file at ``path``; SettingError names key and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SettingError(f"{path}: no such file; make a project with: tellmore init FOLDER") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{path}: not valid TOML: {error}") from None
    return parse_settings(values, source=str(path), text=text)


def parse_settings(values: dict[str, Any], *, source: str, text: str = "") -> Settings:
    """Check plain ``values``; ``text`` is the TOML they were read from, to name lines."""
    return check_section(Settings, values, source, text)


SomeSection = TypeVar("SomeSection", bound=Section)


def check_section(model: type[SomeSection], values: Any, source: str, text: str = "") -> SomeSection:
    """``values`` as a checked ``model``, or a SettingError that names ``source``, key and, given ``text``, the line."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise SettingError(_first_fault(model, error, source, text)) from None


def _first_fault(model: type[Section], error: ValidationError, source: str, text: str) -> str:
    fault = error.errors(include_url=False)[0]
    where = [str(part) for part in fault["loc"]]
    line = _line_of(text, where)
    place = f"{source}, line {line}" if line else source
    if fault["type"] == "extra_forbidden":
        return f"{place}: unknown key {'.'.join(where)}; allowed are {', '.join(_allowed_keys(model, where))}"
    complaint = fault["msg"][:1].lower() + fault["msg"][1:]
    return f"{place}: {'.'.join(where)}: {complaint}{_given(fault.get('input'), where)}"


def _given(value: Any, where: list[str]) -> str:
    """What was written, except where it may be a secret."""
    return "" if where[:1] == ["server"] and where[-1:] == ["database"] else f", not {value!r}"


def _allowed_keys(model: type[BaseModel], where: list[str]) -> list[str]:
    for part in where[:-1]:
        inner = model.model_fields[part].annotation
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return list(model.model_fields)


def _line_of(text: str, where: list[str]) -> int | None:
    """1-based line of the key ``where`` (section, key, ...) in TOML ``text``; else of its section."""
    section: list[str] = []
    found = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
        if header:
            section = _key_parts(header.group(1))
            if section == where[:1]:
                found = number
            continue
        key = re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line)
        if key and (section + _key_parts(key.group(1)))[:2] == where[:2]:
            return number
    return found


def _key_parts(dotted: str) -> list[str]:
    return [part.strip("\"' ") for part in dotted.split(".")]


def settings_toml(settings: Settings) -> str:
    """``settings`` as TOML text that ``read_settings`` reads back to the same settings; unset keys are left out."""
    blocks = []
    for section, keys in settings.model_dump(mode="json").items():
        lines = [f"{key} = {_toml_value(value)}" for key, value in keys.items() if value is not None]
        blocks.append("\n".join([f"[{section}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(each) for each in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
