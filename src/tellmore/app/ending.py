"""When to stop asking: the stopping rule says so, or the pool has nothing more to ask about."""

from __future__ import annotations

from tellmore.app.desk import Desk
from tellmore.app.planner import View
from tellmore.store.events import end_event
from tellmore.store.repository import Event

SHOWN_OFTEN = 3
"""Items of a small pool are not shown more often than this on average, whatever is still unknown."""


def end_due(desk: Desk, view: View, n: int, *, up_to_date: bool) -> Event | None:
    """The event that ends the asking, if it is time for it and the log does not have it yet.

    ``view`` counts where it is ``up_to_date``; ``n`` is the size of the pool. If the owner goes on after an end, only a pool
    with every item labelled ends again.
    """
    if desk.end is not None and (not desk.going_on or desk.end.why == "labelled"):
        return None
    if up_to_date and view.labelled:
        return end_event(None, "labelled", view.stop.reason)
    if desk.end is not None or desk.going_on:
        return None
    if up_to_date and view.stop:
        return end_event(None, "settled", view.stop.reason)
    if desk.shown >= SHOWN_OFTEN * n:
        return end_event(None, "shown", f"the items were shown {SHOWN_OFTEN} times on average")
    return None
