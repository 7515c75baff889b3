"""Draws the pictures of the app for the README and the docs, docs/images/start.png, rank.png and dashboard.png, from the demo.

python scripts/draw_screens.py    (needs the extra dev, chromium and the built client)
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tellmore.app.demo import known_scores
from tellmore.client import Link
from tellmore.sim.drive import drive, invite

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
ANSWERS = 40


def rank(page: Page) -> None:
    """Put the words on screen in the order of their known scores, and the divider where positive ends."""
    scores = known_scores()

    def rows() -> list[str]:  # the divider is the empty string
        return page.locator(".ranking > .row").evaluate_all("rows => rows.map(row => row.dataset.id)")

    def press(*keys: str) -> None:
        for key in keys:
            page.keyboard.press(key)

    order = sorted(filter(None, rows()), key=scores.__getitem__, reverse=True)
    for place, word in enumerate(order):
        while (now := [row for row in rows() if row].index(word)) > place:
            press(str(now + 1), "ArrowUp", "Escape")
    positive = sum(scores[word] > 0 for word in order)
    while (now := rows().index("")) != positive:
        press("0", "ArrowUp" if now > positive else "ArrowDown", "Escape")


def draw(page: Page, url: str) -> None:
    """The first screen, then answers of simulated people, a ranking, and the dashboard."""
    page.goto(url)
    page.locator("form.start").wait_for()
    like, unlike = page.locator("form.start textarea").all()
    like.fill("joy, kindness")
    unlike.fill("pain")
    page.locator("form.start .sample .share").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=IMAGES / "start.png")
    page.set_viewport_size({"width": 1200, "height": 800})
    page.get_by_role("button", name="Begin").click()
    page.locator("section.card[data-shown]").wait_for()
    page.get_by_role("button", name="Got it").click()
    drive(invite(Link.parse(url), 2), answers=ANSWERS // 2, speed=4, scores=known_scores(), seed=3)
    base = url.partition("/?")[0]
    page.request.post(f"{base}/api/go-on", data={})  # the questions may have ended
    page.request.put(f"{base}/api/settings", data={"question": "rank", "set_size": 6})
    page.reload()
    while not page.locator(
        "section.card-rank[data-shown]"
    ).count():  # the question that was open before, or a random one
        page.keyboard.press(" ")
        page.wait_for_timeout(2_000)
    rank(page)
    page.screenshot(path=IMAGES / "rank.png")
    page.goto(f"{base}/dashboard")
    page.locator(".tile", has_text=str(ANSWERS)).wait_for()  # all are learnt
    page.wait_for_load_state("load")
    page.set_viewport_size({"width": 1200, "height": 900})
    page.screenshot(path=IMAGES / "dashboard.png")


def main() -> None:
    """Serve the demo in a temporary folder, and draw."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        command = [
            sys.executable,
            "-u",
            "-m",
            "tellmore",
            "demo",
            "--folder",
            f"{folder}/demo",
            "--port",
            "0",
            "--no-browser",
        ]
        with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            printed = iter(server.stdout.readline, "")
            url = next(found.group() for line in printed if (found := re.search(r"http://\S+token=\S+", line)))
            try:
                browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
                draw(browser.new_page(viewport={"width": 900, "height": 790}), url)
                browser.close()
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
