"""A kind of question from an installed package: found by its entry point, shown in the browser by the module that it includes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tellmore import kinds
from tests.browser.projects import word_project
from tests.browser.serving import ROOT, serving
from tests.toy.best_worst import BEST_WORST

pytestmark = pytest.mark.browser


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """What installing a package with the toy kind leaves in a folder of packages."""
    folder = tmp_path / "packages"
    shutil.copytree(
        ROOT / "tests" / "toy", folder / "toys", ignore=shutil.ignore_patterns("test_*", "conftest*", "__*")
    )
    about = folder / "toys-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(
        "[tellmore.kinds]\nbest_worst = toys.best_worst:BEST_WORST\n", encoding="utf-8"
    )
    return folder


def test_it_is_asked_drawn_by_its_own_module_and_logged(
    browser: Browser, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds.REGISTRY, "_kinds", {**kinds.REGISTRY._kinds, BEST_WORST.name: BEST_WORST})
    folder = word_project(tmp_path / "project", "best_worst", 4)
    with serving(folder, "serve", str(folder), "--no-browser", packages=[package]) as server:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(server.url)
        page.get_by_role("button", name="Skip").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Which is the most positive, and which the least?")
        buttons = page.locator(".card .verdicts button")
        expect(buttons).to_have_count(4)
        best, worst = (buttons.nth(index).get_attribute("data-id") for index in (2, 0))
        asked = page.locator("section.card").get_attribute("data-question")
        buttons.nth(2).click()
        expect(page.locator(".prompt")).to_have_text("Now the least positive")
        page.keyboard.press("1")
        expect(page.locator(f"section.card:not([data-question='{asked}'])")).to_be_visible()
        page.close()
        given = server.answers("owner")
        assert given == [(asked, {"type": "best_worst", "best": best, "worst": worst})]
