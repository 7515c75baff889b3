"""The parts of a session that are made again when the pool changes: the log as read, the pool, and the learning thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tellmore.app.desk import Desk
from tellmore.app.engine import Engine, LocalEngine
from tellmore.app.engine_process import EngineOpener, Opening
from tellmore.app.memory import MemoryKeeper
from tellmore.app.planner import Planner
from tellmore.app.ratetable import RateKeeper
from tellmore.cluster.pool import DaskPool
from tellmore.data.settings import Settings
from tellmore.pool import Pool
from tellmore.store.beforehand import Beforehand
from tellmore.store.fold import Fold
from tellmore.store.repository import Repository
from tellmore.store.snapshots import SnapshotKeeper


@dataclass(frozen=True)
class Workings:
    """``toml`` has the settings of the project's file. The planner is not started."""

    pool: Pool
    toml: Settings
    beforehand: Beforehand
    desk: Desk
    rates: RateKeeper
    planner: Planner


def workings(
    repository: Repository,
    pool: Pool,
    toml: Settings,
    beforehand: Beforehand,
    foreign: Callable[[Engine], bool],
    *,
    lock: threading.Condition,
    clock: Callable[[], float],
    learnt: Callable[[], object],
    learn_now: bool = False,
    folder: Path | None = None,
) -> Workings:
    """All parts, made from the log. ``foreign`` is the chore that reads what others write to the log. ``learnt`` is called when
    every answer is learnt. With ``learn_now``, all answers so far are learnt before this returns.
    ``folder``: where another process finds the items."""
    desk = Desk(toml, repository.since(0))
    fold, keeper = Fold(pool, desk.initial, beforehand=beforehand), SnapshotKeeper(repository, pool)
    keeper.restore(fold, desk.counting())
    if learn_now:
        fold.catch_up(desk.counting())
    local = LocalEngine(fold, desk.counting(), desk.settings)
    rates = RateKeeper(desk, lock)
    memory = MemoryKeeper().give_back_if_due

    def restore(left: LocalEngine) -> None:
        with lock:
            pairs = desk.counting()
        left.restore(keeper.restore, pairs)

    planner = Planner(
        local,
        desk,
        lock,
        clock=clock,
        chores=(rates.refit_if_due, keeper.save_if_due, rates.measure_if_due, foreign, memory),
        backlog=keeper.save_if_due,
        learnt=learnt,
        opener=opener(folder, pool, toml),
        restore=restore,
    )
    return Workings(pool, toml, beforehand, desk, rates, planner)


def opener(folder: Path | None, pool: Pool, toml: Settings) -> EngineOpener | None:
    """What opens another process for many people; none where Dask's workers do what takes long, or no folder has the items."""
    if folder is None or isinstance(pool, DaskPool):
        return None
    return EngineOpener(Opening(folder, pool.fingerprint), toml.server.process_from)
