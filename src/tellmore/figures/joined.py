"""A run that continues the table of an earlier one: each setting is taken from the run that has more of its seeds.

Settings are taken as a whole, never seed by seed, because the lasting crossing of their mean depends on all of their trials. The
two runs must use the same program; a trial that both have shows whether they do.
"""

from __future__ import annotations

from tellmore.errors import SettingError
from tellmore.figures.bench import Bench
from tellmore.figures.tables import rows_of
from tellmore.rows import Row, Rows

KEYS = ("part", "mode", "setting", "scale", "acquisition")
TRIALS = ", trials"
Setting = tuple[object, ...]


def earlier_rows(bench: Bench, name: str) -> Rows:
    """The rows of an exhibit in the earlier run, if there is one. SettingError if they are not by settings and seeds."""
    path = None if bench.earlier is None else bench.earlier / f"{name}.csv"
    if path is None or not path.exists():
        return []
    rows = rows_of(path)
    if rows and not {"setting", "seeds"} <= set(rows[0]):
        raise SettingError(f"{path} cannot be continued: its rows are not by settings and seeds; leave --earlier out")
    return rows


def setting_of(row: Row) -> Setting:
    """The setting of a row; the rows of trials have that of their setting."""
    return tuple(str(row.get(key, "")).removesuffix(TRIALS) if key == "part" else row.get(key) for key in KEYS)


def seeds_by_setting(rows: Rows) -> dict[Setting, int]:
    """The number of seeds of each setting."""
    found: dict[Setting, int] = {}
    for row in rows:
        found[setting_of(row)] = max(found.get(setting_of(row), 0), int(row["seeds"]))
    return found


def joined(fresh: Rows, earlier: Rows) -> list[Row]:
    """The rows of each setting from the table with more of its seeds; the new one if both have the same number.

    >>> old, new = ({"setting": "label", "seeds": n, "interactions": n} for n in (8, 4))
    >>> joined([new], [old]) == [old], joined([old], [new]) == [old]
    (True, True)
    """
    if not earlier:
        return list(fresh)
    new, old = seeds_by_setting(fresh), seeds_by_setting(earlier)
    kept = [row for row in fresh if new[setting_of(row)] >= old.get(setting_of(row), 0)]
    return kept + [row for row in earlier if old[setting_of(row)] > new.get(setting_of(row), 0)]
