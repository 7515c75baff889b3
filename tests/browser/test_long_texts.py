"""Long texts are cut off in lists and grids, so that a question fits on the screen, and can be read as a whole."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Join
from tests.browser.looking import look, scrolls_sideways, small_targets
from tests.browser.person import Person

CUT = """texts => texts.map(text => {
  const shown = text.getBoundingClientRect();
  const cell = text.closest(".tick-cell, .options > li, .row");
  return [text.scrollHeight > text.clientHeight + 1, cell.querySelector(".zoom")?.checkVisibility() ?? false];
})"""


def zooms(person: Person) -> Locator:
    return person.page.locator(".zoom:visible")


def cut_off(person: Person) -> Locator:
    return person.page.locator(".tick-cell:has(.zoom:not([hidden]))")


def whole_text(person: Person) -> Locator:
    return person.page.get_by_role("dialog", name=re.compile("^Text"))


@pytest.mark.parametrize("server", ["reviews tick 12", "reviews rank 4", "reviews select 4"])
def test_a_question_with_long_texts_fits_on_the_screen(join: Join, server: str) -> None:
    person = join(server).seek(server.split()[1])
    page = person.page
    expect(zooms(person).first).to_be_visible()
    ends = page.locator(".tick-box, .row, .option").all()
    for control in [*ends, page.locator(".tick-send, .rank-submit, .verdict, .card .primary").last]:
        expect(control).to_be_in_viewport(ratio=1)
    look(page, f"long-{server.split()[1]}-wide")


@pytest.mark.parametrize("device", ["wide", "narrow"])
@pytest.mark.parametrize("server", ["reviews tick 12", "reviews rank 4", "reviews select 4"])
def test_a_text_that_is_cut_off_has_a_button_and_no_other_has_one(join: Join, server: str, device: str) -> None:
    person = join(server, device=device).seek(server.split()[1])
    expect(zooms(person).first).to_be_visible()
    found = person.page.locator(".card .item-text").evaluate_all(CUT)
    assert all(cut == button for cut, button in found)
    assert any(cut for cut, _ in found)
    assert small_targets(person.page, device) == []
    look(person.page, f"long-{server.split()[1]}-{device}")


def test_a_whole_text_is_read_and_the_question_answered_as_before(join: Join) -> None:
    person = join("reviews tick 12").seek("tick")
    page = person.page
    cell = cut_off(person).first
    text = cell.locator(".item-text").text_content()
    cell.locator(".zoom").click()
    expect(whole_text(person).locator("p")).to_have_text(text or "")
    page.keyboard.press("Escape")
    expect(whole_text(person)).to_have_count(0)
    assert person.ticked() == [], "reading is not ticking"
    page.locator(".tick-box").nth(1).click()
    last = person.grid()[1]
    person.submit({"type": "tick", "positive": [last]}, lambda: page.keyboard.press("Enter"))
    person.check_log()


def test_a_chosen_long_text_is_named_by_its_first_words(join: Join) -> None:
    person = join("reviews select 4").seek("select")
    page = person.page
    option = page.locator(".options > li:has(.zoom:not([hidden])) .option").first
    height = option.bounding_box()
    option.click()
    expect(page.locator(".prompt strong")).to_have_text(re.compile(r"^Guest \d+\. They were welcomed warmly, .* …$"))
    assert option.bounding_box() == height, "choosing lays nothing out anew"
    expect(page.locator(".skips")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("device", ["wide", "narrow"])
def test_a_long_word_does_not_widen_the_report(join: Join, device: str) -> None:
    person = join("reviews rank 3", device=device)
    report = person.server.call("GET", "/api/export/report").replace("They were welcomed", "welcomed" * 40)
    page = person.page.context.new_page()
    page.set_content(report)
    assert page.get_by_text("welcomedwelcomed").count() > 0
    assert not scrolls_sideways(page)


def test_z_reads_the_text_in_focus(join: Join) -> None:
    person = join("reviews tick 12").seek("tick")
    page = person.page
    cell = cut_off(person).last
    cell.locator(".tick-box").focus()
    page.keyboard.press("z")
    expect(whole_text(person).locator("p")).to_have_text(cell.locator(".item-text").text_content() or "")
    page.keyboard.press("z")
    expect(whole_text(person)).to_have_count(0)
    expect(cell.locator(".tick-box")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("cell", name="read the whole of a text that is cut off")).to_be_visible()


def test_predictions_of_long_texts_leave_the_line_below_on_the_screen(join: Join) -> None:
    owner = join("reviews label 2", owner=True)
    page = owner.page
    page.get_by_role("button", name="Skip").click()
    owner.card.wait_for()
    for turn in range(8):
        owner.submit(
            {"type": "label", "positive": turn % 2 == 0}, lambda key=str(1 + turn % 2): page.keyboard.press(key)
        )
    expect(page.get_by_role("heading", name="Learnt so far, on items nobody was asked about")).to_be_visible()
    expect(page.locator(".foot")).to_be_in_viewport(ratio=1)
    widths = page.locator(".glance-group").evaluate_all("groups => groups.map(group => group.clientWidth)")
    assert min(widths) > 150
    look(page, "long-glance-wide")
