"""Pages that say one thing, in words, to somebody who asked for a page: a bad link, an unknown address, another name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.datastructures import Headers

from tellmore.pages import render_page
from tellmore.store.standing import sentence

STATIC = Path(__file__).parent / "static"
TITLES = {
    401: "This link does not work",
    404: "There is no such page",
    421: "This address is not served here",
    429: "Too many requests",
}


def wants_page(method: str, path: str, headers: Headers) -> bool:
    """Whether a browser asks for a page, and not a program for data."""
    return method == "GET" and not path.startswith("/api") and "text/html" in headers.get("accept", "")


def error_page(status: int, error: str) -> str:
    """What went wrong, for a person."""
    links = [("/", "To the questions")] if status == 404 else []
    return notice_page(TITLES.get(status, "That did not work"), sentence(error), links)


def switch_page(now: str, then: str, address: str) -> str:
    """Whether to go on under another name."""
    text = f"In this browser you are signed in as {now}. What you answer from now on would count as {then}’s."
    return notice_page(f"Go on as {then}?", text, [(address, f"Go on as {then}"), ("/", f"Stay signed in as {now}")])


def notice_page(title: str, text: str, links: Sequence[tuple[str, str]] = ()) -> str:
    """A page in the app's look; ``links`` are (address, words)."""
    style = next((path.name for path in sorted((STATIC / "assets").glob("app-*.css"))), None)
    return render_page("notice.html", title=title, text=text, links=links, style=style)
