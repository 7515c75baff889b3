"""The race: the learner compared with other methods, on the same pools, people, seeds and seconds."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.errors import SettingError
from tellmore.figures.bench import Bench, Source, raced
from tellmore.figures.paired import each_of, each_text
from tellmore.figures.tables import rows_of
from tellmore.rows import Row, Rows, distinct, where
from tellmore.sim.config import Config
from tellmore.sim.contenders import OWN, PEERS, config_of, is_peer
from tellmore.sim.distribute import run_trials
from tellmore.sim.pools import absolute
from tellmore.sim.rows import Trial
from tellmore.sim.seconds import MARKS_S, MEASURES, mean_and_se, quality_at
from tellmore.types import Array

CONTENDERS = (*OWN, *PEERS)
RARE = 0.2
"""If at most this share of the counted items is positive, F1 and average precision say more than accuracy."""
EVERYWHERE = ("words", "words,15%", "words,5%", "digits=8", "digits<5", "breast-cancer")
QUICK = ("words,5%", "breast-cancer")
WITH_DATA = ("sentiment", "valence", "images")
"""Parts of the data folder."""


@dataclass(frozen=True)
class Race:
    """``contenders`` on ``sources``, with trials of this many ``seconds`` of human time."""

    sources: tuple[Source, ...]
    contenders: tuple[str, ...]
    seconds: float

    def __post_init__(self) -> None:
        if len(self.contenders) < 2:
            raise SettingError("a race needs at least 2 contenders")
        if self.seconds < MARKS_S[1]:
            raise SettingError(f"a race lasts at least {MARKS_S[1]} seconds, its first mark, not {self.seconds:g}")

    @property
    def marks(self) -> list[int]:
        """Seconds at which all contenders are measured."""
        return [mark for mark in MARKS_S[1:] if mark <= self.seconds]

    def tasks(self, seeds: Sequence[int]) -> dict[tuple[str, str, int], tuple[Config, int]]:
        """The trials by pool, contender and seed; seed after seed, so that an interrupted race is complete for the first ones."""
        found = {}
        for seed in seeds:
            for source in self.sources:
                base = Config(pool=source.pool, matrix=source.matrix, answers=None, seconds=self.seconds)
                for name in self.contenders:
                    config = config_of(name, base, seed)
                    if config is not None:
                        found[source.title, name, seed] = (config, seed)
        return found

    def rows(self, bench: Bench) -> list[Row]:
        """Run the trials that are not stored, and compare all."""
        seeds = bench.plan.seed_list
        tasks = self.tasks(seeds)
        if bench.expect is not None:
            bench.expect(len(set(tasks.values())))
        done = run_trials(list(tasks.values()), workforce=bench.workforce, ledger=bench.ledger, report=bench.report)
        found: list[Row] = []
        for source in self.sources:
            own = {
                name: [done[tasks[source.title, name, seed]] for seed in seeds]
                for name in self.contenders
                if (source.title, name, seeds[0]) in tasks
            }
            found += compared(own, self.marks, pool=source.title, rare=is_rare(bench, source))
        return found


def sources_of(names: Sequence[str], bench: Bench) -> tuple[Source, ...]:
    """The pools named, or all available ones if none is named."""
    if names or bench.plan.quick:
        return _distinct(_named(name, bench) for name in names or QUICK)
    parts = {part: bench.source(part) for part in WITH_DATA if bench.has(part)}
    with_data = (raced(part, source) for part, source in parts.items() if source.pool not in EVERYWHERE)
    return (*(_named(name, bench) for name in EVERYWHERE), *with_data)


def _named(name: str, bench: Bench) -> Source:
    return Source(bench.truth(Source(name, absolute(name))).pool.name, absolute(name))


def _distinct(sources: Iterable[Source]) -> tuple[Source, ...]:
    found = tuple(dict.fromkeys(sources))
    titles = [source.title for source in found]
    twice = next((title for title in titles if titles.count(title) > 1), None)
    if twice is not None:
        raise SettingError(f"two pools have the name {twice!r}; rename one of the files")
    return found


def is_rare(bench: Bench, source: Source) -> bool:
    """Whether few of the counted items are positive."""
    truth = bench.truth(source)
    return float(truth.labels[truth.counted].mean()) <= RARE


def held(trial: Trial, measure: str, marks_s: Sequence[int]) -> Array:
    """A measure at the marks [m]; a contender with nothing left to ask keeps its last value."""
    values = quality_at(trial, measure, np.array(marks_s, dtype=float))
    last = getattr(trial.rows[-1] if trial.rows else trial.start, measure)
    return np.where(np.isnan(values), last, values)


def compared(trials: dict[str, list[Trial]], marks_s: Sequence[int], *, pool: str, rare: bool) -> list[Row]:
    """A row for every contender, mark and measure: mean and error over the seeds, and the paired differences from the best of
    all others and from the best peer. The best is the one with the highest mean, in hindsight."""
    rows = []
    for measure in MEASURES:
        values = {name: np.array([held(trial, measure, marks_s) for trial in own]) for name, own in trials.items()}
        for column, mark in enumerate(marks_s):
            at = {name: found[:, column] for name, found in values.items()}
            for name, own in at.items():
                mean, se = mean_and_se(own)
                key = {"pool": pool, "rare": rare, "contender": name, "peer": is_peer(name), "mark_s": mark}
                found = {"seeds": len(own), "mean": mean, "se": se, **_against(name, at), "each": each_text(own)}
                rows.append({**key, "measure": measure, **found})
    return rows


def _against(name: str, at: dict[str, Array]) -> dict[str, Any]:
    others = [other for other in at if other != name]
    found: dict[str, Any] = {}
    for what, among in (("other", others), ("peer", [other for other in others if is_peer(other)])):
        best = max(among, key=lambda other: float(at[other].mean()), default=None)
        gap = (None, None) if best is None else mean_and_se(at[name] - at[best])
        found |= {f"best_{what}": best, f"to_best_{what}": gap[0], f"to_best_{what}_se": gap[1]}
    return found


def gap_of(row: Row) -> tuple[float, float]:
    """The difference from the best peer, or from the best of the others if no peer takes part, and its error."""
    rival = "other" if row["best_peer"] is None else "peer"
    return row[f"to_best_{rival}"], row[f"to_best_{rival}_se"] or 0.0


def earlier_rows(path: Path) -> Rows:
    """The rows of a race.csv; SettingError for any other file."""
    needed = {"pool", "mark_s", "measure", "peer", "contender", "mean", "se"}
    try:
        rows = rows_of(path)
    except (OSError, ValueError, TypeError, csv.Error):  # missing, not text, or not a table
        rows = []
    if not rows or not needed <= set(rows[0]):
        raise SettingError(f"there are no rows of a race in {path}; --peers takes the race.csv of an earlier race")
    return rows


def with_earlier_peers(rows: Rows, earlier: Rows) -> list[Row]:
    """The rows of a race compared with the peers of an earlier one, on pools and at marks that both have.

    Differences are paired over seeds if both races have the same ones. Otherwise, and if the earlier table does not have the
    values of single seeds, differences from its peers have the errors of both.
    """
    peers = [row for row in earlier if row["peer"]]
    found: list[Row] = []
    for place in dict.fromkeys(_place(row) for row in rows):
        there = [row for row in peers if _place(row) == place]
        here = [row for row in rows if _place(row) == place and not row["peer"]]
        if not there:
            continue
        at = {row["contender"]: each_of(row, "each") for row in (*here, *there)}
        if len({values.size for values in at.values()}) == 1 and all(values.size for values in at.values()):
            found += [{**row, **_against(row["contender"], at)} for row in (*here, *there)]
        else:
            found += [{**row, **_unpaired(row, [*here, *there], there)} for row in here] + there
    if not found:
        raise SettingError("the earlier race has no pool and no mark in common with this one")
    return found


def _place(row: Row) -> tuple[str, int, str]:
    return str(row["pool"]), int(row["mark_s"]), str(row["measure"])


def _unpaired(row: Row, everybody: Rows, peers: Rows) -> dict[str, Any]:
    found: dict[str, Any] = {}
    others = [other for other in everybody if other["contender"] != row["contender"]]
    for what, among in (("other", others), ("peer", peers)):
        best = max(among, key=lambda other: float(other["mean"]))
        error = float(np.hypot(row["se"] or 0.0, best["se"] or 0.0))
        gap = {f"to_best_{what}": row["mean"] - best["mean"], f"to_best_{what}_se": error}
        found |= {f"best_{what}": best["contender"], **gap}
    return found


def verdict(row: Row) -> int:
    """Whether a contender is above (1) or below (-1) its best rival by more than a standard error; 0: neither."""
    gap, se = gap_of(row)
    return 0 if abs(gap) <= se else int(np.sign(gap))


def rival(rows: Rows) -> str:
    """What the learner's contenders are compared with, in words."""
    return "peer" if any(row["peer"] for row in rows) else "other contender"


def main_measure(rows: Rows) -> list[Row]:
    """The rows of the main measure of each pool: F1 if positives are rare, else accuracy."""
    return [row for row in rows if row["measure"] == ("f1" if row["rare"] else "accuracy")]


def sentence(rows: Rows) -> str:
    """How often each contender was ahead and behind."""
    own = [row for row in main_measure(rows) if not row["peer"]]
    said = []
    for name in distinct(own, "contender"):
        found = [verdict(row) for row in where(own, contender=name)]
        said.append(f"{name} is ahead in {found.count(1)}, behind in {found.count(-1)} of {len(found)}")
    pools, seeds = len(distinct(rows, "pool")), rows[0]["seeds"]
    return (
        f"{seeds} seeds on {pools} pools; accuracy, or F1 where positives are rare, at {len(distinct(rows, 'mark_s'))} marks of "
        f"human time, against whichever {rival(rows)} is best there in hindsight, by more than a standard error of the "
        f"difference: {'; '.join(said)}."
    )
