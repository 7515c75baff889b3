"""Ready-made studies: study files beside this module. ``paper`` is the study of Appendix C."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib.resources import files

from tellmore.data.checked import check_section
from tellmore.errors import SettingError
from tellmore.study.settings import Study

PRESETS = ("paper",)


def preset(name: str, code: Callable[[], str], *, seed: int = 0) -> Study:
    """The preset ``name``; ``code`` makes a fresh completion code at each call."""
    if name not in PRESETS:
        raise SettingError(f"unknown preset {name!r}; the presets are {', '.join(PRESETS)}")
    values = tomllib.loads(files("tellmore.study").joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    codes = {end: code() for end in ("complete", "no_consent", "failed_comprehension")}
    values |= {"design": {"seed": seed}, "completion": {**values["completion"], **codes}}
    return check_section(Study, values, f"the preset {name}")
