"""Pages with one message for people, for example about a bad link, an unknown address or another name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.datastructures import Headers

from tellmore.pages import render_page
from tellmore.store.standing import sentence

STATIC = Path(__file__).parent / "static"
TITLES = {
    401: "This link does not work",
    403: "This page is not for you",
    404: "There is no such page",
    421: "This address is not served here",
    429: "Too many requests",
}


def wants_page(method: str, headers: Headers) -> bool:
    """Whether the request is from a browser that expects a page, not from a program that expects data."""
    return method == "GET" and "text/html" in headers.get("accept", "")


def error_page(status: int, error: str, place: str = "") -> str:
    """A page that says what went wrong; ``place`` is the project's address on its server."""
    links = [(f"{place}/", "Go to the questions")] if status == 404 else []
    return notice_page(TITLES.get(status, "Something went wrong"), sentence(error), links)


def switch_page(now: str, then: str, address: str, place: str = "") -> str:
    """A page that asks whether to continue under another name; ``place`` is the project's address on its server."""
    text = f"You are signed in as {now} in this browser. If you continue, your answers will count as {then}’s."
    return notice_page(
        f"Continue as {then}?", text, [(address, f"Continue as {then}"), (f"{place}/", f"Stay signed in as {now}")]
    )


def join_page(invitation: str, address: str) -> str:
    """A page to accept an invitation for several people. It keeps programs that open links in messages from using them up."""
    text = "Everyone who begins gets their own questions. To come back later, open this link again in the same browser."
    return notice_page(f"You are invited: {invitation}", text, [(address, "Begin")])


def guidelines_page(text: str) -> str:
    """The project's guidelines, written in Markdown. HTML in them is shown as text, and no picture is loaded from other sites."""
    markdown = MarkdownIt("js-default").disable("image")
    shown = Markup(markdown.render(text))
    return render_page("guidelines.html", title="Guidelines", text=shown, links=(), style=_style())


def projects_page(projects: Sequence[Mapping[str, str]], refused: Sequence[tuple[str, str]] = ()) -> str:
    """The start page of a server with several projects; ``refused``: those that are not served, and why not."""
    told = [(name, sentence(why)) for name, why in refused]
    shown = {"projects": projects, "refused": told}
    return render_page("projects.html", title="Projects", text="", links=(), style=_style(), **shown)


def notice_page(title: str, text: str, links: Sequence[tuple[str, str]] = ()) -> str:
    """A page in the style of the app; ``links`` are (address, words)."""
    return render_page("notice.html", title=title, text=text, links=links, style=_style())


def _style() -> str | None:
    return next((path.name for path in sorted((STATIC / "assets").glob("app-*.css"))), None)
