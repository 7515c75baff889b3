"""The whole story: from the first question to a classifier in hand, for the owner and for those invited."""

from __future__ import annotations

import csv
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tellmore.data.bundled import demo_pool
from tests.browser.conftest import DEVICES, PATIENCE_MS, Join
from tests.browser.looking import look
from tests.browser.person import Person
from tests.browser.serving import run_tellmore, serving

ENDS = ("Every item has a label", "You can stop")
"""Which of them comes first depends on the order of the questions."""
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
    expect(person.page.locator("section.card[data-shown], section.notice")).to_be_visible()


def heading(person: Person) -> str:
    return person.page.get_by_role("heading", level=1).inner_text()


def by_keyboard(control: Locator) -> None:
    """Reach ``control`` with Tab and press it with Enter."""
    for _ in range(80):
        if control.evaluate("one => one === document.activeElement"):
            return control.page.keyboard.press("Enter")
        control.page.keyboard.press("Tab")
    raise AssertionError("Tab does not lead there")


def download(page: Page, what: str, path: Path, act: Callable[[Locator], None] = Locator.click) -> None:
    """Press the button of the page Export and keep the file."""
    with page.expect_download() as coming:
        act(page.get_by_role("button", name=f"Download: {what}"))
    coming.value.save_as(path)


looks = pytest.mark.parametrize(("device", "theme"), [("wide", "light"), ("narrow", "dark")])


@looks
def test_from_the_first_question_to_a_classifier_that_classifies(
    join: Join, tmp_path: Path, device: str, theme: str
) -> None:
    truth = positive()
    # The wide one is run by keyboard alone. Each run has its own project, because its questions end.
    size = 2 + 2 * list(DEVICES).index(device) + ["light", "dark"].index(theme)
    owner = join(f"few label {size}", owner=True, device=device, color_scheme=theme)
    expect(owner.page.get_by_role("heading", level=1)).to_have_text("What are you looking for?")
    act = by_keyboard if device == "wide" else Locator.tap
    act(owner.page.get_by_role("button", name="Skip"))
    owner.card.wait_for()
    expect(owner.page.locator(".progress")).to_contain_text("accuracy: too early to tell")
    for _ in range(8):
        label(owner, truth)
    expect(owner.page.get_by_role("heading", name=GLANCE)).to_be_visible()
    look(owner.page, f"glance-{device}-{theme}")
    act(owner.page.get_by_role("button", name="Hide"))
    expect(owner.page.get_by_role("heading", name=GLANCE)).to_have_count(0)
    while heading(owner) not in ENDS:
        label(owner, truth)
    end = heading(owner)
    look(owner.page, f"end-{device}-{theme}")
    owner.page.reload()
    expect(owner.page.get_by_role("heading", level=1)).to_have_text(end)
    expect(owner.page.get_by_role("button", name="Keep answering")).to_have_count(int(end != ENDS[0]))
    act(owner.page.get_by_role("link", name="Get the classifier"))
    owner.page.get_by_role("button", name="Download: Classifier, NumPy").wait_for()
    download(owner.page, "Classifier, NumPy", tmp_path / "classifier.npz", act)
    words = demo_pool().subset(np.arange(24))
    belief = np.load(tmp_path / "classifier.npz")
    predicted = belief["mean"][0] + words.X @ belief["mean"][1:] > 0
    told = np.array([truth[text] for text in words.text or words.ids])
    assert np.mean(predicted == told) > 0.8
    guest = owner.server.invite("Kim")
    owner.page.goto(guest.url)
    expect(owner.page.get_by_role("heading", level=1)).to_have_text("Continue as Kim?")
    look(owner.page, f"switch-{device}-{theme}")
    owner.page.get_by_role("link", name="Continue as Kim").click()
    expect(owner.page.get_by_role("heading", level=1)).to_have_text("Done, thank you")
    expect(owner.page.locator(".progress")).not_to_contain_text("accuracy")
    look(owner.page, f"done-{device}-{theme}")


FRIENDLY = ["warm", "kind", "friendly", "gentle", "sunny", "helpful", "cheerful", "lovely", "generous", "welcoming"]
HOSTILE = ["rude", "cold", "broken", "noisy", "dirty", "slow", "hostile", "bitter", "careless", "awful"]


def remark(words: random.Random, friendly: bool) -> str:
    one, two, three = words.sample(FRIENDLY if friendly else HOSTILE, 3)
    return f"The {words.choice(['waiter', 'room', 'guide', 'hotel', 'clerk'])} was {one} and {two}, also {three}."


def is_friendly(text: str) -> bool:
    return any(word in text for word in FRIENDLY)


def add_texts(page: Page, content: str, encoding: str = "utf-8") -> None:
    """Choose a CSV file on the page of items, and send it."""
    page.get_by_label("File").set_input_files(
        {"name": "new.csv", "mimeType": "text/csv", "buffer": content.encode(encoding)}
    )
    page.get_by_role("button", name="Add texts").click()


@looks
def test_own_texts_settle_and_their_classifier_reads_new_ones(
    browser: Browser, tmp_path: Path, device: str, theme: str
) -> None:
    act = Locator.click if device == "wide" else Locator.tap
    words = random.Random(0)
    texts = [remark(words, number % 2 == 0) for number in range(60)]
    with (tmp_path / "items.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *((f"t{row}", text) for row, text in enumerate(texts))])
    run_tellmore(tmp_path, *["init", "remarks", "--items", "items.csv", "--embed", "tfidf", "--attribute", "friendly"])
    settings = tmp_path / "remarks" / "tellmore.toml"
    asked = settings.read_text().replace('question = "auto"', 'question = "label"')
    settings.write_text(asked.replace("check_share = 0.1", "check_share = 0.5"))
    options = {**DEVICES[device], "color_scheme": theme}
    with (
        serving(tmp_path / "remarks", "serve", str(tmp_path / "remarks"), "--no-browser") as server,
        browser.new_context(**options) as context,
    ):
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(server.url)
        owner = Person(page, server, "owner")
        act(page.get_by_role("button", name="Skip"))
        owner.card.wait_for()
        end = page.get_by_role("heading", name="You can stop")
        for _ in range(60):
            question, yes = owner.question_id(), is_friendly(page.locator(".subject .item").inner_text())
            act(page.locator(".verdict").nth(0 if yes else 1))
            expect(page.locator(f"section.card:not([data-question='{question}'])")).to_be_visible()
            if end.count():
                break
        expect(end).to_be_visible()
        expect(page.locator("section.card")).to_contain_text("random")
        look(page, f"settled-{device}-{theme}")
        page.goto(f"{server.base}/dashboard#items")
        act(page.locator("summary", has_text="Add texts"))
        add_texts(page, "name,words\nn1,a\n")
        expect(page.get_by_text("The first row must name the columns 'id' and 'text'")).to_be_visible()
        expect(page.get_by_label("Encoding")).to_be_hidden()
        look(page, f"add-texts-{device}-{theme}")
        added = "".join(f'n{row},"{remark(words, row < 15)} Où était le café près de l’hôtel?"\n' for row in range(30))
        add_texts(page, f"id,text\n{added}", "mac_roman")
        expect(page.get_by_text("Nothing was added yet: this file is not UTF-8.")).to_be_visible()
        expect(page.get_by_label("Encoding").locator("option").first).to_contain_text("mac-roman:")
        expect(page.get_by_label("Encoding").locator("option").first).to_contain_text("café près")
        look(page, f"encoding-{device}-{theme}")
        act(page.get_by_role("button", name="Add texts"))
        expect(page.get_by_text("30 texts were added, and all answers were learnt again.")).to_be_visible()
        page.get_by_label("Order").select_option("pool")
        expect(page.get_by_text("1 to 50 of 90 items")).to_be_visible()
        act(page.get_by_role("link", name="Export"))
        download(page, "Classifier, ONNX", tmp_path / "classifier.zip", act)
    zipfile.ZipFile(tmp_path / "classifier.zip").extractall(tmp_path / "taken")
    new = [remark(words, number < 10).lower() for number in range(20)]
    [tfidf] = (tmp_path / "taken").glob("*tfidf*.onnx")
    [classifier] = set((tmp_path / "taken").glob("*.onnx")) - {tfidf}
    first, second = onnxruntime.InferenceSession(tfidf), onnxruntime.InferenceSession(classifier)
    [vectors] = first.run(None, {first.get_inputs()[0].name: np.array(new, dtype=object)})[:1]
    probability = second.run(["probability"], {second.get_inputs()[0].name: vectors})[0].ravel()
    assert np.mean((probability > 0.5) == np.array([is_friendly(text) for text in new])) > 0.9


def test_the_owner_ends_and_goes_on(join: Join) -> None:
    owner = join("few label 9", owner=True, path="/dashboard")
    owner.page.get_by_role("button", name="End the questions").click()
    expect(owner.page.get_by_role("heading", name="The questions have ended")).to_be_visible()
    owner.page.goto(owner.server.base)
    expect(owner.page.get_by_role("heading", level=1)).to_have_text("The questions have ended")
    owner.page.get_by_role("button", name="Keep answering").click()
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
    detail = owner.page.get_by_role("region", name="The chosen item")
    expect(detail).to_contain_text("Not answered yet.")
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
