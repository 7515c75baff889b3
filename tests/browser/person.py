"""Somebody at a browser: looks at the question, answers it, and remembers what was answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.serving import Server

Answered = tuple[str, dict[str, Any]]


@dataclass
class Person:
    """``given`` is what the log must contain in the end."""

    page: Page
    server: Server
    participant: str
    given: list[Answered] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def card(self) -> Locator:
        return self.page.locator("section.card[data-shown]")

    def question_id(self) -> str:
        """The question on screen, once it has been painted."""
        return self.card.get_attribute("data-question") or ""

    def rows(self) -> list[str]:
        """Ids in a ranking from top to bottom; the divider is the empty string."""
        return self.page.locator(".ranking > .row").evaluate_all("rows => rows.map(row => row.dataset.id)")

    def ranking(self) -> dict[str, Any]:
        """The answer that the list on screen stands for."""
        rows = self.rows()
        return {"type": "rank", "order": [row for row in rows if row], "n_positive": rows.index("")}

    def options(self) -> list[str]:
        """Texts of a select question in the order shown; for words, their ids."""
        return self.page.locator(".option .item").all_text_contents()

    def grid(self) -> list[str]:
        """Ids of a tick question in the order shown."""
        return self.page.locator(".tick-box").evaluate_all("boxes => boxes.map(box => box.dataset.id)")

    def ticked(self) -> list[str]:
        """Ids of those that are ticked."""
        return self.page.locator(".tick-box:checked").evaluate_all("boxes => boxes.map(box => box.dataset.id)")

    def seek(self, kind: str) -> Person:
        """Answers labels until this kind comes: if the learner is not ready, a random item is asked about instead."""
        while kind not in (self.card.get_attribute("class") or ""):
            self.submit({"type": "label", "positive": True}, lambda: self.page.keyboard.press("1"))
        return self

    def submit(self, answer: dict[str, Any], act: Callable[[], Any]) -> None:
        """``act`` gives ``answer``; waits until the next question is on screen."""
        question = self.question_id()
        act()
        self.wait_for_other(question)
        self.given.append((question, answer))

    def wait_for_other(self, question: str) -> None:
        """Until another question than this one is on screen."""
        expect(self.page.locator(f"section.card[data-shown]:not([data-question='{question}'])")).to_be_visible()

    def check_log(self) -> None:
        """The log contains exactly what was answered, and the page showed no error."""
        assert self.server.answers(self.participant) == self.given
        assert self.problems == []
