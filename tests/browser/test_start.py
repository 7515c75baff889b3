"""The first screen of a project: what the owner is looking for, shown at once in the items, and learnt."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Join
from tests.browser.looking import look, small_targets
from tests.browser.person import Person

LIKE, UNLIKE = "Like what you are looking for", "Unlike it"
MOST, LEAST = "Most like it, before any answers", "Least like it, before any answers"


def field(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=label, exact=True)


def listed(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=title).locator("li")


def texts(page: Page, title: str) -> list[str]:
    return listed(page, title).locator(".item").all_text_contents()


def clicked_are(page: Page, side: str) -> None:
    page.get_by_role("group", name="Items that you click are").get_by_label(side, exact=True).check(force=True)


def asked_for(person: Person) -> None:
    expect(person.page.get_by_role("heading", level=1)).to_have_text("What are you looking for?")
    expect(person.page.get_by_text("The questions will ask whether an item is positive.")).to_be_visible()


def test_words_and_clicks_are_seen_at_once_saved_and_asked_from(join: Join) -> None:
    owner = join("sentiment begun rank 4", owner=True)
    page = owner.page
    asked_for(owner)
    expect(field(page, LIKE)).to_be_focused()
    page.keyboard.type("happy, excellent,")
    expect(listed(page, MOST)).to_have_count(8)
    first = texts(page, MOST)
    page.keyboard.press("Tab")
    page.keyboard.type("terrible")
    expect(listed(page, LEAST).filter(has_text="terrible")).to_have_count(1)
    assert texts(page, MOST) != first, "the other side counts too"

    example, other = texts(page, "Items to choose from")[:2]
    page.get_by_role("region", name="Items to choose from").get_by_role("button", name=example).click()
    expect(page.locator(".start-side").first.locator(".chip")).to_have_text([f"{example}×Remove {example}"])
    clicked_are(page, "Unlike it")
    page.get_by_role("region", name="Items to choose from").get_by_role("button", name=other).click()
    expect(page.locator(".start-side").last.locator(".chip")).to_have_count(1)
    page.get_by_role("button", name=f"Remove {other}").click()
    expect(page.locator(".chip")).to_have_count(1)
    assert owner.server.call("GET", "/api/settings")["like"] == [], "nothing is saved by looking"

    page.get_by_role("button", name="Begin").click()
    owner.card.wait_for()
    saved = owner.server.call("GET", "/api/settings")
    assert (saved["like"], saved["unlike"]) == (["happy", "excellent", example], ["terrible"])
    owner.submit(owner.ranking(), lambda: page.keyboard.press("r"))
    owner.check_log()
    page.reload()
    owner.card.wait_for()

    page.goto(owner.server.base + "/dashboard")
    verdict = page.locator(".start-line:visible")
    expect(verdict).to_contain_text("the start")
    page.get_by_role("link", name="Settings").click()
    expect(verdict).to_contain_text("the start")
    expect(field(page, LIKE)).to_have_value(f"happy\nexcellent\n{example}")
    expect(listed(page, MOST)).to_have_count(8)
    assert owner.problems == []


def test_what_was_typed_and_clicked_survives_a_reload_until_it_is_saved(join: Join) -> None:
    owner = join("sentiment reloaded label 2", owner=True)
    page = owner.page
    field(page, LIKE).fill("happy")
    field(page, UNLIKE).fill("terrible")
    example = texts(page, "Items to choose from")[0]
    page.get_by_role("region", name="Items to choose from").get_by_role("button", name=example).click()
    page.reload()
    expect(field(page, LIKE)).to_have_value("happy")
    expect(field(page, UNLIKE)).to_have_value("terrible")
    expect(page.locator(".start-side").first.locator(".chip")).to_have_text([f"{example}×Remove {example}"])
    expect(listed(page, MOST)).to_have_count(8)
    page.get_by_role("link", name="Dashboard").click()
    page.get_by_role("link", name="Answer questions").first.click()
    expect(field(page, LIKE)).to_have_value("happy")
    page.get_by_role("button", name="Begin").click()
    owner.card.wait_for()
    saved = owner.server.call("GET", "/api/settings")
    assert (saved["like"], saved["unlike"]) == (["happy", example], ["terrible"])
    assert page.evaluate("Object.keys(sessionStorage).filter(key => key.includes('start.draft'))") == []
    assert owner.problems == []


def test_whoever_skips_is_not_asked_again(join: Join) -> None:
    owner = join("sentiment skipped label 2", owner=True)
    asked_for(owner)
    owner.page.get_by_role("button", name="Skip").click()
    owner.card.wait_for()
    owner.page.reload()
    owner.card.wait_for()
    assert owner.server.call("GET", "/api/start")["fresh"], "only this browser knows"


def test_whoever_is_not_the_owner_is_asked_questions_only(join: Join) -> None:
    expect(join("sentiment others label 2").page.locator("form.start")).to_have_count(0)


def test_a_word_that_is_no_item_is_refused_in_one_line_and_the_last_look_stays(join: Join) -> None:
    owner = join("sentiment others label 2", owner=True)
    page = owner.page
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".start-problem")).to_have_text("Click items first, or skip this step.")
    field(page, LIKE).fill("happy")
    expect(listed(page, MOST)).to_have_count(8)
    expect(page.locator(".start-problem")).to_be_hidden()
    field(page, LIKE).fill("happy, xyzzy")
    expect(page.locator(".start-problem")).to_contain_text("'xyzzy'")
    expect(page.locator(".start-problem")).to_contain_text("use items as examples instead.")
    expect(listed(page, MOST)).to_have_count(8)
    field(page, LIKE).fill("")
    expect(page.get_by_role("region", name=MOST)).to_be_hidden()


def test_a_problem_has_the_colour_of_warnings(join: Join) -> None:
    page = join("sentences", owner=True).page
    page.get_by_role("button", name="Begin").click()
    problem = page.locator(".start-problem")
    expect(problem).to_have_text("Click items first, or skip this step.")
    warn = """element => {
      const sample = element.appendChild(Object.assign(document.createElement("i"), {style: "color: var(--warn)"}));
      const found = getComputedStyle(sample).color;
      sample.remove();
      return found;
    }"""
    expect(problem).to_have_css("color", problem.evaluate(warn))


def test_items_are_searched_and_marked_without_a_mouse(join: Join) -> None:
    owner = join("sentiment others label 2", owner=True)
    page = owner.page
    page.get_by_role("searchbox", name="Search the items").fill("xyzzy")
    expect(page.get_by_text("No items match.", exact=True)).to_be_visible()
    page.get_by_role("searchbox", name="Search the items").fill("happ")
    expect(listed(page, "Items to choose from")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    marked = page.get_by_role("region", name="Items to choose from").get_by_role("button", name="happy")
    expect(marked).to_have_attribute("aria-pressed", "true")
    expect(marked).to_be_focused()
    expect(listed(page, MOST)).to_have_count(8)
    page.keyboard.press("Space")
    expect(marked).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_role("region", name=MOST)).to_be_hidden()


def test_pictures_without_words_are_clicked(join: Join) -> None:
    owner = join("pictures tick 4", owner=True)
    page = owner.page
    expect(page.get_by_text("None yet")).to_have_count(2)
    expect(
        page.get_by_text("Words cannot be used: the vectors of these items come without a model for words")
    ).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)
    page.get_by_role("region", name="Items to choose from").get_by_role("button").first.click()
    expect(page.get_by_role("region", name=MOST).get_by_role("img")).to_have_count(8)
    expect(page.get_by_text("None yet")).to_have_count(1)
    assert owner.problems == []


def test_the_side_of_a_click_stays_visible_on_a_phone(join: Join) -> None:
    page = join("sentences", owner=True, device="narrow").page
    page.get_by_role("region", name="Items to choose from").get_by_role("button").last.scroll_into_view_if_needed()
    expect(page.get_by_role("heading", level=1)).not_to_be_in_viewport()
    expect(page.get_by_role("group", name="Items that you click are")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(("device", "theme"), [("wide", "light"), ("narrow", "dark")])
@pytest.mark.parametrize("media", ["sentiment others label 2", "sentences", "pictures tick 4"])
def test_the_first_screen(join: Join, media: str, device: str, theme: str) -> None:
    owner = join(media, owner=True, device=device, color_scheme=theme)
    page = owner.page
    if media.startswith("sentiment"):
        field(page, LIKE).fill("happy, excellent")
        field(page, UNLIKE).fill("terrible")
    page.get_by_role("region", name="Items to choose from").get_by_role("button").first.click()
    expect(listed(page, MOST)).to_have_count(8)
    look(page, f"start-{media.split()[0]}-{device}-{theme}")
    wider = "parts => parts.filter(part => part.scrollWidth > part.clientWidth).map(part => part.className)"
    assert page.locator("form.start, .start-side, .picks-part").evaluate_all(wider) == []
    expect(page.get_by_role("button", name="Begin")).to_be_in_viewport(ratio=1)
    assert small_targets(page, device) == []
    assert owner.problems == []


def test_the_settings_show_the_texts_of_examples_named_by_id(join: Join) -> None:
    page = join("sentences", owner=True, path="/dashboard#settings").page
    field(page, LIKE).fill("day3")
    expect(page.get_by_text(re.compile(r"^day3: On day 3 they were welcomed warmly, .* …$"))).to_be_visible()
    field(page, LIKE).fill("")
    expect(page.get_by_text(re.compile("^day3:"))).to_have_count(0)


def test_an_item_becomes_an_example_on_its_page(join: Join) -> None:
    owner = join("sentiment started rank 4", owner=True)
    page = owner.page
    page.goto(f"{owner.server.base}/dashboard#settings")
    expect(page.get_by_label("Like what you are looking for")).to_have_value("")
    page.get_by_role("link", name="Items", exact=True).click()
    item = page.locator(".item-button").first.get_attribute("data-id") or ""
    page.locator(".item-button").first.click()
    chosen = page.get_by_role("region", name="The chosen item")
    for side, name in (("like", "Like it"), ("unlike", "Unlike it")):
        with page.expect_response(lambda reply: reply.request.method == "PUT" and reply.ok):
            chosen.get_by_role("button", name=name, exact=True).click()
        saved = owner.server.call("GET", "/api/settings")
        assert [len(saved["like"]), len(saved["unlike"])] == ([1, 0] if side == "like" else [0, 1])
    page.get_by_role("link", name="Settings", exact=True).click()
    expect(page.get_by_label("Unlike it")).to_have_value(item)
