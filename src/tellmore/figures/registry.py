"""All exhibits by name, in the order of the paper."""

from __future__ import annotations

from collections.abc import Sequence

from tellmore.errors import SettingError
from tellmore.figures import (
    baselines,
    black_box,
    claims,
    coverage,
    grid,
    gumbel,
    information,
    learning,
    participants,
    particles,
    scales,
    score_distance,
    stopping,
    table1,
)
from tellmore.figures.exhibit import Exhibit

_ORDER = (
    *("fig1", "table1", "fig3", "fig4", "fig5", "fig8", "fig9", "fig10", "fig11", "fig12", "fig13", "fig14"),
    *("fig15", "fig16", "fig17", "table2", "table3", "table4", "table5", "coverage"),
    *("grid", "theorem1", "bbvi", "scales", "baselines", "particles", "claims"),
)
_MODULES = (
    score_distance,
    table1,
    learning,
    participants,
    coverage,
    information,
    gumbel,
    stopping,
    black_box,
    scales,
    baselines,
    particles,
    grid,
    claims,
)
_BY_NAME = {exhibit.name: exhibit for module in _MODULES for exhibit in module.EXHIBITS}
EXHIBITS: dict[str, Exhibit] = {name: _BY_NAME[name] for name in _ORDER}


def chosen(names: Sequence[str]) -> list[Exhibit]:
    """The exhibits of these names; "all" stands for every exhibit. SettingError lists the known names."""
    unknown = [name for name in names if name != "all" and name not in EXHIBITS]
    if unknown:
        raise SettingError(f"unknown name {unknown[0]!r}; the known ones are all, {', '.join(EXHIBITS)}")
    if not names or "all" in names:
        return list(EXHIBITS.values())
    return [EXHIBITS[name] for name in dict.fromkeys(names)]
