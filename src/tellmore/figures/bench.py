"""How exhibits are measured: the available pools, how much to run, and a cache of results."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tellmore.errors import SettingError
from tellmore.rows import Row, Rows
from tellmore.sim.config import Config
from tellmore.sim.distribute import Report, Workforce, run_trials
from tellmore.sim.rows import Trial
from tellmore.sim.trials import Ledger, pool_fingerprint, program_fingerprint, read_json, write_json
from tellmore.sim.truth import Truth, load_truth

DATA_VARIABLE = "TELLMORE_DATA"


@dataclass(frozen=True)
class Source:
    """A pool for a part of the paper. ``stands_for`` names the paper's data if this pool replaces it."""

    title: str
    pool: str
    matrix: str = "X"
    stands_for: str | None = None

    @property
    def caption(self) -> str:
        """The title, with the data that it replaces."""
        return self.title if self.stands_for is None else f"{self.title} (stands in for {self.stands_for})"


LARGEST = {"valence": 2500}
"""Parts whose pool is so large that races use only this many of its items."""


def raced(part: str, source: Source) -> Source:
    """The source on which a part is raced: all of it, or always the same sample."""
    if part not in LARGEST:
        return source
    return replace(source, title=f"{source.title}, {LARGEST[part]}", pool=f"{source.pool},{LARGEST[part]}")


# Part -> (file in the data folder, title, matrix, what the paper used instead)
_PARTS: dict[str, tuple[str, str, str, str | None]] = {
    "sentiment": ("words_socialsent2000_w2v300.npz", "SocialSent 2000s, word2vec", "X", None),
    "valence": ("words_warriner_valence_w2v300.npz", "Warriner valence, word2vec", "X", "NRC"),
    "ratings": ("words_vader_w2v300.npz", "VADER, word2vec", "X", "NRC"),
    "images": ("images_oasis_valence_efflite2.npz", "OASIS valence, EfficientNet PCA-128", "X_pca128", "AVA"),
    "faces": ("images_utkface2000_facenet512.npz", "UTKFace age, FaceNet", "X", None),
}
_STANDS_FOR_WORDS = {"sentiment": "SocialSent", "valence": "NRC", "ratings": "NRC"}


@dataclass(frozen=True)
class Plan:
    """How much to run: ``seeds`` trials per setting of ``answers`` answers; trials stop at ``stop_at`` accuracy."""

    seeds: int
    answers: int
    stop_at: float | None
    quick: bool = False

    @property
    def seed_list(self) -> list[int]:
        """The seeds 0, 1, …"""
        return list(range(self.seeds))


QUICK = Plan(seeds=2, answers=25, stop_at=None, quick=True)
FULL = Plan(seeds=20, answers=600, stop_at=0.80)


@dataclass
class Bench:
    """Runs trials and stores rows in ``folder``; nothing is measured twice.

    stored: whether to run no trial and use only stored ones, of as many seeds as there are.
    earlier: a folder with the tables of an earlier run to continue; see `tellmore.figures.joined`.
    modes: the modes of the trials to use; none: all. Those of other modes are left out.
    """

    plan: Plan
    folder: Path
    data: Path | None = None
    workforce: Workforce = field(default_factory=Workforce)
    report: Report | None = None
    expect: Callable[[int], None] | None = None
    stored: bool = False
    earlier: Path | None = None
    modes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.folder / "trials")

    def source(self, part: str) -> Source:
        """The pool for a part of the paper; the bundled words are used if the data folder lacks a words pool."""
        file, title, matrix, stands_for = _PARTS[part]
        path = None if self.data is None else self.data / file
        if path is not None and path.exists():
            return Source(title, str(path), matrix, stands_for)
        if part in _STANDS_FOR_WORDS:
            return Source("VADER words (bundled)", "words", "X", _STANDS_FOR_WORDS[part])
        raise SettingError(
            f"{file} is not available; put it into a folder and name the folder with --data or {DATA_VARIABLE}"
        )

    def has(self, part: str) -> bool:
        """Whether there is a pool for this part."""
        return part in _STANDS_FOR_WORDS or (self.data is not None and (self.data / _PARTS[part][0]).exists())

    def truth(self, source: Source) -> Truth:
        """The scored pool of a source."""
        return load_truth(source.pool, source.matrix)

    def config(self, source: Source, **setting: Any) -> Config:
        """A trial on a source, with the length of the plan unless ``setting`` has another."""
        base = Config(pool=source.pool, matrix=source.matrix, answers=self.plan.answers, stop_at=self.plan.stop_at)
        return replace(base, **setting)

    def trials(self, configs: Sequence[Config], seeds: Sequence[int] | None = None) -> dict[Config, list[Trial]]:
        """All seeds of each config, run or read from the store; only stored ones if nothing is to be run."""
        chosen = self.plan.seed_list if seeds is None else list(seeds)
        wanted = [config for config in configs if not self.modes or config.mode in self.modes]
        found: dict[Config, list[Trial]] = {config: [] for config in configs}
        if self.stored:
            known = {config: [self.ledger.load(config, seed) for seed in chosen] for config in wanted}
            return found | {config: [trial for trial in own if trial is not None] for config, own in known.items()}
        tasks = [(config, seed) for seed in chosen for config in wanted]
        if self.expect is not None:
            self.expect(len(set(tasks)))
        done = run_trials(tasks, workforce=self.workforce, ledger=self.ledger, report=self.report)
        return found | {config: [done[config, seed] for seed in chosen] for config in wanted}

    def remembered(self, name: str, sources: Sequence[Source], measure: Callable[[], Rows]) -> Rows:
        """The rows of ``measure``, read from disk if name, plan, pools and program are the same."""
        pools = [pool_fingerprint(source.pool, source.matrix) for source in sources]
        key = json.dumps([name, repr(self.plan), pools, program_fingerprint()])
        path = self.folder / "rows" / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
        stored = read_json(path)
        if stored is not None:
            rows: list[Row] = stored["rows"]
            return rows
        measured = list(measure())
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, {"rows": measured})
        return measured


def once(name: str, *parts: str) -> Callable[[Callable[[Bench], Rows]], Callable[[Bench], Rows]]:
    """A decorator for functions that measure on the pools of these parts; the rows are stored under ``name``."""

    def remembering(measure: Callable[[Bench], Rows]) -> Callable[[Bench], Rows]:
        return lambda bench: bench.remembered(name, [bench.source(part) for part in parts], lambda: measure(bench))

    return remembering


def data_folder(given: Path | None) -> Path | None:
    """The folder of further pools: the one given, else that of the environment variable, else None."""
    if given is None:
        named = os.environ.get(DATA_VARIABLE)
        given = Path(named) if named else None
    if given is not None and not given.is_dir():
        raise SettingError(f"there is no data folder {given}; name an existing one with --data or {DATA_VARIABLE}")
    return given
