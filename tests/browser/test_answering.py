"""Label, select, rank and tick by mouse, by touch and by keyboard only; the log contains exactly those answers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Join
from tests.browser.person import Person
from tests.browser.touch import drag as touch_drag
from tests.browser.touch import swipe


def press(person: Person, *keys: str) -> None:
    for key in keys:
        person.page.keyboard.press(key)


def button(person: Person, name: str) -> Locator:
    return person.page.get_by_role("button", name=re.compile(rf"^{name}\b"))


def mouse_drag(person: Person, source: Locator, target: Locator) -> None:
    """From the middle of one element to the far half of another, in steps as a hand would."""
    start, end = source.bounding_box(), target.bounding_box()
    assert start is not None
    assert end is not None
    down = end["y"] > start["y"]
    mouse = person.page.mouse
    mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    mouse.down()
    mouse.move(start["x"] + start["width"] / 2, end["y"] + end["height"] * (0.8 if down else 0.2), steps=12)
    person.page.wait_for_timeout(200)
    mouse.up()


def row(person: Person, index: int) -> Locator:
    return person.page.locator(".ranking > .row").nth(index)


def handle(person: Person, index: int) -> Locator:
    return row(person, index).locator(".handle")


# Label


def test_label_by_mouse(join: Join) -> None:
    person = join("label 2")
    for name, positive in (("Positive", True), ("Negative", False)):
        person.submit({"type": "label", "positive": positive}, button(person, name).click)
    person.check_log()
    assert [timing["device"] for timing in person.server.timings(person.participant)] == ["mouse", "mouse"]


def test_label_by_touch(join: Join) -> None:
    person = join("label 2", device="narrow")
    for name, positive in (("Negative", False), ("Positive", True)):
        person.submit({"type": "label", "positive": positive}, button(person, name).tap)
    person.check_log()
    assert {timing["device"] for timing in person.server.timings(person.participant)} == {"touch"}


def test_label_by_keyboard(join: Join) -> None:
    person = join("label 2")
    for key, positive in (("1", True), ("2", False), ("+", True), ("-", False)):
        person.submit({"type": "label", "positive": positive}, lambda key=key: press(person, key))
    # With the focus on a button, Enter presses that button.
    person.submit({"type": "label", "positive": False}, lambda: press(person, "ArrowRight", "Enter"))
    person.check_log()
    assert {timing["device"] for timing in person.server.timings(person.participant)} == {"keyboard"}


# Select


def at_once(person: Person, item: str, label: str) -> Locator:
    """The button that chooses ``item`` and labels it in one gesture."""
    return person.page.get_by_role("button", name=f"Choose {item}, {label}", exact=True)


def test_select_by_mouse(join: Join) -> None:
    person = join("select 4")
    for index, name, positive in ((2, "Negative", False), (0, "Positive", True)):
        person.seek("select")
        chosen = person.options()[index]
        expect(button(person, name)).to_be_disabled()
        person.page.locator(".option").nth(index).click()
        person.submit({"type": "select", "chosen": chosen, "positive": positive}, button(person, name).click)
    chosen = person.seek("select").options()[3]
    person.submit({"type": "select", "chosen": chosen, "positive": True}, at_once(person, chosen, "positive").click)
    person.check_log()


def test_select_by_touch(join: Join) -> None:
    person = join("select 4", device="narrow").seek("select")
    first, last = person.options()[0], person.options()[3]
    person.page.locator(".option", has_text=first).first.tap()
    person.page.locator(".option", has_text=last).first.tap()
    person.submit({"type": "select", "chosen": last, "positive": True}, button(person, "Positive").tap)
    timing = person.server.timings(person.participant)[-1]
    assert timing["device"] == "touch"
    assert timing["moves"] == 2
    chosen = person.seek("select").options()[1]
    person.submit({"type": "select", "chosen": chosen, "positive": False}, at_once(person, chosen, "negative").tap)
    person.check_log()
    expect(person.page.locator("section.card kbd:visible")).to_have_count(0)


def test_select_by_keyboard(join: Join) -> None:
    person = join("select 4").seek("select")
    chosen = person.options()[2]
    person.submit({"type": "select", "chosen": chosen, "positive": False}, lambda: press(person, "3", "-"))
    chosen = person.seek("select").options()[1]
    person.submit(
        {"type": "select", "chosen": chosen, "positive": True}, lambda: press(person, "ArrowDown", "ArrowDown", "+")
    )
    chosen = person.seek("select").options()[1]
    person.submit({"type": "select", "chosen": chosen, "positive": False}, lambda: press(person, "s"))
    person.check_log()


def test_no_label_before_a_choice(join: Join) -> None:
    person = join("select 4").seek("select")
    question = person.question_id()
    press(person, "+", "-", "Enter")
    person.page.wait_for_timeout(300)
    assert person.question_id() == question
    person.check_log()


# Rank


def test_rank_by_dragging_the_word_itself(join: Join) -> None:
    person = join("rank 4").seek("rank")
    before = person.rows()
    mouse_drag(person, row(person, 3).locator(".item, .share").first, row(person, 0))
    expect(person.page.locator(".ranking > .row").first).to_have_attribute("data-id", before[3])
    expect(person.page.locator(".row.picked")).to_have_count(0)
    person.submit(person.ranking(), lambda: person.page.keyboard.press("Enter"))
    person.check_log()


def test_enter_submits_after_a_click_on_an_arrow(join: Join) -> None:
    person = join("rank 4").seek("rank")
    row(person, 0).locator(".step-down").click()
    moved = person.ranking()
    person.submit(moved, lambda: person.page.keyboard.press("Enter"))
    person.check_log()


def test_space_skips_after_a_click_on_an_arrow(join: Join) -> None:
    person = join("rank 4").seek("rank")
    row(person, 0).locator(".step-down").click()
    person.submit({"type": "skip", "reason": "skip"}, lambda: person.page.keyboard.press("Space"))
    person.check_log()


def test_rank_by_dragging_with_the_mouse(join: Join) -> None:
    person = join("rank 4")
    shown = person.rows()
    mouse_drag(person, handle(person, 4), row(person, 0))
    assert person.rows() == [shown[4], *shown[:4]]
    divider = person.rows().index("")
    mouse_drag(person, handle(person, divider), row(person, 4))
    assert person.rows()[-1] == ""
    person.submit(person.ranking(), button(person, "Submit").click)
    person.check_log()
    [timing] = person.server.timings(person.participant)
    assert timing["moves"] == 2
    assert timing["device"] == "mouse"


def test_rank_by_buttons_and_by_clicking_a_place(join: Join) -> None:
    person = join("rank 4")
    shown = person.rows()
    row(person, 0).locator(".step-down").click()
    assert person.rows()[:2] == [shown[1], shown[0]]
    row(person, 4).locator(".pick").click()
    row(person, 0).locator(".pick").click()
    assert person.rows()[0] == shown[4]
    person.submit(person.ranking(), button(person, "Submit").click)
    person.check_log()


def test_rank_by_touch(join: Join) -> None:
    person = join("rank 4", device="narrow")
    shown = person.rows()
    touch_drag(person.page, handle(person, 0), row(person, 1))
    assert person.rows()[:2] == [shown[1], shown[0]]
    row(person, 4).locator(".step-up").tap()
    assert person.rows()[3] == shown[4]
    row(person, 0).locator(".pick").tap()
    row(person, 1).locator(".pick").tap()
    assert person.rows()[:2] == [shown[0], shown[1]]
    touch_drag(person.page, handle(person, 2), row(person, 0))
    assert person.rows()[0] == ""
    person.submit(person.ranking(), button(person, "Submit").tap)
    person.check_log()
    assert person.server.timings(person.participant)[0]["device"] == "touch"


def test_touching_a_row_beside_its_handle_scrolls_the_page(join: Join) -> None:
    person = join("rank 6", device="narrow")
    shown = person.rows()
    swipe(person.page, row(person, 4).locator(".pick"), dy=-120)
    person.page.wait_for_function("window.scrollY > 20")
    assert person.rows() == shown


def test_rank_by_keyboard(join: Join) -> None:
    person = join("rank 4")
    shown = person.rows()
    press(person, "4", "ArrowUp", "ArrowUp")
    assert person.rows() == [shown[0], shown[1], shown[4], "", shown[3]]
    press(person, "0", "ArrowUp")
    person.submit(person.ranking(), lambda: press(person, "Enter"))
    person.check_log()
    [timing] = person.server.timings(person.participant)
    assert timing["device"] == "keyboard"
    assert timing["moves"] == 3


def test_rank_by_tab_and_slider_with_shortcuts_off(join: Join) -> None:
    person = join("rank 4")
    person.page.keyboard.press("?")
    person.page.get_by_label("Use single-key shortcuts").uncheck()
    person.page.keyboard.press("Escape")
    shown = person.rows()
    press(person, "1", "ArrowDown")
    assert person.rows() == shown
    person.page.get_by_role("slider").focus()
    press(person, "End")
    assert person.rows()[0] == ""
    row(person, 1).locator(".pick").focus()
    press(person, "Tab", "Tab", "Enter")
    assert person.rows()[1:3] == [shown[1], shown[0]]
    button(person, "Submit").focus()
    person.submit(person.ranking(), lambda: press(person, "Enter"))
    person.check_log()


def test_every_position_of_the_divider_can_be_given(join: Join) -> None:
    person = join("rank 4")
    for wanted in range(5):
        slider = person.page.get_by_role("slider")
        slider.focus()
        press(person, "End", *["ArrowDown"] * wanted)
        expect(slider).to_have_attribute("aria-valuetext", f"{wanted} of 4 positive")
        person.submit(person.ranking(), button(person, "This order is right").click)
    assert [answer["n_positive"] for _, answer in person.given] == [0, 1, 2, 3, 4]
    person.check_log()


def test_an_untouched_list_needs_a_word(join: Join) -> None:
    person = join("rank 4")
    question = person.question_id()
    press(person, "Enter")
    person.page.wait_for_timeout(300)
    assert person.question_id() == question
    expect(person.page.get_by_text("Press R if this order is right", exact=False).first).to_be_visible()
    person.submit(person.ranking(), lambda: press(person, "r"))
    person.check_log()


def test_moves_are_announced(join: Join) -> None:
    person = join("rank 4")
    item = person.rows()[0]
    press(person, "1", "ArrowDown")
    expect(person.page.locator("div[role=status][aria-live]")).to_have_text(f"{item}: 2 of 4, positive.")


# Tick


def cells(person: Person) -> Locator:
    return person.page.locator(".tick-box")


def test_tick_by_mouse(join: Join) -> None:
    person = join("tick 12").seek("tick")
    shown = person.grid()
    for index in (9, 2, 5, 5):
        cells(person).nth(index).click()
    answer = {"type": "tick", "positive": [shown[2], shown[9]]}
    person.submit(answer, button(person, "Submit 2 of 12").click)
    person.seek("tick").submit({"type": "tick", "positive": []}, button(person, "None of these").click)
    person.check_log()
    timing = person.server.timings(person.participant)[0]
    assert timing["moves"] == 4
    assert timing["device"] == "mouse"


def test_tick_by_touch(join: Join) -> None:
    person = join("tick 12", device="narrow").seek("tick")
    shown = person.grid()
    for index in (0, 11):
        cells(person).nth(index).tap()
    answer = {"type": "tick", "positive": [shown[0], shown[11]]}
    person.submit(answer, button(person, "Submit 2 of 12").tap)
    person.check_log()
    assert person.server.timings(person.participant)[-1]["device"] == "touch"


def test_tick_by_keyboard(join: Join) -> None:
    person = join("tick 12").seek("tick")
    shown = person.grid()
    press(person, "1", "q", "e", "1")
    assert person.ticked() == [shown[9], shown[11]]
    press(person, "i")
    inverted = [item for item in shown if item not in (shown[9], shown[11])]
    person.submit({"type": "tick", "positive": inverted}, lambda: press(person, "Enter"))
    shown = person.seek("tick").grid()
    person.submit({"type": "tick", "positive": shown}, lambda: press(person, "a", "Enter"))
    person.seek("tick").submit({"type": "tick", "positive": []}, lambda: press(person, "n"))
    person.check_log()


def test_arrows_walk_the_grid_and_space_ticks(join: Join) -> None:
    person = join("tick 12").seek("tick")
    shown = person.grid()
    tops = cells(person).evaluate_all("boxes => boxes.map(box => box.getBoundingClientRect().top)")
    columns = tops.count(tops[0])
    assert 1 < columns < 12
    press(person, "ArrowRight", "ArrowRight", "ArrowDown", " ", "ArrowLeft", " ")
    assert person.ticked() == [shown[columns], shown[columns + 1]]
    person.submit({"type": "tick", "positive": person.ticked()}, lambda: press(person, "Enter"))
    person.check_log()


def test_space_skips_after_a_click_in_the_grid(join: Join) -> None:
    person = join("tick 12").seek("tick")
    cells(person).nth(3).click()
    person.submit({"type": "skip", "reason": "skip"}, lambda: press(person, " "))
    person.check_log()


def test_ticking_moves_nothing(join: Join) -> None:
    person = join("tick 12").seek("tick")
    boxes = "boxes => boxes.map(box => JSON.stringify(box.getBoundingClientRect()))"
    before = person.page.locator(".tick-box, .tick-bar, .skips").evaluate_all(boxes)
    press(person, "1", "a", "i", "4")
    assert person.page.locator(".tick-box, .tick-bar, .skips").evaluate_all(boxes) == before


# Skips


@pytest.mark.parametrize(("key", "name", "reason"), [(" ", "Skip", "skip"), ("c", "Can’t tell", "cant_tell")])
def test_skip_and_cannot_tell_are_answers_of_their_own(join: Join, key: str, name: str, reason: str) -> None:
    person = join("rank 4")
    person.submit({"type": "skip", "reason": reason}, lambda: press(person, key))
    person.submit({"type": "skip", "reason": reason}, button(person, name).click)
    person.check_log()


# Pictures and markup


def test_pictures_are_decoded_before_the_clock_starts(join: Join) -> None:
    person = join("pictures select 4").seek("select")
    pictures = person.page.locator(".option img")
    assert pictures.evaluate_all("all => all.map(image => image.complete && image.naturalWidth > 0)") == [True] * 4
    names = pictures.evaluate_all("all => all.map(image => image.alt)")
    person.page.locator(".option").nth(1).hover()
    assert person.page.locator(".option[aria-pressed=true]").count() == 0, "pointing is not choosing"
    press(person, "z")
    large = person.page.get_by_role("dialog").locator("img")
    expect(large).to_be_visible()
    assert large.evaluate("image => image.clientHeight > 0.9 * innerHeight")
    press(person, "Escape")
    expect(large).to_have_count(0)
    person.submit({"type": "select", "chosen": names[1], "positive": True}, lambda: press(person, "2", "+"))
    person.check_log()


def test_markup_in_items_stays_text(join: Join) -> None:
    person = join("markup")
    shown = person.page.locator(".item").all_text_contents()
    assert all(text.startswith("<img src=x onerror=") for text in shown)
    assert person.page.locator(".item b, .item img, .instruction i").count() == 0
    expect(person.page.locator(".instruction")).to_have_text("<i>Plain</i>")
    person.submit(person.ranking(), lambda: press(person, "r"))
    person.check_log()


# Times


def test_times_are_raw_and_in_order(join: Join) -> None:
    person = join("rank 4")
    person.page.wait_for_timeout(400)
    press(person, "1", "ArrowDown")
    person.page.wait_for_timeout(200)
    person.submit(person.ranking(), lambda: press(person, "Enter"))
    [timing] = person.server.timings(person.participant)
    assert all(isinstance(timing[key], int) for key in ("onset_ms", "first_action_ms", "submit_ms", "latency_ms"))
    assert timing["first_action_ms"] - timing["onset_ms"] >= 390
    assert timing["submit_ms"] - timing["first_action_ms"] >= 190
    assert timing["hidden_ms"] == 0
