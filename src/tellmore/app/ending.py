"""When to stop asking: when the stopping rule is met, or the pool is exhausted."""

from __future__ import annotations

from tellmore.app.desk import Desk
from tellmore.app.view import View
from tellmore.store.events import end_event
from tellmore.store.repository import Event

SHOWN_OFTEN = 3
"""Items of a small pool are shown at most this often on average, even if more could be learnt."""


def end_due(desk: Desk, view: View, n: int, *, up_to_date: bool) -> Event | None:
    """The event that ends the questions, if it is due and not in the log yet.

    ``view`` is used only if it is ``up_to_date``; ``n`` is the size of the pool. If the owner continues after an end, the
    questions end again only when every item has a label.
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
