"""A participant goes through a study, from the link to the completion code; every screen is checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tellmore.data.bundled import load_pool
from tellmore.study.create import create_study
from tellmore.study.presets import preset
from tellmore.study.settings import Study
from tests.browser.conftest import DEVICES, PATIENCE_MS
from tests.browser.looking import look
from tests.browser.serving import Server, serving

QUESTIONS = 6
"""Two kinds, each with two questions and one gold question."""

CODES = ("COMPLETE", "NO-CONSENT", "FAILED")
Enter = Callable[..., Page]
participants = count(1)


def short(study: Study) -> Study:
    """The paper's study with few questions, from a short learning run."""
    stages = [stage.model_copy(update={"first": n, "last": n}) for n, stage in enumerate(study.stages, start=1)]
    few = {"sizes": (2, 3), "questions_per_kind": 2, "gold_positions": (1,)}
    design = study.design.model_copy(update=few)
    return study.model_copy(update={"stages": tuple(stages), "design": design, "gold": study.gold[:1]})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("study") / "study"
    codes = iter(CODES)
    create_study(folder, short(preset("paper", lambda: next(codes))), lambda: load_pool("words"))
    with serving(folder, "study", "serve", str(folder)) as running:
        yield running


@pytest.fixture
def enter(browser: Browser, server: Server) -> Iterator[Enter]:
    """``enter()`` opens the study's link as somebody new."""
    with ExitStack() as stack:

        def come(device: str = "wide", **options: Any) -> Page:
            context = stack.enter_context(browser.new_context(**{**DEVICES[device], **options}))
            context.set_default_timeout(PATIENCE_MS)
            page = context.new_page()
            page.goto(f"{server.base}/study?PROLIFIC_PID=P{next(participants)}&STUDY_ID=S&SESSION_ID=X")
            page.locator("section.card").wait_for()
            return page

        yield come


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def pass_the_check(page: Page, *, rightly: bool = True) -> None:
    for group, option in enumerate((1, 0, 2)):
        page.locator(f"#choice-{group}-{option if rightly else (option + 1) % 3}").check()
    press(page, "Check my answers")


def to_the_questions(page: Page, seen: Callable[[str], None] = lambda name: None) -> None:
    """From the first page to the first practice question; ``seen`` is told of every page."""
    for heading, button in (("Who can take part", "Yes, this applies to me"), ("Consent", "I agree to take part")):
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        seen(heading.split()[0].lower())
        press(page, button)
    expect(page.get_by_role("heading", level=1)).to_have_text("About you")
    seen("person")
    page.get_by_label("How old are you").fill("42")
    press(page, "Continue")
    expect(page.get_by_role("heading", level=1)).to_have_text("Instructions")
    seen("instructions")
    press(page, "I have read this")
    expect(page.get_by_role("heading", level=1)).to_have_text("Before you start: a short check")
    seen("check")
    pass_the_check(page)


def answer(page: Page) -> str:
    """Answers the question on screen by keyboard; its id."""
    card = page.locator("section.card[data-shown]")
    card.wait_for()
    question = card.get_attribute("data-question") or ""
    keys = ["r"] if "card-rank" in (card.get_attribute("class") or "") else ["1", "+"]
    for key in keys:
        page.keyboard.press(key)
    page.locator(f"[data-question='{question}']").wait_for(state="detached")
    return question


def answer_all(
    page: Page, seen: Callable[[str], None] = lambda name: None, each: Callable[[], None] = lambda: None
) -> list[str]:
    """All practice and study questions; their ids. ``each`` is called when a question is on screen."""
    answered = []
    heading = page.get_by_role("heading", level=1)
    while True:
        page.locator("section.card[data-shown], section.study-page").wait_for()
        if heading.inner_text() == "All questions are answered":
            return answered
        if re.match(r"Part \d", heading.inner_text()):
            seen(f"part-{heading.inner_text().split()[-1]}")
            press(page, "Start this part")
        else:
            each()
            answered.append(answer(page))


def saved(server: Server, question_ids: list[str]) -> list[str]:
    """Those questions whose answer is in the exported log, oldest first."""
    rows = [json.loads(line) for line in server.call("GET", "/api/export/jsonl").splitlines()]
    return [row["question_id"] for row in rows if row["kind"] == "study_answer" and row["question_id"] in question_ids]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("device", list(DEVICES))
def test_the_whole_way(enter: Enter, server: Server, device: str, theme: str) -> None:
    page = enter(device, color_scheme=theme)

    def seen(name: str) -> None:
        look(page, f"study-{name}-{device}-{theme}")

    to_the_questions(page, seen)
    answered = answer_all(page, seen)
    seen("debrief")
    press(page, "Finish")
    expect(page.get_by_text("COMPLETE", exact=True)).to_be_visible()
    seen("done")
    assert len(answered) == QUESTIONS + 2, "two practice questions come first"
    assert saved(server, answered) == answered


def away(server: Server, question: str) -> int:
    """How often the page was gone while ``question`` was on screen."""
    lines = [json.loads(line) for line in server.call("GET", "/api/export/jsonl").splitlines()]
    [given] = [row for row in lines if row["kind"] == "study_answer" and row["question_id"] == question]
    return len(given["payload"]["timing"]["away"])


def test_the_same_link_resumes(enter: Enter, server: Server) -> None:
    page = enter()
    to_the_questions(page)
    first = answer(page)
    page.locator("section.card[data-shown]").wait_for()
    question = page.locator("section.card").get_attribute("data-question") or ""
    ranking = page.locator(".card-rank").count() > 0
    for key in ["1", "ArrowDown"] if ranking else ["2"]:
        page.keyboard.press(key)
    arranged = page.locator(".card-body").inner_text()
    page.reload()
    expect(page.locator("section.card[data-shown]")).to_have_attribute("data-question", question)
    assert page.locator(".card-body").inner_text() == arranged, "the answer in the making is kept"
    page.keyboard.press("Enter" if ranking else "+")
    page.locator(f"[data-question='{question}']").wait_for(state="detached")
    assert saved(server, [first, question]) == [first, question]
    assert away(server, question) == 1


def test_choices_of_the_check_are_large_enough_for_a_finger(enter: Enter) -> None:
    page = enter("narrow")
    for name in ("Yes, this applies to me", "I agree to take part", "Continue", "I have read this"):
        press(page, name)
    expect(page.locator(".study-choice").first).to_be_visible()
    heights = page.locator(".study-choice label, .study-reminder summary").evaluate_all(
        "labels => labels.map(label => label.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44


def test_help_and_single_keys_can_be_switched_off_in_a_study(enter: Enter) -> None:
    page = enter()
    to_the_questions(page)
    card = page.locator("section.card[data-shown]")
    card.wait_for()
    question = card.get_attribute("data-question") or ""
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("an item")
    expect(dialog).not_to_contain_text("undo")
    dialog.get_by_label("Use single-key shortcuts").uncheck()
    look(page, "study-help-wide-light")
    dialog.get_by_role("button", name="Close").click()
    for key in ("1", "+", "r"):
        page.keyboard.press(key)
    expect(card).to_have_attribute("data-question", question)


def test_offline_in_a_study_loses_nothing(enter: Enter, server: Server) -> None:
    page = enter()
    to_the_questions(page)
    card = page.locator("section.card[data-shown]")
    card.wait_for()
    question = card.get_attribute("data-question") or ""
    page.context.set_offline(True)
    for key in ("1", "+", "r"):
        page.keyboard.press(key)
    expect(page.locator(".status")).to_have_text("Offline, retrying")
    page.context.set_offline(False)
    page.locator(f"[data-question='{question}']").wait_for(state="detached")
    assert saved(server, [question]) == [question]


def test_without_consent_nothing_is_asked(enter: Enter) -> None:
    page = enter()
    press(page, "Yes, this applies to me")
    press(page, "I do not agree")
    expect(page.get_by_text("NO-CONSENT", exact=True)).to_be_visible()
    look(page, "study-no-consent-wide-light")


def test_the_check_may_be_failed_once(enter: Enter) -> None:
    page = enter()
    for name in ("Yes, this applies to me", "I agree to take part", "Continue", "I have read this"):
        press(page, name)
    pass_the_check(page, rightly=False)
    expect(page.get_by_role("alert")).to_contain_text("Not all answers were right")
    look(page, "study-check-again-wide-light")
    pass_the_check(page, rightly=False)
    expect(page.get_by_text("FAILED", exact=True)).to_be_visible()


def test_participants_never_see_the_model(enter: Enter) -> None:
    page = enter()
    to_the_questions(page)
    page.locator("section.card[data-shown]").wait_for()
    assert page.evaluate("fetch('/api/dashboard').then(reply => reply.status)") == 403
    assert "accuracy" not in page.locator("body").inner_text()
