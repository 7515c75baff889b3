"""A run continued from the table of an earlier one: a setting is taken from whichever of the two has more of its seeds.

Settings are taken whole, never seed by seed: from when on their mean lasts depends on all of their trials. The two runs have to
be of the same program; a trial that both have shows whether they are.
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
    """The rows of an exhibit in the earlier run; none without one. SettingError if they are not by settings and seeds."""
    path = None if bench.earlier is None else bench.earlier / f"{name}.csv"
    if path is None or not path.exists():
        return []
    rows = rows_of(path)
    if rows and not {"setting", "seeds"} <= set(rows[0]):
        raise SettingError(f"{path} cannot be continued: its rows are not by settings and seeds; leave --earlier out")
    return rows


def setting_of(row: Row) -> Setting:
    """What a row is about; the rows of trials are about the setting that they are of."""
    return tuple(str(row.get(key, "")).removesuffix(TRIALS) if key == "part" else row.get(key) for key in KEYS)


def seeds_by_setting(rows: Rows) -> dict[Setting, int]:
    """How many seeds each setting has."""
    found: dict[Setting, int] = {}
    for row in rows:
        found[setting_of(row)] = max(found.get(setting_of(row), 0), int(row["seeds"]))
    return found


def joined(fresh: Rows, earlier: Rows) -> list[Row]:
    """The rows of each setting from the table with more of its seeds, the fresh one where both have as many.

    >>> old, new = ({"setting": "label", "seeds": n, "interactions": n} for n in (8, 4))
    >>> joined([new], [old]) == [old], joined([old], [new]) == [old]
    (True, True)
    """
    if not earlier:
        return list(fresh)
    new, old = seeds_by_setting(fresh), seeds_by_setting(earlier)
    kept = [row for row in fresh if new[setting_of(row)] >= old.get(setting_of(row), 0)]
    return kept + [row for row in earlier if old[setting_of(row)] > new.get(setting_of(row), 0)]
