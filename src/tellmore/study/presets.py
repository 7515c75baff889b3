"""Ready-made studies: study files next to this module.

``paper`` is the study of Appendix C; ``grid`` also asks grids, and its file contains only the differences.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from tellmore.data.checked import check_section
from tellmore.errors import SettingError
from tellmore.study.settings import Study

PRESETS = ("paper", "grid")


def preset(name: str, code: Callable[[], str], *, seed: int = 0) -> Study:
    """The preset ``name``; ``code`` returns a new completion code at each call."""
    if name not in PRESETS:
        raise SettingError(f"unknown preset {name!r}; the presets are {', '.join(PRESETS)}")
    values = {key: value for own in dict.fromkeys(("paper", name)) for key, value in _read(own).items()}
    codes = {end: code() for end in ("complete", "no_consent", "failed_comprehension")}
    values |= {"design": {**values.get("design", {}), "seed": seed}, "completion": {**values["completion"], **codes}}
    return check_section(Study, values, f"the preset {name}")


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("tellmore.study").joinpath(f"{name}.toml").read_text(encoding="utf-8"))
