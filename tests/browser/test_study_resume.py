"""The paper's study in a browser, all 50 questions: the browser is closed at question 17 and continues there later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tellmore.data.bundled import demo_pool
from tellmore.study.create import create_study
from tellmore.study.presets import preset
from tellmore.study.records import read_records, study_events
from tellmore.study.settings import Study
from tellmore.study.simulate import SHORT_RUN, served_study

RIGHT = (1, 0, 2)


@dataclass(frozen=True)
class Running:
    study: Study
    database_url: str
    base: str


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("study") / "study"
    codes = iter(("DONE", "NOTHANKS", "FAILED"))
    study = preset("paper", lambda: next(codes)).model_copy(update={"stages": SHORT_RUN})
    project, _ = create_study(folder, study, demo_pool)
    with served_study(folder) as (host, port):
        yield Running(study, project.database_url, f"http://{host}:{port}")


def come(context: BrowserContext, running: Running, who: str) -> Page:
    page = context.new_page()
    page.goto(f"{running.base}/study?PROLIFIC_PID={who}&STUDY_ID=S1&SESSION_ID=T1")
    expect(page.locator("#headline")).to_be_visible()
    return page


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def check(page: Page, options: tuple[int, ...]) -> None:
    for index, option in enumerate(options):
        page.locator(f"#choice-{index}-{option}").check()
    press(page, "Check my answers")


def begin(page: Page) -> None:
    """Everything before the first question that counts."""
    press(page, "Yes, this applies to me")
    press(page, "I agree to take part")
    page.locator("#person-age").fill("44")
    press(page, "Continue")
    press(page, "I have read this")
    check(page, RIGHT)
    for _ in range(2):
        answer(page)
    press(page, "Start this part")


def question_id(page: Page) -> str:
    shown = page.locator("section.card[data-shown]:not([data-answered])")
    shown.wait_for()
    return shown.get_attribute("data-question") or ""


def answer(page: Page) -> None:
    """Answer whatever is asked by keyboard, and wait until the screen has changed."""
    now = question_id(page)
    if page.locator(".card-rank").count():
        page.keyboard.press("r")
    else:
        page.keyboard.press("1")
        page.keyboard.press("+")
    expect(page.locator(f'[data-question="{now}"]')).to_have_count(0)


def answer_until(page: Page, n: int, seen: list[str]) -> None:
    """Answer until ``n`` questions are answered; a page between the two kinds is passed."""
    while len(seen) < n:
        start = page.get_by_role("button", name="Start this part")
        if start.count():
            start.click()
        seen.append(question_id(page))
        answer(page)


def test_the_browser_closed_at_question_17_goes_on_there(browser: Browser, running: Running) -> None:
    seen: list[str] = []
    with browser.new_context() as first:
        page = come(first, running, "pid17")
        begin(page)
        answer_until(page, 16, seen)
        expect(page.locator(".study-progress")).to_contain_text("Question 17 of 50")
        seventeenth = question_id(page)
        items = page.locator("section.card").inner_text()
        kept = first.storage_state()
    with browser.new_context() as stranger:
        page = come(stranger, running, "pid17")
        expect(page.get_by_role("heading", name="You cannot take part with this link")).to_be_visible()
        expect(page.locator("main")).to_contain_text("This id is already in use in another browser")
    with browser.new_context(storage_state=kept) as second:
        page = come(second, running, "pid17")
        assert question_id(page) == seventeenth
        assert page.locator("section.card").inner_text() == items
        answer_until(page, 50, seen)
        expect(page.locator("#headline")).to_have_text("All questions are answered")
        assert page.locator(".study-code").count() == 0
        press(page, "Finish")
        expect(page.locator(".study-code")).to_have_text("DONE")
        back = page.get_by_role("link", name="Return with this code")
        expect(back).to_have_attribute("href", "https://app.prolific.com/submissions/complete?cc=DONE")
    records = read_records(running.study, study_events(running.database_url))
    person = next(person for person in records.people if person["demographics"].get("age") == 44)
    answers = [row for row in records.answers if row["participant"] == person["participant"]]
    assert [row["question_id"] for row in answers] == seen
    assert len(set(seen)) == 50
    assert person["outcome"] == "complete"
    assert all(row["seconds"] > 0 for row in answers)
