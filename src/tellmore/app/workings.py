"""The parts of a session that are made again when the pool changes: the log as read, the pool, and the learning thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from tellmore.app.desk import Desk
from tellmore.app.memory import MemoryKeeper
from tellmore.app.planner import Planner
from tellmore.app.ratetable import RateKeeper
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
    foreign: Callable[[Fold], bool],
    *,
    lock: threading.Condition,
    clock: Callable[[], float],
    learnt: Callable[[], object],
    learn_now: bool = False,
) -> Workings:
    """All parts, made from the log. ``foreign`` is the chore that reads what others write to the log. ``learnt`` is called when
    every answer is learnt. With ``learn_now``, all answers so far are learnt before this returns."""
    desk = Desk(toml, repository.since(0))
    fold, keeper = Fold(pool, desk.initial, beforehand=beforehand), SnapshotKeeper(repository, pool)
    fold.ask_by(desk.settings)
    keeper.restore(fold, desk.counting())
    if learn_now:
        fold.catch_up(desk.counting())
    rates = RateKeeper(desk, lock)
    memory = MemoryKeeper().give_back_if_due
    chores = (rates.refit_if_due, keeper.save_if_due, rates.measure_if_due, foreign, memory)
    planner = Planner(fold, desk, lock, clock=clock, chores=chores, backlog=keeper.save_if_due, learnt=learnt)
    return Workings(pool, toml, beforehand, desk, rates, planner)
