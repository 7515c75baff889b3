"""The whole story: from the first question to a classifier in hand, for the owner and for those invited."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from tellmore.data.bundled import demo_pool
from tests.browser.conftest import DEVICES, Join
from tests.browser.looking import look
from tests.browser.person import Person

GLANCE = "Learnt so far, on items nobody was asked about"


def positive() -> dict[str, bool]:
    """What the bundled words are, by themselves."""
    words = demo_pool()
    assert words.scores is not None
    return dict(zip(words.text or words.ids, words.scores.labels().tolist(), strict=True))


def label(person: Person, truth: dict[str, bool]) -> None:
    word = person.page.locator(".subject .item").inner_text()
    question = person.question_id()
    person.page.keyboard.press("1" if truth[word] else "2")
    expect(person.page.locator(f"section[data-question='{question}']")).to_have_count(0)


def heading(person: Person) -> str:
    return person.page.get_by_role("heading", level=1).inner_text()


@pytest.mark.parametrize(("device", "theme"), [("wide", "light"), ("narrow", "dark")])
def test_from_the_first_question_to_a_classifier_that_classifies(
    join: Join, tmp_path: Path, device: str, theme: str
) -> None:
    truth = positive()
    # Each run has a project of its own: it comes to an end.
    size = 2 + 2 * list(DEVICES).index(device) + ["light", "dark"].index(theme)
    owner = join(f"few label {size}", owner=True, device=device, color_scheme=theme)
    expect(owner.page.get_by_role("heading", level=1)).to_have_text("What are you looking for?")
    owner.page.get_by_role("button", name="Skip").click()
    owner.card.wait_for()
    expect(owner.page.locator(".progress")).to_contain_text("accuracy: too early to tell")
    for _ in range(8):
        label(owner, truth)
    expect(owner.page.get_by_role("heading", name=GLANCE)).to_be_visible()
    look(owner.page, f"glance-{device}-{theme}")
    owner.page.get_by_role("button", name="Hide").click()
    expect(owner.page.get_by_role("heading", name=GLANCE)).to_have_count(0)
    while heading(owner) != "Every item has a label":
        label(owner, truth)
    look(owner.page, f"end-{device}-{theme}")
    owner.page.reload()
    expect(owner.page.get_by_role("heading", level=1)).to_have_text("Every item has a label")
    expect(owner.page.get_by_role("button", name="Go on for more")).to_have_count(0)
    owner.page.get_by_role("link", name="Take the classifier").click()
    with owner.page.expect_download() as download:
        owner.page.get_by_role("button", name="Download: Classifier, NumPy").click()
    download.value.save_as(tmp_path / "classifier.npz")
    words = demo_pool().subset(np.arange(24))
    belief = np.load(tmp_path / "classifier.npz")
    predicted = belief["mean"][0] + words.X @ belief["mean"][1:] > 0
    told = np.array([truth[text] for text in words.text or words.ids])
    assert np.mean(predicted == told) > 0.8
    guest = owner.server.invite("Kim")
    owner.page.goto(guest.url)
    expect(owner.page.get_by_role("heading", level=1)).to_have_text("Go on as Kim?")
    look(owner.page, f"switch-{device}-{theme}")
    owner.page.get_by_role("link", name="Go on as Kim").click()
    expect(owner.page.get_by_role("heading", level=1)).to_have_text("Done, thank you")
    expect(owner.page.locator(".progress")).not_to_contain_text("accuracy")
    look(owner.page, f"done-{device}-{theme}")


def test_the_owner_ends_and_goes_on(join: Join) -> None:
    owner = join("few label 9", owner=True, path="/dashboard")
    owner.page.get_by_role("button", name="End the questions").click()
    expect(owner.page.get_by_role("heading", name="The questions have ended")).to_be_visible()
    owner.page.goto(owner.server.base)
    expect(owner.page.get_by_role("heading", level=1)).to_have_text("The questions have ended")
    owner.page.get_by_role("button", name="Go on for more").click()
    owner.card.wait_for()
    assert owner.problems == []


def test_annotators_see_their_quota_and_nothing_of_the_classifier(join: Join) -> None:
    worker = join("few label 10")
    worker.server.call("PUT", "/api/settings", {"quota": 9})
    worker.page.reload()
    for done in range(9):
        expect(worker.page.locator(".progress")).to_contain_text(f"{done} of 9 answers")
        expect(worker.page.locator(".progress")).not_to_contain_text("accuracy")
        expect(worker.page.get_by_role("heading", name=GLANCE)).to_have_count(0)
        label(worker, positive())
    expect(worker.page.get_by_role("heading", level=1)).to_have_text("Done, thank you")


def test_an_item_is_found_looked_into_and_labelled(join: Join) -> None:
    owner = join("label 6", owner=True, path="/dashboard#items")
    words = demo_pool().subset(np.arange(150))
    wanted = (words.text or words.ids)[77]
    expect(owner.page.locator(".item-button")).to_have_count(50)
    owner.page.get_by_label("Search").fill(wanted.upper())
    chosen = owner.page.get_by_role("button", name=wanted, exact=True)
    expect(chosen).to_be_visible()
    chosen.click()
    detail = owner.page.get_by_role("region", name="The item chosen")
    expect(detail).to_contain_text("Answered: –")
    detail.get_by_role("button", name="negative", exact=True).click()
    owner.page.get_by_label("Search").fill("")
    owner.page.get_by_label("Show").select_option("answered")
    expect(owner.page.get_by_role("row", name=wanted)).to_contain_text("negative")
    asked = owner.server.events("owner", "question")[-1]
    assert (asked["payload"]["why"], asked["payload"]["items"]) == ("direct", [words.ids[77]])
    assert owner.problems == []


def test_what_cannot_be_downloaded_is_said_in_words(join: Join) -> None:
    owner = join("label 6", owner=True)
    offered = owner.server.call("GET", "/api/exports")
    offered[0]["install"] = "pip install 'tellmore[onnx]'"
    owner.page.route("**/api/exports", lambda route: route.fulfill(json=offered))
    refusal = {"error": "skops is not installed; install it with: pip install 'tellmore[sklearn]'"}
    owner.page.route("**/api/export/sklearn", lambda route: route.fulfill(status=501, json=refusal))
    owner.page.goto(owner.server.base + "/dashboard#export")
    expect(owner.page.get_by_role("button", name="Download: Classifier, ONNX")).to_be_disabled()
    expect(owner.page.get_by_text("Add it there with: pip install 'tellmore[onnx]'")).to_be_visible()
    owner.page.get_by_role("button", name="Download: Classifier, scikit-learn").click()
    expect(owner.page.get_by_text(f"Not downloaded: {refusal['error']}")).to_be_visible()
