"""Undo, refresh, lost networks and two people at once: no answer is lost, and none is stored twice."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import Join
from tests.browser.person import Person


def label(person: Person, positive: bool) -> None:
    person.submit({"type": "label", "positive": positive}, lambda: person.page.keyboard.press("1" if positive else "2"))


def undo(person: Person, key: str = "Backspace") -> dict[str, Any]:
    """Undoes the last answer; returns it."""
    question = person.question_id()
    person.page.keyboard.press(key)
    person.wait_for_other(question)
    return person.given.pop()[1]


def status(page: Page) -> Any:
    return expect(page.locator(".status"))


# Undo


def test_undo_shows_the_question_again_and_keeps_the_original_in_the_log(join: Join) -> None:
    person = join("rank 4")
    shown = person.rows()
    person.page.keyboard.press("1")
    person.page.keyboard.press("ArrowDown")
    arranged = person.ranking()
    person.submit(arranged, lambda: person.page.keyboard.press("Enter"))
    following = person.question_id()
    undo(person)
    assert sorted(person.rows()) == sorted(shown)
    assert person.ranking() == arranged, "the list starts as the person left it"
    person.submit(arranged, lambda: person.page.keyboard.press("r"))
    assert person.question_id() == following, "the question that undo pushed aside comes back"
    person.submit(person.ranking(), lambda: person.page.keyboard.press("r"))
    person.check_log()
    assert len(person.server.timings(person.participant)[-1]["away"]) == 1, "its clock knows that it is not new"
    assert len(person.server.events(person.participant, "answer")) == 3


def test_twelve_answers_can_be_undone_one_after_another(join: Join) -> None:
    person = join("label 2")
    for turn in range(12):
        label(person, turn % 3 == 0)
    for turn in reversed(range(12)):
        assert undo(person, "Control+z" if turn % 2 else "Backspace") == {"type": "label", "positive": turn % 3 == 0}
    person.check_log()
    assert person.given == []
    expect(person.page.get_by_role("button", name="Undo")).to_have_attribute("aria-disabled", "true")
    person.page.keyboard.press("Backspace")
    expect(person.page.locator(".warning")).to_have_text("There is nothing to undo.")
    label(person, True)
    person.check_log()


def test_undo_by_its_button_after_a_refresh(join: Join) -> None:
    person = join("label 2")
    label(person, True)
    person.page.reload()
    question = person.question_id()
    person.page.get_by_role("button", name="Undo").click()
    person.wait_for_other(question)
    person.given.pop()
    label(person, False)
    person.check_log()


def test_undo_brings_the_ticks_back(join: Join) -> None:
    person = join("tick 12").seek("tick")
    person.page.keyboard.press("2")
    person.page.keyboard.press("w")
    given = {"type": "tick", "positive": person.ticked()}
    person.submit(given, lambda: person.page.keyboard.press("Enter"))
    assert undo(person) == given
    assert person.ticked() == given["positive"]
    person.submit(given, lambda: person.page.keyboard.press("Enter"))
    person.check_log()


# Refresh


def test_a_refresh_keeps_the_ticks(join: Join) -> None:
    person = join("tick 12").seek("tick")
    person.page.keyboard.press("3")
    person.page.keyboard.press("e")
    given = {"type": "tick", "positive": person.ticked()}
    assert len(given["positive"]) == 2
    person.page.reload()
    person.card.wait_for()
    assert person.ticked() == given["positive"]
    person.submit(given, lambda: person.page.keyboard.press("Enter"))
    person.check_log()
    assert person.server.timings(person.participant)[-1]["moves"] == 2


def test_a_refresh_in_the_middle_resumes_the_same_question(join: Join) -> None:
    person = join("rank 4")
    question = person.question_id()
    for key in ("2", "ArrowUp", "0", "ArrowDown"):
        person.page.keyboard.press(key)
    arranged = person.ranking()
    assert arranged["n_positive"] == 3
    person.page.reload()
    assert person.question_id() == question
    assert person.ranking() == arranged, "the order and the divider are as they were left"
    person.page.reload()
    person.submit(arranged, lambda: (person.card.wait_for(), person.page.keyboard.press("Enter")))
    person.check_log()
    [timing] = person.server.timings(person.participant)
    assert timing["moves"] == 2
    assert len(timing["away"]) == 2
    gone = sum(back - left for left, back in timing["away"])
    assert 0 < gone <= timing["hidden_ms"] < timing["submit_ms"] - timing["onset_ms"]
    assert timing["first_action_ms"] < timing["away"][0][0], "the clock went on from the first page"
    person.submit(person.ranking(), lambda: person.page.keyboard.press("r"))
    assert person.server.timings(person.participant)[-1]["away"] == []


def test_a_refresh_keeps_the_choice_of_a_selection(join: Join) -> None:
    person = join("select 4").seek("select")
    before = len(person.given)
    chosen = person.options()[2]
    person.page.keyboard.press("3")
    person.page.reload()
    person.card.wait_for()
    expect(person.page.locator(".option[aria-pressed=true]")).to_contain_text(chosen)
    person.submit({"type": "select", "chosen": chosen, "positive": True}, lambda: person.page.keyboard.press("+"))
    person.check_log()
    assert len(person.server.timings(person.participant)[before]["away"]) == 1


def test_a_refresh_right_after_submitting_neither_loses_nor_doubles(join: Join) -> None:
    person = join("label 2")
    question = person.question_id()
    person.page.keyboard.press("1")
    person.page.reload()
    person.wait_for_other(question)
    person.given.append((question, {"type": "label", "positive": True}))
    label(person, False)
    person.check_log()


# Offline


def test_offline_and_back(join: Join) -> None:
    person = join("label 2")
    label(person, True)
    status(person.page).to_have_text("Saved")
    question = person.question_id()
    person.page.context.set_offline(True)
    person.page.keyboard.press("2")
    status(person.page).to_have_text("Offline, retrying")
    assert person.question_id() == question, "saved before advancing"
    person.page.keyboard.press("1")
    person.page.context.set_offline(False)
    person.wait_for_other(question)
    status(person.page).to_have_text("Saved")
    person.given.append((question, {"type": "label", "positive": False}))
    label(person, True)
    person.problems.clear()
    person.check_log()


def test_an_answer_given_offline_survives_closing_the_page(join: Join) -> None:
    person = join("label 2")
    question = person.question_id()
    context = person.page.context
    context.set_offline(True)
    person.page.keyboard.press("1")
    status(person.page).to_have_text("Offline, retrying")
    person.page.close()
    context.set_offline(False)
    person.page = context.new_page()
    person.page.goto(person.server.base)
    person.wait_for_other(question)
    person.given.append((question, {"type": "label", "positive": True}))
    person.problems.clear()
    person.check_log()


def test_an_answer_whose_acknowledgement_is_lost_is_not_doubled(join: Join) -> None:
    person = join("label 2")
    question = person.question_id()
    swallowed = []

    def swallow(route: Any) -> None:
        if swallowed:
            route.continue_()
        else:
            swallowed.append(route.fetch())
            route.abort("connectionreset")

    person.page.route("**/api/answers", swallow)
    person.submit({"type": "label", "positive": True}, lambda: person.page.keyboard.press("1"))
    assert swallowed[0].status == 200
    assert person.given[0][0] == question
    person.problems.clear()
    person.check_log()
    assert len(person.server.events(person.participant, "answer")) == 1


def test_an_answer_refused_after_a_reset_is_said_in_words(join: Join) -> None:
    person = join("label 5")
    question = person.question_id()
    person.server.call("POST", "/api/reset", {"confirm": "Word sentiment"})
    person.page.keyboard.press("1")
    person.wait_for_other(question)
    expect(person.page.locator(".warning")).to_contain_text("Not saved: the project has been reset")
    label(person, False)
    expect(person.page.locator(".warning")).to_be_empty()
    person.problems.clear()
    person.check_log()


def test_a_revoked_link_is_said_in_words(join: Join) -> None:
    person = join("label 2")
    [mine] = [row for row in person.server.call("GET", "/api/invitations") if row["participant"] == person.participant]
    person.server.call("DELETE", f"/api/invitations/{mine['id']}")
    person.page.keyboard.press("1")
    expect(person.page.get_by_role("heading", name="No access")).to_be_visible()


# Several people


def test_two_browsers_at_once(join: Join) -> None:
    people = [join("rank 4"), join("rank 4", device="narrow")]
    for _ in range(4):
        questions = [set(person.rows()) - {""} for person in people]
        assert not questions[0] & questions[1], "nobody is asked what somebody else has on screen"
        for person in people:
            send = person.page.get_by_role("button", name=re.compile("This order is right"))
            person.submit(person.ranking(), send.tap if person is people[1] else send.click)
    for person in people:
        person.check_log()
    assert not {question for question, _ in people[0].given} & {question for question, _ in people[1].given}
