"""Checks that every screen must pass, and a picture of it."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
PICTURES = Path(os.environ.get("TELLMORE_SCREENSHOTS") or ROOT / "build" / "screenshots")

PHONE: ViewportSize = {"width": 390, "height": 844}
SMALLEST: ViewportSize = {"width": 360, "height": 740}
"""The size of a small phone."""

SMALL_TARGETS = """least => [...document.querySelectorAll("button, a[href], input, select, textarea, [role=slider]")]
  .filter(control => control.checkVisibility() && !control.closest(".visually-hidden"))
  .map(control => control.closest("label") ?? control)
  .map(control => [control.textContent.trim().slice(0, 30) || control.className, control.getBoundingClientRect()])
  .filter(([, box]) => box.height < least || box.width < 24)
  .map(([name, box]) => `${name}: ${Math.round(box.width)} x ${Math.round(box.height)}`)"""
OVERLAPPING = """() => [...document.querySelectorAll(".level")].filter(level => level.checkVisibility()).filter(level =>
  [...document.querySelectorAll(".level, .handle, .step, .zoom")].some(other => {
    const [a, b] = [level, other].map(one => one.getBoundingClientRect());
    return other !== level && other.checkVisibility()
      && a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
  })).map(level => level.textContent)"""


def violations(page: Page) -> list[str]:
    """What axe finds, one line each."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    return [f"{rule['id']}: {rule['help']}: {[node['target'] for node in rule['nodes']]}" for rule in found]


def look(page: Page, name: str) -> None:
    """Checks the current screen, and saves a picture of it."""
    assert violations(page) == []
    assert not scrolls_sideways(page), "the page scrolls sideways"
    if page.viewport_size == PHONE:
        page.set_viewport_size(SMALLEST)
        # Plots are drawn again after the page has become narrower.
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=SMALLEST["width"])
        page.set_viewport_size(PHONE)
    PICTURES.mkdir(parents=True, exist_ok=True)
    _picture(page).save(PICTURES / f"{name}.png")


def scrolls_sideways(page: Page) -> bool:
    """Whether something is wider than the screen; a phone's own innerWidth grows with what overflows it."""
    assert page.viewport_size is not None
    return int(page.evaluate("document.documentElement.scrollWidth")) > page.viewport_size["width"]


def _picture(page: Page) -> Image.Image:
    """The whole page; on a phone screen by screen, because a picture of the full page is made as if there were a mouse."""
    assert page.viewport_size is not None
    if not page.evaluate("matchMedia('(pointer: coarse)').matches"):
        return Image.open(BytesIO(page.screenshot(full_page=True)))
    if page.locator("dialog[open]").count():  # it stays where it is when the page is scrolled
        return Image.open(BytesIO(page.screenshot()))
    height, screen = int(page.evaluate("document.documentElement.scrollHeight")), page.viewport_size["height"]
    whole = None
    for top in range(0, height, screen):
        page.evaluate("top => scrollTo(0, top)", top)
        part = Image.open(BytesIO(page.screenshot()))
        scale = part.height / screen
        whole = whole or Image.new("RGB", (part.width, round(height * scale)))
        whole.paste(part, (0, round(page.evaluate("scrollY") * scale)))
    page.evaluate("scrollTo(0, 0)")
    assert whole is not None
    return whole


def small_targets(page: Page, device: str) -> list[str]:
    """Controls that are too small to hit: below 24 px, or 44 px for a finger."""
    found: list[str] = page.evaluate(SMALL_TARGETS, 44 if device == "narrow" else 24)
    return found


def overlapping_links(page: Page) -> list[str]:
    """Tie buttons whose targets overlap each other, or a handle or an arrow."""
    found: list[str] = page.evaluate(OVERLAPPING)
    return found
