"""Checks values that people write by hand, in TOML or JSON; every error names the key and the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from tellmore.errors import MissingExtraError, SettingError

try:
    import tomlkit
    from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
except ImportError as error:
    raise MissingExtraError(error.name or "pydantic", "app") from error


__all__ = [
    "AfterValidator",
    "Field",
    "Section",
    "check_section",
    "complaint",
    "model_validator",
    "read_section",
    "toml_text",
]
# Everything from pydantic is imported here, so that there is one error if it is missing, which names the extra.


class Section(BaseModel):
    """Checked, frozen values; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, allow_inf_nan=False)


SomeSection = TypeVar("SomeSection", bound=Section)


def read_section(model: type[SomeSection], path: Path, *, advice: str) -> SomeSection:
    """The TOML file at ``path`` as a checked ``model``; ``advice`` is what to do if there is no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SettingError(f"{path}: no such file; {advice}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{path}: not valid TOML: {error}") from None
    return check_section(model, values, str(path), text)


def check_section(model: type[SomeSection], values: Any, source: str, text: str = "") -> SomeSection:
    """``values`` as a checked ``model``, or a SettingError that names ``source``, key and, given ``text``, the line."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise SettingError(_first_fault(model, error, source, text)) from None


def toml_text(section: Section) -> str:
    """``section`` as TOML that reads back to the same values; keys without a value are left out."""
    return tomlkit.dumps(_for_editing(section.model_dump(mode="json", exclude_none=True)))


def _for_editing(value: Any) -> Any:
    """Plain values, with texts of several lines written on several lines, because people edit these files."""
    if isinstance(value, dict):
        return {key: _for_editing(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_for_editing(each) for each in value]
    if isinstance(value, str) and "\n" in value and "\r" not in value:  # TOML reads \r\n as \n
        return tomlkit.string(value, multiline=True)
    return value


def _first_fault(model: type[Section], error: ValidationError, source: str, text: str) -> str:
    fault = error.errors(include_url=False)[0]
    where = [str(part) for part in fault["loc"]]
    line = _line_of(text, where)
    place = f"{source}, line {line}" if line else source
    key = ".".join(where)
    if fault["type"] == "extra_forbidden":
        allowed = _allowed_keys(model, where)
        return f"{place}: unknown key {key}; {'allowed are ' + ', '.join(allowed) if allowed else 'remove it'}"
    if fault["type"] == "missing":
        return f"{place}: the key {key} is missing; write it"
    given = "" if fault["type"] == "value_error" or _secret(where) else f", not {fault.get('input')!r}"
    return f"{place}: {key + ': ' if key else ''}{complaint(fault)}{given}"


def complaint(fault: Mapping[str, Any]) -> str:
    """What is wrong with one value, as the continuation of its name."""
    if fault.get("type") == "too_short" and fault.get("ctx", {}).get("actual_length") == 0:
        return "choose at least one"
    words = str(fault["msg"]).removeprefix("Value error, ").replace(" after validation", "")
    return words if words.startswith("JSON") else words[:1].lower() + words[1:]


def _secret(where: list[str]) -> bool:
    """Whether the value may contain a password, which no message may repeat."""
    return where[:1] == ["server"] and where[-1:] == ["database"]


def _allowed_keys(model: type[BaseModel], where: list[str]) -> list[str]:
    for part in where[:-1]:
        inner = model.model_fields[part].annotation if part in model.model_fields else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return list(model.model_fields)


def _line_of(text: str, where: list[str]) -> int | None:
    """The line, from 1, of the key ``where`` in TOML ``text``, or else of the table that contains it.

    The n-th element of an array of tables, [[name]], is found by counting its headers.
    """
    table: list[str] = []
    seen: dict[str, int] = {}
    nearest: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]", line)
        key = re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line)
        if header:
            name = header[2]
            table = _key_parts(name)
            if header[1] == "[[":
                seen[name] = seen.get(name, -1) + 1
                table = [*table, str(seen[name])]
            here = table
        elif key:
            here = [*table, *_key_parts(key[1])]
        else:
            continue
        depth = len(here) if here == where[: len(here)] else 0
        if depth and (nearest is None or depth > nearest[0]):
            nearest = depth, number
    return nearest[1] if nearest else None


def _key_parts(dotted: str) -> list[str]:
    return [part.strip("\"' ") for part in dotted.split(".")]
