"""Texts that would be markup or script are shown as typed on every page of the app, and in the report."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Join
from tests.browser.person import Person

EVIL = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
INJECTED = "img[src='x'], img[onerror], #app b, main b"


def unharmed(page: Page) -> None:
    assert page.evaluate("window.hacked") is None
    assert page.locator(INJECTED).count() == 0
    assert page.title() not in {str(row) for row in range(12)}, "the items' own script did not run"


def views(owner: Person) -> list[str]:
    links = owner.page.get_by_role("navigation").get_by_role("link")
    expect(links.first).to_be_visible()
    return links.all_inner_texts()


def test_hostile_texts_stay_texts_on_every_page(join: Join) -> None:
    worker = join("markup")
    server = worker.server
    server.call("PUT", "/api/settings", {"name": EVIL, "attribute": EVIL, "positive": EVIL, "guidelines": EVIL})
    server.invite(EVIL)
    worker.submit(worker.ranking(), lambda: worker.page.keyboard.press("r"))
    worker.page.reload()
    worker.card.wait_for()
    unharmed(worker.page)
    owner = join("markup", owner=True, path="/dashboard")
    names = views(owner)
    assert len(names) >= 4
    for name in names:
        owner.page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        expect(owner.page.get_by_role("heading", level=1)).to_be_visible()
        unharmed(owner.page)
    owner.page.goto(f"{server.base}/guidelines")
    expect(owner.page.locator("main")).to_contain_text("onerror")
    unharmed(owner.page)
    report = server.call("GET", "/api/export/report")
    owner.page.goto("about:blank")
    owner.page.set_content(report)
    assert "onerror" in owner.page.locator("body").inner_text()
    assert owner.page.evaluate("window.hacked") is None
    assert owner.page.locator("img[src='x'], img[onerror]").count() == 0
