"""Texts that would be markup or script are shown as typed on every page of the app, and in the report."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, expect

from tellmore.data.bundled import load_pool
from tellmore.pool import Pool
from tellmore.study.create import create_study
from tellmore.study.presets import preset
from tellmore.study.settings import Study, Texts
from tests.browser.conftest import DEVICES, PATIENCE_MS, Join
from tests.browser.person import Person
from tests.browser.serving import serving
from tests.browser.test_study import CODES, QUESTIONS, answer_all, press, short, to_the_questions

EVIL = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
TRICKS = "\u202egnp.exe \u2066left\u2069 \u0645\u0631\u062d\u0628\u0627 Z\u0351\u036b\u0343\u036a\u0302 {{7*7}} ${1} ' \" & %00"
LONG = "unbroken" * 50
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


def hostile(study: Study) -> Study:
    """A study whose every text, word and option would harm a page that trusts it."""
    evil = dict.fromkeys(Texts.model_fields, f"{EVIL} {TRICKS}")
    return study.model_copy(
        update={
            "title": EVIL,
            "attribute": EVIL,
            "positive": f"{EVIL} yes",
            "negative": f"{EVIL} no",
            "texts": Texts(**evil),
            "practice": tuple(each.model_copy(update={"items": (EVIL, TRICKS)}) for each in study.practice),
            "comprehension": tuple(
                each.model_copy(update={"question": EVIL, "options": tuple(f"{EVIL} {one}" for one in each.options)})
                for each in study.comprehension
            ),
            "demographics": tuple(
                each.model_copy(update={"question": f"{EVIL} {each.question}", "options": each.options})
                for each in study.demographics
            ),
        }
    )


def hostile_pool() -> Pool:
    """The bundled words, shown as markup, right to left, very long, or with a character that ends strings elsewhere."""
    words = load_pool("words")
    texts = (EVIL, TRICKS, LONG, "a\0b")
    return Pool(words.X, words.ids, [f"{texts[row % 4]} {word}" for row, word in enumerate(words.ids)])


def test_hostile_texts_stay_texts_on_every_page_of_a_study(browser: Browser, tmp_path: Path) -> None:
    codes, folder = iter(CODES), tmp_path / "study"
    create_study(folder, hostile(short(preset("paper", lambda: next(codes)))), hostile_pool)
    pages: list[str] = []
    with serving(folder, "study", "serve", str(folder)) as server, browser.new_context(**DEVICES["narrow"]) as context:
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(f"{server.base}/study?PROLIFIC_PID={quote(EVIL)}&STUDY_ID=S&SESSION_ID=X")
        expect(page.get_by_role("heading", level=1)).to_have_text("Something went wrong")  # no such id is taken
        unharmed(page)
        page.goto(f"{server.base}/study?PROLIFIC_PID=P1&STUDY_ID=S&SESSION_ID=X")

        def seen(name: str) -> None:
            pages.append(name)
            unharmed(page)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} is too wide"

        to_the_questions(page, seen)
        answered = answer_all(page, seen, each=lambda: seen("question"))
        seen("debrief")
        press(page, "Finish")
        expect(page.get_by_text("COMPLETE", exact=True)).to_be_visible()
        seen("done")
        assert len(answered) == QUESTIONS + 2
    assert {"who", "consent", "person", "instructions", "check", "question", "debrief", "done"} <= set(pages)
