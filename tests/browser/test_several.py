"""Several projects on one server: the start page, and a project that is answered at its own address."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.conftest import DEVICES, PATIENCE_MS
from tests.browser.looking import look
from tests.browser.projects import picture_project, word_project
from tests.browser.serving import serving


def test_projects_of_a_folder_are_opened_and_answered(browser: Browser, tmp_path: Path) -> None:
    word_project(tmp_path / "moods", "label", 2, words=24)
    picture_project(tmp_path / "pictures", "label", 2)
    options = {**DEVICES["narrow"], "color_scheme": "dark"}
    with (
        serving(tmp_path, "serve", str(tmp_path), "--no-browser") as server,
        browser.new_context(**options) as context,
    ):
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(server.url)
        expect(page.locator(".projects li")).to_have_count(2)
        look(page, "projects-narrow-dark")
        page.locator(".projects a").nth(1).tap()
        page.get_by_role("button", name="Skip").tap()
        card = page.locator("section.card[data-shown]")
        first = card.get_attribute("data-question")
        assert card.locator(".item img").evaluate("image => image.naturalWidth > 0")
        page.locator(".verdict").first.tap()
        expect(page.locator(f"section.card[data-shown]:not([data-question='{first}'])")).to_be_visible()
        page.get_by_role("link", name="Dashboard").tap()
        expect(page.locator(".tile").first).to_contain_text("1")
        expect(page.locator(".status")).to_have_text("Live")
        assert page.url.partition("#")[0] == f"{server.base}/p/pictures/dashboard"
        page.get_by_role("link", name="All projects").tap()
        expect(page.get_by_role("heading", level=1)).to_have_text("Projects")
        page.goto(f"{server.base}/p/moods/")
        expect(page.get_by_role("heading", level=1)).to_have_text("No access")
        assert problems == []
