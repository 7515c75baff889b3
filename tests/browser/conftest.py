"""Browser, servers and people for the browser tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.looking import PHONE
from tests.browser.person import Person
from tests.browser.projects import (
    judged_project,
    markup_project,
    picture_project,
    review_project,
    sentence_project,
    sentiment_project,
    word_project,
)
from tests.browser.serving import Server, serving

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DEVICES: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1440, "height": 900}},
    "narrow": {
        "viewport": PHONE,
        "has_touch": True,
        "is_mobile": True,
        "device_scale_factor": 2,
    },
}
PATIENCE_MS = 30_000
"""The machine may be busy with other tests; the benchmarks measure how fast the client is."""

Join = Callable[..., Person]
GetServer = Callable[[str], Server]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test in this folder as a browser test."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless chromium: the one named by TELLMORE_CHROMIUM, else the system's."""
    program = os.environ.get("TELLMORE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.fail("no chromium here; install it, or name one in TELLMORE_CHROMIUM")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GetServer]:
    """Servers by name, each started when first asked for: "rank 6", "pictures tick 12", "ties rank 4", "markup", "judged",
    "reviews tick 12" with long texts.

    "sentiment NAME rank 4" is a project of its own for each name, for tests that need one without answers.
    """
    with ExitStack() as stack:
        running: dict[str, Server] = {}

        def get(name: str) -> Server:
            if name not in running:
                folder = tmp_path_factory.mktemp("project") / "project"
                make_project(name, folder)
                running[name] = stack.enter_context(serving(folder, "serve", str(folder), "--no-browser"))
            return running[name]

        yield get


def make_project(name: str, folder: Path) -> None:
    """The project that a server's name stands for."""
    match name.split():
        case ["judged"]:
            judged_project(folder)
        case ["markup"]:
            markup_project(folder)
        case ["sentences"]:
            sentence_project(folder)
        case ["sentences", question, size]:
            sentence_project(folder, question, int(size))
        case ["pictures", question, size]:
            picture_project(folder, question, int(size))
        case ["reviews", question, size]:
            review_project(folder, question, int(size))
        case ["sentiment", _, question, size]:
            sentiment_project(folder, question, int(size))
        case ["few", question, size]:
            word_project(folder, question, int(size), words=24)
        case ["ties", question, size]:
            word_project(folder, question, int(size), ties=True)
        case [question, size]:
            word_project(folder, question, int(size))
        case _:
            raise ValueError(f"no project is called {name!r}")


@pytest.fixture(scope="session")
def names() -> Iterator[int]:
    """Numbers for people's names."""
    return count(1)


@pytest.fixture
def join(browser: Browser, servers: GetServer, names: Iterator[int]) -> Iterator[Join]:
    """``join("rank 4")`` opens the question page for a new annotator; the owner of a fresh project sees its first
    screen instead. Further options go to the browser context."""
    with ExitStack() as stack:

        def enter(name: str, *, device: str = "wide", owner: bool = False, path: str = "/", **options: Any) -> Person:
            server = servers(name)
            context = stack.enter_context(browser.new_context(**{**DEVICES[device], **options}))
            context.set_default_timeout(PATIENCE_MS)
            page = context.new_page()
            invited = None if owner else server.invite(f"Person {next(names)}")
            person = Person(page, server, invited.participant if invited else "owner")
            page.on("console", lambda message: message.type == "error" and person.problems.append(message.text))
            page.on("pageerror", lambda error: person.problems.append(str(error)))
            page.goto(invited.url if invited else server.url)
            if path != "/":
                page.goto(server.base + path)
            elif owner:
                page.locator("section.card[data-shown], form.start").wait_for()
            else:
                person.card.wait_for()
            return person

        yield enter
