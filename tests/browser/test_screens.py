"""Every screen, both widths, both themes: axe finds nothing, nothing is outside the page, and a picture is saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DEVICES, Join
from tests.browser.looking import PHONE, SMALLEST, look, small_targets
from tests.browser.person import Person


def pick_up(person: Person) -> None:
    person.page.keyboard.press("2")


def choose(person: Person) -> None:
    person.seek("select").page.keyboard.press("1")


def seek_select(person: Person) -> None:
    person.seek("select")


def tick_two(person: Person) -> None:
    person.seek("tick").page.keyboard.press("2")
    person.page.keyboard.press("5")


def nothing(_person: Person) -> None:
    """The screen as it comes."""


def help_open(person: Person) -> None:
    person.page.keyboard.press("?")
    expect(person.page.get_by_role("dialog")).to_be_visible()


def commenting(person: Person) -> None:
    person.page.keyboard.press("m")
    expect(person.page.get_by_role("dialog")).to_be_visible()


def enlarged(person: Person) -> None:
    person.page.keyboard.press("z")
    expect(person.page.get_by_role("dialog")).to_be_visible()


def offline(person: Person) -> None:
    person.page.context.set_offline(True)
    person.page.keyboard.press("1")
    expect(person.page.locator(".status")).to_have_text("Offline, retrying")


def drawn(person: Person) -> None:
    person.page.locator("summary", has_text="Details").click()
    expect(person.page.locator(".plot canvas")).to_have_count(5)
    expect(person.page.get_by_role("region", name="Bits per second by question kind and size")).to_be_visible()


def tabled(person: Person) -> None:
    expect(person.page.locator("table").first).to_be_visible()


def looked_into(person: Person) -> None:
    person.page.locator(".item-button").first.click()
    expect(person.page.get_by_role("region", name="The most similar answered items")).to_be_visible()


def unfolded(person: Person) -> None:
    person.page.locator("summary", has_text="How to use it").first.click()
    expect(person.page.locator("pre").first).to_be_visible()


def previewed(person: Person) -> None:
    expect(person.page.locator(".preview .headline")).to_be_visible()


def invited(person: Person) -> None:
    person.page.get_by_label("Name").fill("Kim")
    person.page.get_by_role("button", name="Create a link").click()
    expect(person.page.locator(".fresh-link")).to_be_visible()


def confirming(person: Person) -> None:
    person.page.get_by_role("button", name="Reset the project…").click()
    expect(person.page.get_by_role("dialog")).to_be_visible()


def warned(person: Person) -> None:
    person.page.keyboard.press("Backspace")
    expect(person.page.locator(".warning")).to_have_text("There is nothing to undo.")


def closed(person: Person) -> None:
    person.page.keyboard.press("Escape")
    expect(person.page.get_by_role("dialog")).to_have_count(0)


Step = tuple[str, Callable[[Person], None]]
QUESTIONS: dict[str, list[Step]] = {
    "label 2": [("label", nothing), ("warning", warned), ("offline", offline)],
    "select 6": [("select", seek_select), ("select-chosen", choose)],
    "rank 6": [
        ("rank", nothing),
        ("rank-picked-up", pick_up),
        ("help", help_open),
        ("", closed),
        ("comment", commenting),
    ],
    "tick 12": [("tick", tick_two)],
    "pictures label 2": [("label-picture", nothing), ("enlarged", enlarged)],
    "pictures select 6": [("select-picture", choose)],
    "pictures rank 4": [("rank-picture", nothing)],
    "pictures tick 12": [("tick-picture", tick_two)],
}
"""The steps of one page; a step without a name is not a separate screen."""
OWNER: list[tuple[str, str, Callable[[Person], None]]] = [
    ("dashboard", "overview", drawn),
    ("dashboard-items", "items", looked_into),
    ("dashboard-answers", "answers", tabled),
    ("dashboard-agreement", "agreement", tabled),
    ("dashboard-export", "export", unfolded),
    ("dashboard-people", "people", invited),
    ("dashboard-settings", "settings", previewed),
    ("dashboard-confirm", "settings", confirming),
]
TABLES = ("dashboard", "dashboard-items", "dashboard-answers", "dashboard-people", "dashboard-agreement")
"""Screens with tables; all of a row is seen at 360 px."""
looks = pytest.mark.parametrize(("device", "theme"), [("wide", "light"), ("narrow", "dark")])
"""Both widths and both themes, in half the time of all four pairs."""
themes = pytest.mark.parametrize("theme", ["light", "dark"])
devices = pytest.mark.parametrize("device", list(DEVICES))


@looks
@pytest.mark.parametrize("server", list(QUESTIONS))
def test_question_screens(join: Join, server: str, device: str, theme: str) -> None:
    person = join(server, device=device, color_scheme=theme)
    if device == "narrow":
        assert person.page.locator("kbd:visible:not(.position)").all_inner_texts() in ([], [*"123456"]), (
            "no keys on touch"
        )
    if not server.startswith("pictures"):
        assert small_targets(person.page, device) == []
    for screen, prepare in QUESTIONS[server]:
        prepare(person)
        if screen:
            look(person.page, f"{screen}-{device}-{theme}")


@pytest.fixture(scope="module")
def _taught(servers: Any) -> None:
    """Enough answers for every plot and table of the dashboard to have something to show."""
    from tellmore.client import Link
    from tellmore.sim.drive import drive, invite

    server = servers("rank 6")
    server.call(
        "PUT", "/api/settings", {"overlap": 0.4, "guidelines": "# What counts\n\n- the *feeling*, not the thing"}
    )
    drive(invite(Link.parse(server.url), 2), answers=25, think=False, seed=1)
    item = server.call("GET", "/api/items?limit=1")["rows"][0]["id"]
    server.call("POST", "/api/notes", {"item": item, "text": "Two meanings; which one?", "flag": True})


@looks
@pytest.mark.usefixtures("_taught")
def test_dashboard_screens(join: Join, device: str, theme: str) -> None:
    owner = join("rank 6", owner=True, device=device, color_scheme=theme, path="/dashboard")
    for screen, view, prepare in OWNER:
        owner.page.goto(f"{owner.server.base}/dashboard#{view}")
        expect(owner.page.locator(".tabs [aria-current=page]")).to_have_attribute("href", f"#{view}")
        prepare(owner)
        look(owner.page, f"{screen}-{device}-{theme}")
        assert small_targets(owner.page, device) == [], screen
        if device == "narrow" and screen in TABLES:
            owner.page.set_viewport_size(SMALLEST)
            hidden = "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth).map(box => box.ariaLabel)"
            assert owner.page.locator(".scroller").evaluate_all(hidden) == [], screen
            assert owner.page.get_by_role("cell").count() > 0, (
                "what is laid out in blocks is still a table to screen readers"
            )
            owner.page.set_viewport_size(PHONE)
    assert owner.problems == []


@looks
@pytest.mark.usefixtures("_taught")
def test_guidelines_are_a_page_beside_the_question(join: Join, device: str, theme: str) -> None:
    person = join("rank 6", device=device, color_scheme=theme)
    with person.page.expect_popup() as opened:
        person.page.get_by_role("link", name="Guidelines").click()
    expect(opened.value.get_by_role("heading", name="What counts")).to_be_visible()
    look(opened.value, f"guidelines-{device}-{theme}")


@looks
@pytest.mark.usefixtures("_taught")
def test_the_report_and_the_pages_of_errors(join: Join, device: str, theme: str) -> None:
    owner = join("rank 6", owner=True, device=device, color_scheme=theme, path="/dashboard")
    for path, name in (("/nowhere", "unknown-path"), ("/api/nowhere", "unknown-route"), ("/?token=wrong", "bad-link")):
        owner.page.goto(f"{owner.server.base}{path}")
        expect(owner.page.get_by_role("heading", level=1)).to_be_visible()
        look(owner.page, f"{name}-{device}-{theme}")
    report = owner.server.call("GET", "/api/export/report")
    owner.page.goto("about:blank")
    owner.page.set_content(report)
    expect(owner.page.get_by_role("heading", level=1)).to_be_visible()
    look(owner.page, f"report-{device}-{theme}")


@themes
def test_the_screen_without_a_link(browser: Any, join: Join, theme: str) -> None:
    base = join("label 2").server.base
    with browser.new_context(color_scheme=theme) as context:
        page = context.new_page()
        page.goto(base)
        expect(page.get_by_role("heading", name="No access")).to_be_visible()
        look(page, f"sign-in-wide-{theme}")


@looks
def test_the_screen_without_a_question(join: Join, device: str, theme: str) -> None:
    person = join("label 2", device=device, color_scheme=theme)
    nothing_left = {
        "question": None,
        "reason": "Every item is out with somebody.",
        "progress": {"answers": 0, "minutes": 0},
    }
    person.page.route("**/api/question", lambda route: route.fulfill(json=nothing_left))
    person.page.reload()
    expect(person.page.get_by_role("heading", name="No question for now")).to_be_visible()
    look(person.page, f"no-question-{device}-{theme}")


def test_figures_of_the_dashboard_fill_their_rows(join: Join) -> None:
    owner = join("label 2", owner=True, path="/dashboard")
    owner.page.locator(".tile").first.wait_for()
    for width in (360, 720, 1440):
        owner.page.set_viewport_size({"width": width, "height": 800})
        tops = owner.page.locator(".tile").evaluate_all("tiles => tiles.map(tile => Math.round(tile.offsetTop))")
        assert len({tops.count(top) for top in tops}) == 1, "no row of figures has a hole"


@themes
def test_the_theme_can_be_chosen(join: Join, theme: str) -> None:
    person = join("label 2", color_scheme=theme)
    background = "getComputedStyle(document.documentElement).backgroundColor"
    seen = [person.page.evaluate(background)]
    for _ in range(3):
        person.page.get_by_role("button", name="Theme:").click()
        seen.append(person.page.evaluate(background))
    assert seen[0] == seen[3], "the third step is the system's theme again"
    assert seen[1] != seen[2], "light and dark differ"
    person.page.reload()
    person.card.wait_for()
    assert person.page.evaluate(background) == seen[0]


@pytest.mark.parametrize("server", ["label 2", "select 6", "rank 6", "pictures rank 4", "tick 12"])
def test_nothing_is_lost_at_200_percent(join: Join, server: str) -> None:
    """A browser at 200 % shows a page half as wide; 320 px is a phone zoomed in."""
    person = join(server)
    for width in (720, 320):
        person.page.set_viewport_size({"width": width, "height": 450})
        assert person.page.evaluate("document.documentElement.scrollWidth") <= width
        for button in person.page.locator("section.card :is(button, input)").all():
            button.scroll_into_view_if_needed()
            expect(button).to_be_in_viewport()


def test_a_notice_is_seen_on_a_page_longer_than_the_screen(join: Join) -> None:
    person = join("rank 6", device="narrow", viewport=SMALLEST)
    warned(person)
    expect(person.page.locator(".warning")).to_be_in_viewport(ratio=1)
    expect(person.page.locator(".foot")).not_to_be_in_viewport()


def test_a_comment_is_typed_at_once_and_its_confirmation_covers_no_button(join: Join) -> None:
    person = join("tick 12", device="narrow")
    commenting(person)
    box, send = person.page.get_by_label("Comment", exact=True), person.page.get_by_role("button", name="Send")
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    send.click()
    expect(box).to_be_focused()
    assert box.evaluate("box => box.validationMessage") == "Write a comment or tick the box below."
    person.page.keyboard.type("a name")
    send.click()
    notice = person.page.locator(".warning")
    expect(notice).to_have_text("Your comment was sent.")
    above, below = notice.bounding_box(), person.page.locator(".tick-send").bounding_box()
    assert above["y"] + above["height"] <= below["y"]
    expect(notice).to_be_in_viewport(ratio=1)
    expect(notice).to_be_empty()
    expect(person.page.locator(".tick-send")).to_be_in_viewport(ratio=1)


def test_a_phone_shows_the_tab_of_the_page_it_is_on(join: Join) -> None:
    owner = join("rank 6", owner=True, device="narrow", path="/dashboard#settings")
    expect(owner.page.get_by_role("link", name="Settings")).to_be_in_viewport(ratio=0.99)
    owner.page.goto(owner.server.base + "/dashboard#overview")
    expect(owner.page.get_by_role("link", name="Overview")).to_be_in_viewport(ratio=0.99)


def test_offline_is_said_in_full_at_360_px(join: Join) -> None:
    person = join("label 2", device="narrow", viewport=SMALLEST)
    offline(person)
    chip = person.page.locator(".status")
    expect(chip).to_be_in_viewport(ratio=1)
    expect(person.page.locator(".brand")).to_be_hidden()


@pytest.mark.parametrize("server", ["select 6", "pictures select 6"])
@devices
def test_six_options_are_seen_without_scrolling(join: Join, server: str, device: str) -> None:
    person = join(server, device=device).seek("select")
    options = person.page.locator(".option")
    expect(options).to_have_count(6)
    for option in options.all():
        expect(option).to_be_in_viewport(ratio=1)


def test_twelve_pictures_are_seen_without_scrolling(join: Join) -> None:
    person = join("pictures tick 12").seek("tick")
    expect(person.page.locator(".tick-box")).to_have_count(12)
    person.page.get_by_role("button", name="Got it").click()
    for part in person.page.locator(".tick-box, section.card button, .foot").all():
        expect(part).to_be_in_viewport(ratio=1)


def test_pictures_stand_in_two_columns_on_a_phone(join: Join) -> None:
    person = join("pictures tick 12", device="narrow").seek("tick")
    lefts = person.page.locator(".tick").evaluate_all("cells => cells.map(cell => cell.offsetLeft)")
    assert lefts == lefts[:2] * 6
    expect(person.page.locator(".tick-send")).to_be_in_viewport(ratio=1)


def test_help_can_be_closed_without_scrolling(join: Join) -> None:
    person = join("rank 6")
    help_open(person)
    expect(person.page.get_by_role("button", name="Close")).to_be_in_viewport(ratio=1)
    assert person.page.get_by_role("dialog").evaluate("dialog => dialog.scrollHeight <= dialog.clientHeight")


def test_focus_moves_to_the_new_card(join: Join) -> None:
    person = join("label 2")
    person.page.get_by_role("button", name="Skip").focus()
    person.submit({"type": "label", "positive": True}, lambda: person.page.keyboard.press("1"))
    assert person.page.evaluate("document.activeElement.dataset.question") == person.question_id()


def test_motion_is_reduced_when_asked(join: Join) -> None:
    person = join("rank 4", reduced_motion="reduce")
    running = person.page.evaluate("document.getAnimations().length")
    person.page.keyboard.press("1")
    person.page.keyboard.press("ArrowDown")
    assert person.page.evaluate("document.getAnimations().length") == running == 0


def to_the_end(person: Person) -> None:
    """Scrolls to the end of the page; the top of the question must then be above the screen."""
    person.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(person.page.locator("section.card h1")).not_to_be_in_viewport()


def test_what_comes_next_starts_at_its_top_on_a_phone(join: Join) -> None:
    person = join("pictures tick 12", device="narrow").seek("tick")
    headline, none = person.page.locator("section.card h1"), person.page.get_by_role("button", name="None of these")
    to_the_end(person)
    person.submit({"type": "tick", "positive": []}, none.tap)
    expect(headline).to_be_in_viewport(ratio=1)
    to_the_end(person)
    question = person.question_id()
    person.page.get_by_role("button", name="Undo").tap()
    person.wait_for_other(question)
    expect(headline).to_be_in_viewport(ratio=1)
    nothing = {"question": None, "reason": "Later. " * 300, "progress": {"answers": 1, "minutes": 0}}
    person.page.route("**/api/answers", lambda route: route.fulfill(json={"saved": True, "next": nothing}))
    to_the_end(person)
    none.tap()
    expect(headline).to_have_text("No question for now")
    expect(headline).to_be_in_viewport(ratio=1)


def test_a_new_question_does_not_scroll_if_its_top_is_visible(join: Join) -> None:
    person = join("tick 12", viewport={"width": 1440, "height": 450}).seek("tick")
    person.page.evaluate("scrollTo(0, 20)")
    person.submit({"type": "tick", "positive": []}, lambda: person.page.keyboard.press("n"))
    assert person.page.evaluate("scrollY") == 20


@pytest.mark.parametrize("server", ["sentences select 4", "pictures select 4"])
def test_buttons_below_an_item_are_joined_to_it_on_a_phone(join: Join, server: str) -> None:
    person = join(server, device="narrow").seek("select")
    boxes = """items => items.map(item => [item, ...item.querySelectorAll(".option, .at-onces")]
      .map(part => part.getBoundingClientRect()).map(({top, bottom, left}) => [top, bottom, left]))"""
    items = person.page.locator(".options > li").evaluate_all(boxes)
    for _, (_, option_end, _), (buttons_begin, _, _) in items:
        assert buttons_begin <= option_end, "nothing is between an item and its buttons"
    for (_, end, left), *_ in items:
        below = [top for (top, _, other), *_ in items if other == left and top > end - 1]
        assert all(top - end >= 12 for top in below), "the next item is further away"
    words = person.page.locator(".at-once-word").first
    expect(words).to_be_visible(visible=server.startswith("sentences"))
