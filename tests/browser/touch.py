"""Real touch events, sent to the browser below the page."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

STEPS = 14


def _middle(locator: Locator, height: float = 0.5) -> tuple[float, float]:
    box = locator.bounding_box()
    assert box is not None, "the element to touch is not on screen"
    return box["x"] + box["width"] / 2, box["y"] + box["height"] * height


def _finger(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    session = page.context.new_cdp_session(page)

    def send(kind: str, *points: tuple[float, float]) -> None:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    send("touchStart", start)
    for step in range(1, STEPS + 1):
        share = step / STEPS
        send("touchMove", (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])))
        page.wait_for_timeout(16)
    page.wait_for_timeout(200)
    send("touchEnd")
    session.detach()


def drag(page: Page, source: Locator, target: Locator) -> None:
    """Puts a finger on ``source`` and lifts it on the far half of ``target``."""
    start = _middle(source)
    down = _middle(target)[1] > start[1]
    _finger(page, start, (start[0], _middle(target, 0.8 if down else 0.2)[1]))


def swipe(page: Page, source: Locator, *, dy: float) -> None:
    """Moves a finger from ``source`` by ``dy`` pixels."""
    x, y = _middle(source)
    _finger(page, (x, y), (x, y + dy))
