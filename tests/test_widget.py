"""The notebook widget, from the kernel's side: what it shows, and what happens to what a browser sends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellmore as tm
from tellmore import kinds, widget
from tellmore.app.present import kinds_out
from tellmore.kinds import Words
from tellmore.questions import answer_from
from tellmore.widget import LearnerWidget

N = 40
X = np.random.default_rng(0).normal(size=(N, 5))


@pytest.fixture(autouse=True)
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser part, whether or not the client is built; the browser tests look at the real one."""
    (tmp_path / "widget.js").write_text("export default {}")
    monkeypatch.setattr(widget, "MODULE", tmp_path / "widget.js")


def shown(asks: str = "label", words: dict[str, Any] | None = None, **options: Any) -> LearnerWidget:
    pool = options.pop("pool", tm.Pool(X, text=[f"word {row}" for row in range(N)]))
    made = tm.Learner(pool, asks, **options).widget(**(words or {}))
    assert isinstance(made, LearnerWidget)
    return made


def sent(made: LearnerWidget, answer: Any, **more: Any) -> dict[str, Any]:
    """An answer to the question on show, as the browser sends it; what is on show then."""
    timing = {"onset_ms": 1000, "submit_ms": 4000, "hidden_ms": 0}
    message = {"do": "answer", "question_id": made.show["question"]["id"], "answer": answer, "timing": timing}
    made._handle_custom_msg(json.loads(json.dumps(message | more)), [])
    return made.show


def surely(question: tm.Question) -> dict[str, Any]:
    """What somebody answers who likes small row numbers."""
    z = 20.0 - np.array(question.items, dtype=float)
    order = np.argsort(-z)
    return answer_from(question, kinds.Perception(z, order, z > 0)).as_json()


@pytest.mark.parametrize("kind", [kind.name for kind in kinds.all_kinds()])
def test_every_kind_is_asked_and_learnt(kind: str) -> None:
    made = shown(kind)
    before = made.learner.probabilities()
    asked, on_show = made.learner._open[-1], made.show["question"]
    assert (on_show["id"], on_show["kind"]) == (asked.id, kind)
    assert [item["id"] for item in on_show["items"]] == list(asked.names)
    assert [item["text"] for item in on_show["items"]] == list(asked.texts or ())
    after = sent(made, surely(asked))
    assert made.learner.history == ((asked, kinds.answer_from_json(surely(asked))),)
    assert not np.allclose(made.learner.probabilities(), before)
    assert after["question"]["id"] != asked.id
    assert (after["said"], after["progress"]["answers"], after["progress"]["can_undo"]) == ("", 1, 1)
    assert after["progress"]["minutes"] == pytest.approx(0.05)
    json.dumps(after)


def test_kinds_are_told_in_the_words_given_and_as_in_the_app() -> None:
    words = {"attribute": "friendly", "positive": "friendly", "negative": "rude"}
    made = shown(words={**words, "instruction": "Think of a host."})
    assert made.words["instruction"] == "Think of a host."
    app = [each.model_dump() for each in kinds_out(Words(**words))]
    assert [{**each, "script": None} for each in made.words["kinds"]] == [{**each, "script": None} for each in app]
    assert made.words["kinds"][0]["ask"] == "Is this friendly or rude?"


def test_a_card_of_a_package_travels_with_its_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "card.js"
    script.write_text("export default 1")
    monkeypatch.setattr(type(kinds.named("label")), "script", script)
    (label,) = [each for each in shown().words["kinds"] if each["name"] == "label"]
    assert label["script"] == "data:text/javascript;base64,ZXhwb3J0IGRlZmF1bHQgMQ=="


def test_undo_puts_the_question_back_with_its_answer_and_the_one_on_show_comes_again() -> None:
    made = shown()
    first = made.show["question"]
    second = sent(made, {"type": "label", "positive": True})["question"]
    made.receive({"do": "undo"})
    assert (made.show["question"], made.show["previous"]) == (first, {"type": "label", "positive": True})
    assert made.learner.history == ()
    again = sent(made, {"type": "label", "positive": False})
    assert again["question"] == second
    assert again["previous"] is None


def test_nothing_to_undo_is_said() -> None:
    made = shown()
    question = made.show["question"]
    made.receive({"do": "undo"})
    assert (made.show["said"], made.show["question"]) == ("there is no answer to undo", question)


@pytest.mark.parametrize(
    ("answer", "more", "says"),
    [
        ({"type": "label", "positive": "yes"}, {}, "positive"),
        ({"type": "rank", "order": ["1", "2"], "n_positive": 1}, {}, "label question is answered by LabelAnswer"),
        ({"type": "nonsense"}, {}, "nonsense"),
        ({"type": "label", "positive": True}, {"question_id": "another"}, "no longer shown"),
        (None, {}, ""),
    ],
)
def test_a_refused_answer_leaves_the_question_on_show_and_says_why(
    answer: Any, more: dict[str, Any], says: str
) -> None:
    made = shown()
    before = made.show
    after = sent(made, answer, **more)
    assert says in after["said"]
    assert after["said"]
    assert after["question"] == before["question"]
    assert after != before, "a view must hear of it"
    assert made.learner.history == ()
    assert sent(made, {"type": "label", "positive": True})["said"] == ""


def test_a_question_that_code_answered_is_not_learnt_twice() -> None:
    made = shown()
    question = made.show["question"]
    made.learner.tell(question["id"], True)
    after = sent(made, {"type": "label", "positive": False})
    assert "already answered" in after["said"]
    assert after["question"] != question
    assert len(made.learner.history) == 1


def test_ties_are_taken_where_they_are_allowed() -> None:
    def tied(made: LearnerWidget) -> dict[str, Any]:
        order = [item["id"] for item in made.show["question"]["items"]]
        return sent(made, {"type": "rank", "order": order, "n_positive": 4, "ties": [0]})

    refusing, allowing = shown("rank", K=2.0), shown("rank", {"ties": True})
    assert "ties" in tied(refusing)["said"]
    assert tied(allowing)["said"] == ""
    assert (len(refusing.learner.history), len(allowing.learner.history)) == (0, 1)


def test_a_callback_that_fails_is_said_and_the_answer_is_kept() -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("no")

    made = shown(callbacks=[fails])
    question = made.show["question"]
    after = sent(made, {"type": "label", "positive": True})
    assert after["said"] == "ZeroDivisionError: no"
    assert (len(made.learner.history), after["question"] == question) == (1, False)


@pytest.mark.parametrize("kind", [kind.name for kind in kinds.all_kinds()])
def test_a_skip_is_remembered_and_teaches_nothing(kind: str) -> None:
    made = shown(kind)
    after = sent(made, {"type": "skip", "reason": "cant_tell"})
    assert (after["said"], after["progress"]["answers"], after["progress"]["can_undo"]) == ("", 0, 1)


def test_the_line_below_says_how_good_it_is_and_when_to_stop() -> None:
    made = shown(check_share=1.0, stop=tm.AnswerBudget(21))
    assert made.show["progress"]["standing"] == ["accuracy: too early to tell"]
    for _ in range(21):
        sent(made, {"type": "label", "positive": int(made.show["question"]["items"][0]["id"]) < N // 2})
    accuracy, stop = made.show["progress"]["standing"]
    assert accuracy.startswith("accuracy ")
    assert accuracy.endswith("on 21 random checks")
    assert stop.startswith("you can stop: ")


def test_pictures_travel_as_jpeg_and_a_missing_one_is_named(tmp_path: Path) -> None:
    from PIL import Image

    for row in range(N - 1):
        Image.new("RGBA", (1200, 600), (row, 0, 0, 255)).save(tmp_path / f"{row}.png")
    pool = tm.Pool(X, images=[str(tmp_path / f"{row}.png") for row in range(N)])
    made = shown(pool=pool)
    made._present(tm.Question("tick", [0, N - 1]))
    seen, missing = made.show["question"]["items"]
    assert seen["image"].startswith("data:image/jpeg;base64,")
    assert seen["text"] is None
    assert (missing["image"], missing["text"]) == (None, str(N - 1))
    assert "39.png: no such picture" in made.show["said"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"positive": ""}, "positive must be a word"),
        ({"attribute": 3}, "attribute"),
        ({"instruction": 1}, "instruction"),
    ],
)
def test_words_are_words(words: dict[str, Any], says: str) -> None:
    with pytest.raises(tm.SettingError, match=says):
        shown(words=words)


def test_a_learner_alone_can_be_shown() -> None:
    with pytest.raises(tm.SettingError, match="of a Learner, not of a list"):
        LearnerWidget([], {})  # type: ignore[arg-type]


def test_text_stands_where_widgets_are_off() -> None:
    made = shown()
    bundle = made._repr_mimebundle_()
    assert bundle is not None
    assert bundle[0]["text/plain"].startswith("<questions of Learner(")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "tellmore.widget")
    monkeypatch.delattr(tm, "widget")
    with pytest.raises(tm.MissingExtraError, match=r"pip install 'tellmore\[notebook\]'"):
        tm.Learner(X).widget()


def test_a_client_that_is_not_built_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(widget, "MODULE", tmp_path / "none.js")
    with pytest.raises(tm.StateError, match="not built"):
        tm.Learner(X).widget()
