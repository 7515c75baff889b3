"""Ties and partial rankings by keyboard, mouse and touch; the log contains exactly those answers."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import DEVICES, Join
from tests.browser.looking import look, overlapping_links, small_targets
from tests.browser.person import Person

SAID = "[aria-live=polite]"


def level(person: Person, name: str) -> Locator:
    """The button on the border below the row of the item called ``name``."""
    return person.page.locator(f".row[data-id='{name}'] .level")


def said(person: Person) -> Locator:
    return person.page.locator(SAID)


def with_ties(person: Person, *ties: int) -> dict[str, Any]:
    return {**person.ranking(), "ties": list(ties)}


def press(person: Person, *keys: str) -> None:
    for key in keys:
        person.page.keyboard.press(key)


def test_by_keyboard(join: Join) -> None:
    person = join("ties rank 4")
    names = [name for name in person.rows() if name]
    press(person, "3", "l")
    expect(said(person)).to_contain_text(f"{names[2]} and {names[3]} are tied.")
    expect(person.page.locator(".row.joined")).to_have_count(1)
    person.submit(with_ties(person, 2), lambda: press(person, "r"))
    names = [name for name in person.rows() if name]
    press(person, "1", "l", "0", "ArrowUp")
    expect(said(person)).to_contain_text(f"{names[0]} and {names[1]} are no longer tied.")
    expect(person.page.locator(".row.joined")).to_have_count(0)
    press(person, "2", "t")
    person.submit(with_ties(person, 1, 2), lambda: press(person, "r"))
    person.check_log()


def test_the_button_is_reached_by_tab_and_pressed_by_enter(join: Join) -> None:
    person = join("ties rank 4")
    [first, second, *_] = person.rows()
    person.page.locator(f".row[data-id='{first}'] .step-down").focus()
    press(person, "Tab")
    expect(level(person, first)).to_be_focused()
    expect(level(person, first)).to_have_accessible_name(f"{first} tied with {second}")
    press(person, "Enter")
    expect(level(person, first)).to_have_attribute("aria-pressed", "true")
    person.submit(with_ties(person, 0), lambda: press(person, "r"))
    person.check_log()


@pytest.mark.parametrize("device", list(DEVICES))
def test_by_pointer_and_taken_back(join: Join, device: str) -> None:
    person = join("ties rank 4", device=device)
    act = Locator.tap if device == "narrow" else Locator.click
    third = person.rows()[3]
    act(level(person, third))
    first = person.rows()[0]
    act(person.page.locator(f".row[data-id='{first}'] .pick"))
    act(person.page.get_by_role("button", name="The rest are tied"))
    answer = with_ties(person, 0, 2)
    person.submit(answer, lambda: act(person.page.get_by_role("button", name="This order is right")))
    question = person.question_id()
    press(person, "Backspace")
    person.wait_for_other(question)
    expect(person.page.locator(".row.joined")).to_have_count(2)
    assert with_ties(person, 0, 2) == answer
    assert person.problems == []


def test_a_dragged_row_leaves_its_tie(join: Join) -> None:
    person = join("ties rank 4")
    first = person.rows()[0]
    level(person, first).click()
    expect(person.page.locator(".row.joined")).to_have_count(1)
    person.page.locator(f".row[data-id='{first}'] .step-down").click()
    expect(person.page.locator(".row.joined")).to_have_count(0)
    assert person.problems == []


@pytest.mark.parametrize(("device", "theme"), [("wide", "light"), ("narrow", "dark")])
def test_how_it_looks(join: Join, device: str, theme: str) -> None:
    person = join("ties rank 6", device=device, color_scheme=theme)
    assert small_targets(person.page, device) == []
    assert overlapping_links(person.page) == []
    look(person.page, f"rank-ties-offered-{device}-{theme}")
    press(person, "1", "l", "5", "t", "2")
    look(person.page, f"rank-ties-{device}-{theme}")


def test_nothing_is_offered_where_the_project_has_no_ties(join: Join) -> None:
    person = join("rank 4")
    expect(person.page.locator(".level, .rest")).to_have_count(0)
    press(person, "1", "l")
    assert "ties" not in person.ranking()
    person.submit(person.ranking(), lambda: press(person, "r"))
    person.check_log()
