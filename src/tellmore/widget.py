"""A learner's questions in a notebook, shown as in the web app: what ``learner.widget()`` returns.

The browser gets the question to show and sends back what the person did; the learner itself stays in the kernel. Every
message, even a refused one, is answered with a question to show.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from tellmore import kinds
from tellmore.data.images import load_picture
from tellmore.errors import AnswerError, SettingError, StateError, TellmoreError, needs
from tellmore.kinds import Words
from tellmore.learner import Learner
from tellmore.policy.words import accuracy_words
from tellmore.pool import Item
from tellmore.questions import Question, answer_to
from tellmore.types import Answer, Skip

with needs("anywidget", "notebook"):
    import anywidget
    import traitlets

MODULE = Path(__file__).parent / "app" / "static" / "widget.js"
"""Built from web/, like the pages."""
LARGEST_PX = 800
"""The largest width or height of a picture, which is sent from the kernel to the browser."""
KEPT_PICTURES = 200


class LearnerWidget(anywidget.AnyWidget):
    """Asks a person a learner's questions and passes the answers to the learner.

    learner: the learner; answers given to it elsewhere count here too.
    words: the attribute and the names of the two sides.
    instruction: a sentence above every question.
    ties: whether rankings may have ties.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    show = traitlets.Dict().tag(sync=True)

    def __init__(
        self, learner: Learner, words: Mapping[str, str], *, instruction: str = "", ties: bool = False
    ) -> None:
        if not isinstance(learner, Learner):
            raise SettingError(f"a widget asks the questions of a Learner, not of a {type(learner).__name__}")
        self.learner, self.ties = learner, bool(ties)
        self.minutes = 0.0
        self._question: Question | None = None
        self._aside: list[Question] = []
        """Questions that an undo took off the screen; they come back first."""
        super().__init__(_esm=_module(), words=_wording(_checked(words), instruction, self.ties))
        self.on_msg(lambda _widget, message, _buffers: self.receive(message))
        self._ask()

    def __repr__(self) -> str:
        return f"<questions of {self.learner!r}; a notebook shows them if its widgets are switched on>"

    def receive(self, message: Any) -> None:
        """Handle a message from the browser: an answer, an undo, or a request for a question."""
        wanted = message.get("do") if isinstance(message, dict) else None
        try:
            if wanted == "answer":
                self._tell(message)
            elif wanted == "undo":
                self._undo()
            else:
                self._ask()
        except Exception as problem:  # no one would see a traceback in the kernel's log
            plain = str(problem) if isinstance(problem, TellmoreError) else f"{type(problem).__name__}: {problem}"
            self._go_on(said=plain)

    def _tell(self, message: Mapping[str, Any]) -> None:
        question = self._question
        if question is None or message.get("question_id") != question.id:
            raise StateError("that question is no longer shown; answer this one")
        answer = answer_to(question, kinds.answer_from_json(message.get("answer")))
        kind = kinds.named(question.kind)
        refusal = None if isinstance(answer, Skip) else kind.refusal(answer, ties=self.ties)
        if refusal is not None:
            raise AnswerError(refusal)
        self.learner.tell(question, answer)
        self.minutes += _minutes(message.get("timing"))
        self._ask()

    def _undo(self) -> None:
        question, answer = self.learner.undo()
        if self._question is not None:
            self._aside.append(self._question)
        self._present(question, previous=answer)

    def _ask(self) -> None:
        self._present(self._aside.pop() if self._aside else self.learner.ask())

    def _go_on(self, said: str) -> None:
        """Show the question again, or another if it was answered after all: a callback may fail after the answer is learnt."""
        told = self._question is not None and self._question in (asked for asked, _ in self.learner.history[-1:])
        if told:
            self._question = self.learner.ask()
        self._present(self._question, said=said)

    def _present(self, question: Question | None, *, previous: Answer | None = None, said: str = "") -> None:
        items = [_item(self.learner.pool[item]) for item in question.items] if question is not None else []
        self._question = question
        self.show = {
            "question": question and {"id": question.id, "kind": question.kind, "items": [shown for shown, _ in items]},
            "previous": previous and previous.as_json(),
            "progress": self._progress(),
            "said": "; ".join(filter(None, [said, *(fault for _, fault in items)])),
            "turn": self.show.get("turn", 0) + 1,  # so that the same question again is still a change
        }

    def _progress(self) -> dict[str, Any]:
        learner, stop = self.learner, self.learner.should_stop()
        found = learner.quality()
        measured = accuracy_words(0) if found is None else _measured(found.checks, found.accuracy)
        return {
            "answers": learner.tally.answers,
            "minutes": self.minutes,
            "can_undo": len(learner.history),
            "standing": [measured, f"you can stop: {stop.reason}"] if stop else [measured],
        }


def _measured(n: int, accuracy: Any) -> str:
    return accuracy_words(n, accuracy.low, accuracy.high)


def _module() -> str:
    """The JavaScript module for the browser."""
    if not MODULE.is_file():
        raise StateError("the widget's browser part is not built; build it with: scripts/build-client.sh")
    return MODULE.read_text(encoding="utf-8")


def _checked(words: Mapping[str, str]) -> Words:
    for name, word in words.items():
        if not isinstance(word, str) or not word.strip():
            raise SettingError(f"{name} must be a word or a few, not {word!r}")
    return Words(**words)


def _wording(words: Words, instruction: str, ties: bool) -> dict[str, Any]:
    """The words of all kinds of question, with the scripts of kinds from other packages."""
    if not isinstance(instruction, str):
        raise SettingError(f"instruction must be a sentence, not {instruction!r}")
    every = [
        {
            **kind.described(words, ties=ties),
            "script": None if kind.script is None else _address(kind.script.read_bytes(), "text/javascript"),
        }
        for kind in kinds.all_kinds()
    ]
    return {"name": "", **vars(words), "instruction": instruction, "kinds": every, "ties": ties}


def _item(item: Item) -> tuple[dict[str, Any], str]:
    """An item as it is shown, and what is wrong with its picture, if anything."""
    name = str(item.id)
    if not item.image:
        return {"id": name, "text": name if item.text is None else item.text, "image": None}, ""
    try:
        return {"id": name, "text": item.text, "image": _picture(item.image)}, ""
    except TellmoreError as problem:
        return {"id": name, "text": name if item.text is None else item.text, "image": None}, str(problem)


@lru_cache(maxsize=KEPT_PICTURES)
def _picture(path: str) -> str:
    coded = io.BytesIO()
    load_picture(Path(path), largest_px=LARGEST_PX).save(coded, "JPEG", quality=85)
    return _address(coded.getvalue(), "image/jpeg")


def _address(content: bytes, kind: str) -> str:
    """A data URL with the content itself, because the browser may not be able to reach the kernel's files."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _minutes(timing: Any) -> float:
    """How many minutes a question was visible on screen."""
    read = timing if isinstance(timing, dict) else {}
    numbers = [read.get(name, 0) for name in ("submit_ms", "onset_ms", "hidden_ms")]
    if not all(isinstance(each, int | float) for each in numbers):
        return 0.0
    submitted, onset, hidden = numbers
    return float(max(submitted - onset - hidden, 0)) / 60_000
