"""The owner's dashboard: live, clear about what it does, and careful with what cannot be undone."""

from __future__ import annotations

import csv
import io
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tellmore.app.exports import EXPORTS
from tests.browser.conftest import GetServer, Join
from tests.browser.looking import PHONE
from tests.browser.person import Person


def figure(page: Page, label: str) -> str:
    """The large figure of the tile with this label."""
    tile = page.locator(".tile", has=page.locator("dt", has_text=label))
    return tile.locator("strong").inner_text().replace("\u00a0", " ")


def open_details(owner: Person) -> None:
    """Plots and rates are folded away until somebody asks for them."""
    owner.page.locator("summary", has_text="Details").click()


def open_view(owner: Person, name: str) -> None:
    owner.page.get_by_role("link", name=name).click()
    expect(owner.page.get_by_role("heading", level=1)).to_have_text(name)


def eventually(holds: Callable[[], bool], within_s: float = 30) -> None:
    """The dashboard follows the log within moments, not at once."""
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.1)


def answer(person: Person, times: int) -> None:
    for _ in range(times):
        person.submit(person.ranking(), lambda: person.page.keyboard.press("r"))


def test_it_follows_the_work_without_reload(join: Join) -> None:
    owner = join("rank 5", owner=True, path="/dashboard")
    expect(owner.page.locator(".status")).to_have_text("Live")
    before = int(figure(owner.page, "Answers"))
    worker = join("rank 5")
    answer(worker, 3)
    answers = before + 3
    expect(owner.page.locator(".tile strong").first).to_have_text(str(answers))
    open_details(owner)
    plots = owner.page.locator(".plot canvas")
    while plots.count() < 5 and answers < before + 60:  # accuracy is drawn from the first random check on
        answer(worker, 1)
        answers += 1
        expect(owner.page.locator(".tile strong").first).to_have_text(str(answers))
    expect(plots).to_have_count(5)
    expect(owner.page.get_by_text(f"after {answers} answers")).to_be_visible()
    owner.page.get_by_label("Over minutes").check(force=True)
    expect(owner.page.get_by_role("region", name="Bits per second by question kind and size")).to_be_visible()
    assert owner.problems == []


def test_it_is_live_again_after_a_proxy_has_refused(join: Join) -> None:
    owner = join("rank 5", owner=True)
    refused: list[str] = []

    def refuse_once(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=502)

    owner.page.route("**/api/events", refuse_once)
    owner.page.goto(owner.server.base + "/dashboard")
    expect(owner.page.locator(".status")).to_have_text("Offline, retrying")
    expect(owner.page.locator(".status")).to_have_text("Live")


def test_what_failed_while_the_server_was_away_is_shown_once_it_is_back(join: Join) -> None:
    owner = join("rank 5", owner=True)
    away = [True]
    owner.page.route("**/api/events", lambda route: route.fulfill(status=502) if away[0] else route.continue_())
    owner.page.route("**/api/items?*", lambda route: route.abort() if away[0] else route.continue_())
    owner.page.goto(owner.server.base + "/dashboard#items")
    alert = owner.page.get_by_role("alert")
    expect(alert).to_have_text("The server cannot be reached.")
    away[0] = False
    expect(owner.page.locator(".status")).to_have_text("Live")
    expect(owner.page.locator(".item-button").first).to_be_visible()
    expect(alert).to_have_text("")


def test_every_plot_and_table_is_there(join: Join) -> None:
    worker = join("rank 5")
    answer(worker, 1)
    owner = join("rank 5", owner=True, path="/dashboard")
    expect(owner.page.get_by_role("heading", name="Uncertainty", exact=True)).to_be_hidden()
    open_details(owner)
    for title in (
        "What it got wrong",
        "Who did what",
        "Uncertainty",
        "Accuracy on random checks",
        "Bits per answer",
        "Scores",
        "Most efficient question",
        "Least certain",
    ):
        expect(owner.page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    for label in ("Answers", "Time spent", "Called positive", "Asking now"):
        assert figure(owner.page, label)
    shown = owner.server.call("GET", "/api/dashboard")
    expect(owner.page.get_by_role("region", name="Most likely positive")).to_contain_text(
        shown["most_positive"][0]["text"]
    )
    expect(owner.page.get_by_role("region", name="Most likely negative")).to_contain_text(
        shown["most_negative"][0]["text"]
    )


def test_the_owner_undoes_from_the_log(join: Join) -> None:
    worker = join("rank 5")
    answer(worker, 1)
    owner = join("rank 5", owner=True, path="/dashboard")
    open_view(owner, "Answers")
    row = owner.page.get_by_role("row").nth(1)
    expect(row).to_contain_text(" › ".join(worker.given[0][1]["order"][:3]))
    row.get_by_role("button", name="Undo").click()
    owner.page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    expect(owner.page.get_by_role("row").nth(1)).to_contain_text("undone")
    assert [event["question_id"] for event in owner.server.events("owner", "undo")][-1] == worker.given[0][0]


def test_settings_are_previewed_and_saved(join: Join) -> None:
    owner = join("label 3", owner=True, path="/dashboard#settings")
    expect(owner.page.locator(".preview .headline")).to_have_text("Is this positive or negative?")
    owner.page.get_by_label("Word for positive").fill("warm")
    owner.page.get_by_label("Word for negative").fill("cold")
    expect(owner.page.locator(".preview .headline")).to_have_text("Is this warm or cold?")
    assert owner.server.call("GET", "/api/settings")["positive"] == "positive", "nothing is saved by looking"
    owner.page.get_by_role("button", name="Save").click()
    expect(owner.page.get_by_text("Saved.", exact=True)).to_be_visible()
    assert owner.server.call("GET", "/api/settings")["positive"] == "warm"
    worker = join("label 3")
    expect(worker.page.get_by_role("button", name=re.compile("^Warm"))).to_be_visible()


def test_the_size_of_a_fixed_kind_is_previewed_and_saved(join: Join) -> None:
    owner = join("rank 7", owner=True, path="/dashboard#settings")
    expect(owner.page.locator(".preview .row:not(.divider)")).to_have_count(7)
    owner.page.get_by_label("Items per question (fixed kind)").fill("3")
    expect(owner.page.locator(".preview .row:not(.divider)")).to_have_count(3)
    owner.page.get_by_role("button", name="Save").click()
    expect(owner.page.get_by_text("Saved.", exact=True)).to_be_visible()
    assert owner.server.call("GET", "/api/settings")["set_size"] == 3


def test_an_impossible_setting_is_refused_in_words(join: Join) -> None:
    owner = join("label 3", owner=True, path="/dashboard#settings")
    expect(owner.page.locator(".preview .headline")).to_be_visible()
    for box in owner.page.locator("input[name=kinds]:checked").all():
        box.uncheck()
    owner.page.get_by_role("button", name="Save").click()
    expect(owner.page.get_by_text("Not saved: kinds: choose at least one.")).to_be_visible()
    assert owner.server.call("GET", "/api/settings")["kinds"]


def test_a_start_is_named_by_text_and_checked(join: Join) -> None:
    owner = join("label 5", owner=True, path="/dashboard#settings")
    shown = owner.server.call("GET", "/api/dashboard")
    like = owner.page.get_by_label("Like what you are looking for")
    for field, extreme in ((like, "most_negative"), (owner.page.get_by_label("Unlike it"), "most_positive")):
        field.fill(f"{shown[extreme][0]['text'].upper()}\n\n{shown[extreme][1]['id']}\n")
    expect(owner.page.get_by_text("Not saved yet.")).to_be_visible()
    listed = owner.page.get_by_role("region", name="Most like it, before any answers")
    expect(listed.locator("li")).to_have_count(8)
    like.scroll_into_view_if_needed()
    expect(listed, "what is typed and what it finds are on one screen").to_be_in_viewport()
    like.press_sequentially("xyzzy")
    expect(owner.page.locator(".settings-form + .hint")).to_contain_text("'xyzzy'")
    owner.page.get_by_role("button", name="Save").click()
    expect(owner.page.get_by_text("'xyzzy'")).to_have_count(1)
    for _ in "xyzzy":
        like.press("Backspace")
    owner.page.get_by_role("button", name="Save").click()
    expect(owner.page.get_by_text("Saved.", exact=True)).to_be_visible()
    known = [item["id"] for item in shown["most_negative"][:2]]
    saved = [known[0].upper(), known[1]]
    assert owner.server.call("GET", "/api/settings")["like"] == saved
    expect(like).to_have_value("\n".join(saved))
    eventually(lambda: known[0] not in [i["id"] for i in owner.server.call("GET", "/api/dashboard")["most_negative"]])


def test_ties_are_allowed_by_a_check_box_and_previewed(join: Join) -> None:
    owner = join("rank 3", owner=True, path="/dashboard#settings")
    expect(owner.page.locator(".preview .headline")).to_be_visible()
    expect(owner.page.locator(".preview .level")).to_have_count(0)
    owner.page.get_by_label("Allow ties and partial rankings").check()
    expect(owner.page.locator(".preview .level")).to_have_count(3)
    owner.page.get_by_role("button", name="Save").click()
    expect(owner.page.get_by_text("Saved.", exact=True)).to_be_visible()
    worker = join("rank 3").seek("rank")
    expect(worker.page.get_by_role("button", name="The rest are tied")).to_be_visible()


def test_an_invitation_lets_a_person_in_until_it_is_revoked(join: Join) -> None:
    owner = join("rank 5", owner=True, path="/dashboard#people")
    owner.page.get_by_label("Name").fill("Kim")
    owner.page.get_by_role("button", name="Create a link").click()
    link = owner.page.get_by_label("Link for Kim").input_value()
    browser = owner.page.context.browser
    assert browser is not None
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(link)
        expect(page.locator("section.card[data-shown]")).to_be_visible()
        assert "token" not in page.url
        expect(page.get_by_role("link", name="Dashboard")).to_have_count(0)
        owner.page.get_by_role("button", name="Revoke the link of Kim").click()
        owner.page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        expect(owner.page.get_by_role("row", name=re.compile("Kim.*revoked"))).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name="No access")).to_be_visible()


def test_a_double_click_makes_one_link_and_one_answer(join: Join) -> None:
    owner = join("sentiment twice rank 5", owner=True, path="/dashboard#people")
    page = owner.page
    page.get_by_label("Name").fill("Lee")
    page.get_by_role("button", name="Create a link").dblclick()
    expect(page.get_by_label("Link for Lee")).to_be_visible()
    page.goto(owner.server.base + "/dashboard#items")
    page.locator(".item-button").first.click()
    page.get_by_role("region", name="The chosen item").get_by_role("button", name="negative", exact=True).dblclick()
    expect(page.get_by_text("Answered: negative.")).to_be_visible()
    assert len(owner.server.call("GET", "/api/invitations")) == 1
    assert owner.server.call("GET", "/api/dashboard")["answers"] == 1


def test_a_chosen_item_is_shown_from_its_top_on_a_phone(join: Join) -> None:
    owner = join("reviews tick 12", owner=True, device="narrow", path="/dashboard#items")
    first = [row["id"] for row in owner.server.call("GET", "/api/items?limit=8")["rows"]]
    for item in first:
        owner.server.call("POST", "/api/labels", {"item": item, "positive": True})
    eventually(lambda: len(owner.server.call("GET", f"/api/items/{first[0]}/why")["nearest"]) >= 5)
    owner.page.locator(".item-button", has_text="welcomed").nth(12).click()
    expect(owner.page.locator(".detail")).to_be_focused()
    height = owner.page.locator(".detail").evaluate("panel => panel.offsetHeight")
    assert height > PHONE["height"], "otherwise there is nothing to scroll"
    expect(owner.page.get_by_role("button", name="Close")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(("width", "lines"), [(360, 2), (1440, 1)])
def test_several_words_for_negative_keep_to_few_lines(join: Join, width: int, lines: int) -> None:
    owner = join("sentences", owner=True)
    owner.server.call("PUT", "/api/settings", {"negative": "not about to leave"})
    owner.server.call("POST", "/api/labels", {"item": "day3", "positive": False})
    owner.page.set_viewport_size({"width": width, "height": 900})
    owner.page.goto(owner.server.base + "/dashboard#items")
    told = owner.page.locator("td .brief", has_text="not about to leave")
    expect(told).to_be_visible()
    height = told.evaluate("told => told.clientHeight / parseFloat(getComputedStyle(told).lineHeight)")
    assert round(height) == lines


@pytest.mark.parametrize("width", [360, 720, 1280, 1440])
def test_people_with_warnings_fit_on_the_page(join: Join, width: int) -> None:
    """At 200 % zoom, a page of 1440 px is 720 px wide."""
    join("rank 5")
    owner = join("rank 5", owner=True)
    data = owner.server.call("GET", "/api/dashboard")
    person = data["annotators"][0]
    person |= {"name": "Somebody with a name", "answers": 123, "skips": 45, "undone": 6}
    person |= {"last_utc": "2026-01-01T12:00:00.000Z", "open": True}
    person["reliability"] |= {"warning": "agrees with others no more than by chance"}
    person["manner"] |= {"habits": "92 % of 276 labels; guessing: 92 %"}
    owner.page.route("**/api/dashboard", lambda route: route.fulfill(json=data))
    owner.page.set_viewport_size({"width": width, "height": 900})
    owner.page.goto(owner.server.base + "/dashboard#people")
    expect(owner.page.get_by_role("button", name="Leave out the answers of Somebody with a name")).to_be_visible()
    table = owner.page.get_by_role("region", name="Annotators")
    assert table.evaluate("table => table.scrollWidth - table.clientWidth") <= 0


def test_one_persons_data_is_deleted_after_a_confirmation(join: Join) -> None:
    worker = join("rank 5")
    answer(worker, 2)
    owner = join("rank 5", owner=True, path="/dashboard#people")
    name = next(
        person["name"]
        for person in owner.server.call("GET", "/api/dashboard")["annotators"]
        if person["participant"] == worker.participant
    )
    delete = owner.page.get_by_role("button", name=f"Delete the data of {name}", exact=True)
    delete.click()
    owner.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert len(worker.server.answers(worker.participant)) == 2
    delete.click()
    owner.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(delete).to_have_count(0)
    kept = worker.server.events(worker.participant, "answer")
    assert len(kept) == 2, "the log keeps that there was something"
    assert all("answer" not in event["payload"] for event in kept)


def test_reset_asks_for_the_projects_name(join: Join) -> None:
    worker = join("label 4")
    worker.submit({"type": "label", "positive": True}, lambda: worker.page.keyboard.press("1"))
    owner = join("label 4", owner=True, path="/dashboard#settings")
    for typed, answers in (("something else", 1), ("Word sentiment", 0)):
        owner.page.get_by_role("button", name="Reset the project…").click()
        owner.page.get_by_label(re.compile("Type the project’s name")).fill(typed)
        owner.page.keyboard.press("Enter")
        expect(owner.page.get_by_role("dialog")).to_have_count(0)
        if answers:
            expect(owner.page.get_by_role("alert")).to_have_text("Type the project's name to reset it.")
            expect(owner.page.get_by_role("alert")).to_be_in_viewport(ratio=1)
        else:
            expect(owner.page.get_by_role("alert")).to_be_empty()
            expect(owner.page.get_by_text("The project has been reset.")).to_be_in_viewport(ratio=1)
        eventually(lambda count=answers: owner.server.call("GET", "/api/dashboard")["answers"] == count)


def test_every_export_button_gives_a_file(join: Join, tmp_path: Path) -> None:
    worker = join("rank 5")
    answer(worker, 1)
    owner = join("rank 5", owner=True, path="/dashboard#export")
    buttons = owner.page.get_by_role("button", name="Download")
    expect(buttons).to_have_count(len(EXPORTS))
    for button in buttons.all():
        with owner.page.expect_download() as download:
            button.click()
        target = tmp_path / download.value.suggested_filename
        download.value.save_as(target)
        assert target.stat().st_size > 0
    tables = [list(csv.DictReader(io.StringIO(path.read_text()))) for path in tmp_path.glob("*.csv")]
    assert any(row.get("question_id") == worker.given[-1][0] for table in tables for row in table)


@pytest.mark.parametrize("path", ["/dashboard", "/dashboard#people"])
def test_annotators_see_no_dashboard(join: Join, servers: GetServer, path: str) -> None:
    worker = join("rank 5", path=path)
    expect(worker.page.get_by_role("heading", name="No access to the dashboard")).to_be_visible()
