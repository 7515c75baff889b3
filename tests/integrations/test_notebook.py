"""A notebook in a real JupyterLab, answered in a real browser: what the person tells, the kernel's learner learns."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jupyterlab")
from playwright.sync_api import Locator, Page, expect, sync_playwright

pytestmark = pytest.mark.integrations

PATIENCE_MS = 60_000
SETUP = """
import json
from pathlib import Path
import numpy as np
import tellmore as tm
from PIL import Image

X = np.random.default_rng(0).normal(size=(40, 5))
KINDS = ["label", "select_high", "rank", "tick"]

def texts():
    return tm.Pool(X, text=[f"word {row}" for row in range(40)])

def pictures():
    for row in range(40):
        Image.new("RGB", (320, 240), (6 * row, 120, 255 - 6 * row)).save(f"{row}.png")
    return tm.Pool(X, images=[f"{row}.png" for row in range(40)])

def written(learner, question, answer):
    \"""Note what was told, and ask for the next kind.\"""
    line = {"kind": question.kind, "items": question.names, "answer": answer.as_json(), "answers": len(learner.history)}
    with Path("told.jsonl").open("a") as log:
        log.write(json.dumps(line | {"probabilities": learner.probabilities().tolist()}) + "\\n")
    kind = KINDS[len(learner.history) % 4]
    learner.ask_for(kind, 1 if kind == "label" else 4)
"""
TEACH = """import tellmore as tm
import setup

learner = tm.Learner(setup.{pool}(), "label", callbacks=[setup.written])
learner.widget(attribute="friendly", positive="friendly", negative="not friendly", instruction="Think of a good host.")"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a JupyterLab and the folder that it shows."""
    folder = tmp_path_factory.mktemp("notebooks")
    for name in ("texts", "pictures"):
        (folder / name).mkdir()
        (folder / name / "setup.py").write_text(SETUP)
        (folder / name / "teach.ipynb").write_text(json.dumps(notebook(TEACH.format(pool=name))))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {name: str(folder / ".jupyter") for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    options = ["--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1", "--expose-app-in-browser"]
    options += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    with (folder / "lab.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], env={**os.environ, **own}, stdout=log, stderr=log
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/api", process, folder / "lab.log")
            yield f"http://127.0.0.1:{port}", folder
        finally:
            process.terminate()
            process.wait()


def notebook(*cells: str) -> dict[str, Any]:
    made = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
        for n, source in enumerate(cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Returns once the server responds; if it ends instead, that is the failure, with its output."""
    while process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            continue
    pytest.fail(log.read_text())


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    chromium = os.environ.get("TELLMORE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.set_default_timeout(PATIENCE_MS)
        yield page
        browser.close()


class Teacher:
    """A person at a notebook."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.name, self.told = page, folder.name, folder / "told.jsonl"
        self.widget = page.locator(".tellmore-widget")

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_function(
            "window.jupyterapp?.shell?.currentWidget?.sessionContext?.isReady", timeout=PATIENCE_MS
        )
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        expect(self.widget).to_have_count(1, timeout=PATIENCE_MS)

    def card(self, kind: str) -> Locator:
        """The question on show, once it is one of this kind and can be answered."""
        card = self.widget.locator(f"section.card-{kind}[data-shown]:not([data-answered])")
        expect(card).to_be_visible(timeout=PATIENCE_MS)
        return card

    def learnt(self, answers: int) -> list[dict[str, Any]]:
        """What the kernel's learner has learnt, once the line under the card shows this many answers."""
        words = "1 answer" if answers == 1 else f"{answers} answers"
        expect(self.widget.locator(".progress li").first).to_have_text(words, timeout=PATIENCE_MS)
        lines = [json.loads(line) for line in self.told.read_text().splitlines()]
        assert lines[-1]["answers"] == answers
        return lines

    def kernel(self, code: str) -> str:
        """What ``code`` gives in the notebook's kernel."""
        run = """async code => {
          const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
          const asked = kernel.requestExecute({code, store_history: false});
          let given = "";
          asked.onIOPub = ({header, content}) => {
            if (header.msg_type === "execute_result") given = content.data["text/plain"];
            if (header.msg_type === "error") given = content.evalue;
          };
          await asked.done;
          return given;
        }"""
        return str(self.page.evaluate(run, code))

    def picture(self, name: str) -> None:
        folder = os.environ.get("TELLMORE_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"))


@pytest.fixture(params=["texts", "pictures"])
def teacher(request: pytest.FixtureRequest, lab: tuple[str, Path], page: Page) -> Teacher:
    address, folder = lab
    made = Teacher(page, folder / request.param)
    made.open(f"{address}/lab/tree/{request.param}/teach.ipynb?reset")
    return made


def test_questions_are_answered_by_mouse_and_by_keyboard(teacher: Teacher) -> None:
    by_mouse(teacher)
    by_keyboard(teacher)
    undone(teacher)
    refused(teacher)
    in_the_dark(teacher)


def by_mouse(teacher: Teacher) -> None:
    card = teacher.card("label")
    teacher.picture(f"{teacher.name}-label")
    card.get_by_role("button", name="Friendly", exact=False).first.click()
    (line,) = teacher.learnt(1)
    assert line["answer"] == {"type": "label", "positive": True}

    card = teacher.card("select_high")
    teacher.picture(f"{teacher.name}-select")
    card.locator(".option").nth(2).click()
    card.locator(".verdict").nth(1).click()
    line = teacher.learnt(2)[-1]
    assert line["answer"] == {"type": "select", "chosen": line["items"][2], "positive": False}

    card = teacher.card("rank")
    card.locator(".row .step").nth(1).click()
    teacher.picture(f"{teacher.name}-rank")
    card.locator(".button.primary").click()
    line = teacher.learnt(3)[-1]
    assert sorted(line["answer"]["order"]) == sorted(line["items"])

    card = teacher.card("tick")
    card.locator(".tick").nth(0).click()
    card.locator(".tick").nth(3).click()
    teacher.picture(f"{teacher.name}-tick")
    card.locator(".tick-send").click()
    lines = teacher.learnt(4)
    assert lines[-1]["answer"]["positive"] == [lines[-1]["items"][0], lines[-1]["items"][3]]
    beliefs = [line["probabilities"] for line in lines]
    assert all(before != after for before, after in pairwise(beliefs)), "an answer taught nothing"


def by_keyboard(teacher: Teacher) -> None:
    """The focus follows from question to question, and the notebook's own keys (1 makes a heading) stay off."""
    keys = teacher.page.keyboard
    teacher.card("label")
    keys.press("2")
    assert teacher.learnt(5)[-1]["answer"] == {"type": "label", "positive": False}

    teacher.card("select_high")
    keys.press("2")
    keys.press("+")
    line = teacher.learnt(6)[-1]
    assert line["answer"] == {"type": "select", "chosen": line["items"][1], "positive": True}

    teacher.card("rank")
    for key in ("1", "ArrowDown", "Escape", "0", "ArrowDown", "Escape", "Enter"):
        keys.press(key)
    line = teacher.learnt(7)[-1]
    first, second, *others = line["items"]
    assert (line["answer"]["order"], line["answer"]["n_positive"]) == ([second, first, *others], 3)

    teacher.card("tick")
    for key in ("1", "3", "Enter"):
        keys.press(key)
    line = teacher.learnt(8)[-1]
    assert line["answer"]["positive"] == [line["items"][0], line["items"][2]]
    assert teacher.page.locator(".jp-MarkdownCell").count() == 0


def undone(teacher: Teacher) -> None:
    """The undone answer is shown again, and can be changed."""
    teacher.card("label")
    teacher.page.keyboard.press("Backspace")
    card = teacher.card("tick")
    assert teacher.kernel("len(learner.history)") == "7"
    assert [box.is_checked() for box in card.get_by_role("checkbox").all()] == [True, False, True, False]
    teacher.page.keyboard.press("4")
    teacher.page.keyboard.press("Enter")
    line = teacher.learnt(8)[-1]
    assert line["answer"]["positive"] == [line["items"][index] for index in (0, 2, 3)]


def refused(teacher: Teacher) -> None:
    """A question that code answered meanwhile is not learnt twice; a line says so, and the next one follows."""
    before = teacher.card("label").get_attribute("data-question")
    teacher.kernel(f"learner.tell({before!r}, True)")
    teacher.page.keyboard.press("1")
    expect(teacher.widget.locator(".warning")).to_contain_text("already answered", timeout=PATIENCE_MS)
    teacher.picture(f"{teacher.name}-refused")
    assert teacher.card("select_high").get_attribute("data-question") != before
    assert teacher.kernel("len(learner.history)") == "9"


def in_the_dark(teacher: Teacher) -> None:
    """The widget has the notebook's own theme."""
    expect(teacher.widget).to_have_attribute("data-theme", "light")
    teacher.page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(teacher.widget).to_have_attribute("data-theme", "dark", timeout=PATIENCE_MS)
    teacher.picture(f"{teacher.name}-dark")
    teacher.page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")
    expect(teacher.widget).to_have_attribute("data-theme", "light", timeout=PATIENCE_MS)
