"""What must hold of every screen, and a picture of it."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
PICTURES = Path(os.environ.get("TELLMORE_SCREENSHOTS") or ROOT / "build" / "screenshots")


def violations(page: Page) -> list[str]:
    """What axe finds, one line each."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    return [f"{rule['id']}: {rule['help']}: {[node['target'] for node in rule['nodes']]}" for rule in found]


def look(page: Page, name: str) -> None:
    """Checks the screen as it stands, and keeps a picture of it."""
    assert violations(page) == []
    width = page.evaluate("innerWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)
