"""The table of bits per second on the dashboard, measured in the background while somebody looks at it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Condition

from tellmore.app.engine import Engine
from tellmore.policy.rates import Rate
from tellmore.store.fold import AnswerEffect
from tellmore.store.ledger import Ledger

WATCHED_S = 60.0
MEASURE_EVERY = 10
REFIT_EVERY = 10


class RateKeeper:
    """``table`` was measured when ``answers`` answers were learnt (-1: never), with the times known at event ``seq``.

    ``watch`` keeps it current for a while. ``changed`` is the lock for ``ledger`` and the table, and signals a new one.
    """

    def __init__(self, ledger: Ledger, changed: Condition) -> None:
        self._ledger, self._changed = ledger, changed
        self._watched_until = 0.0
        self.table: tuple[Rate, ...] = ()
        self.answers = -1
        self.seq = 0
        self._fitted_at = 0

    def watch(self) -> None:
        """To be called when somebody looks at the dashboard."""
        self._watched_until = time.monotonic() + WATCHED_S

    def due(self, effects: Sequence[AnswerEffect]) -> bool:
        """Whether enough answers were learnt or undone since the last measurement."""
        return self.answers < 0 or not self.answers <= len(effects) < self.answers + MEASURE_EVERY

    def current(self, effects: Sequence[AnswerEffect]) -> bool:
        """Whether the seconds that "auto" uses include nearly all answers."""
        return abs(len(effects) - self._fitted_at) < REFIT_EVERY

    def refit_if_due(self, engine: Engine) -> bool:
        """Chore: give "auto" the seconds that these people take for each kind and size."""
        if self.current(engine.effects):
            return False
        engine.refit()
        self._fitted_at = len(engine.effects)
        return True

    def measure_if_due(self, engine: Engine) -> bool:
        """Chore: measure, if somebody looks and it is due."""
        if time.monotonic() > self._watched_until or not self.due(engine.effects):
            return False
        with self._changed:
            seq, sizes = self._ledger.seq, self._ledger.settings.learning.sizes
        table = engine.rates(sizes)
        with self._changed:
            self.table, self.answers, self.seq = table, len(engine.effects), seq
            self._changed.notify_all()
        return True
