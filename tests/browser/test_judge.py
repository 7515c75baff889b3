"""The judge's page, and how well rare positives are found."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Join
from tests.browser.looking import look, small_targets
from tests.browser.test_dashboard import figure, open_view


def test_it_shows_what_the_server_counts(join: Join) -> None:
    owner = join("judged", owner=True, path="/dashboard")
    open_view(owner, "Judge")
    expect(owner.page.get_by_text("150 of 150 items have one. 40 random answers.")).to_be_visible()
    found = owner.server.call("GET", "/api/judge")["verdict"]
    assert figure(owner.page, "Agrees with people") == f"{100 * found['agreement']['estimate']:.0f} %"
    assert figure(owner.page, "Share of positive") == f"{100 * found['share']['estimate']:.1f} %"
    assert figure(owner.page, "To halve that interval") == str(found["share"]["more_to_halve"])
    confused = owner.page.get_by_role("region", name="What it confuses").get_by_role("row")
    expect(confused.nth(1)).to_contain_text(f"judge: positive{found['both_positive']}{found['judge_only']}")
    expect(confused.nth(2)).to_contain_text(f"judge: negative{found['people_only']}{found['both_negative']}")
    wrong = owner.page.get_by_role("region", name="Where it is wrong most often").get_by_role("row")
    expect(wrong).to_have_count(11)
    expect(wrong.nth(1)).to_contain_text(found["wrong_most"][0]["item"])
    bins = owner.page.get_by_role("region", name="Can its scores be read as probabilities?").get_by_role("row")
    expect(bins).to_have_count(1 + len(found["calibration"]))
    assert owner.problems == []


def test_the_owner_chooses_scores_and_says_what_is_positive(join: Join) -> None:
    owner = join("judged", owner=True, path="/dashboard#judge")
    page = owner.page
    expect(page.get_by_role("region", name="What it confuses")).to_be_visible()
    page.get_by_role("combobox", name="Scores").select_option("filter")
    page.get_by_role("button", name="Judge").click()
    expect(page.get_by_text("say which means positive with --positive-value")).to_be_visible()
    expect(page.get_by_role("region", name="What it confuses")).to_have_count(0)
    page.get_by_label("Positive value").fill("spam")
    page.get_by_role("button", name="Judge").click()
    expect(page.get_by_text("words, positive: spam; negative: ham")).to_be_visible()
    expect(page.get_by_role("region", name="What it confuses")).to_be_visible()


def test_it_follows_the_answers(join: Join) -> None:
    owner = join("judged", owner=True, path="/dashboard#judge")
    about = owner.page.locator(".judge-form + .hint")
    expect(about).to_contain_text("random answers")
    owner.page.get_by_label("Threshold").fill("0.7")
    worker = join("judged")
    checks = owner.server.call("GET", "/api/judge")["verdict"]["checks"]
    while owner.server.call("GET", "/api/judge")["verdict"]["checks"] == checks:
        worker.submit({"type": "label", "positive": True}, lambda: worker.page.keyboard.press("1"))
    expect(about).to_contain_text(f"{checks + 1} random answers")
    expect(owner.page.get_by_label("Threshold")).to_have_value("0.7")


def test_without_scores_one_line_says_how_to_get_some(join: Join) -> None:
    owner = join("rank 5", owner=True, path="/dashboard#judge")
    expect(owner.page.get_by_text("--keep-column NAME")).to_be_visible()
    expect(owner.page.get_by_role("button", name="Judge")).to_have_count(0)


def test_rare_positives_have_measures_of_their_own(join: Join) -> None:
    owner = join("judged", owner=True, path="/dashboard")
    view = owner.page.get_by_role("region", name="How well positive items are found")
    quality = owner.server.call("GET", "/api/dashboard")["quality"]
    assert quality["prevalence"]["estimate"] < 1 / 3
    expect(view).to_contain_text("Recall")
    expect(view).to_contain_text(
        f"{100 * quality['recall']['low']:.0f} to {100 * quality['recall']['high']:.0f}\u00a0%"
    )


@pytest.mark.parametrize(("device", "theme"), [("wide", "light"), ("narrow", "dark")])
def test_the_screen(join: Join, device: str, theme: str) -> None:
    owner = join("judged", owner=True, device=device, color_scheme=theme, path="/dashboard#judge")
    expect(owner.page.get_by_role("region", name="Where it is wrong most often")).to_be_visible()
    look(owner.page, f"dashboard-judge-{device}-{theme}")
    assert small_targets(owner.page, device) == []
    hidden = "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth).map(box => box.ariaLabel)"
    assert owner.page.locator(".scroller").evaluate_all(hidden) == []
