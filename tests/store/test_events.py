"""Answers to JSON and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellmore.errors import AnswerError
from tellmore.kinds import answer_from_json
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.kinds.tick import TickAnswer
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event
from tellmore.types import Skip

ids = st.text(min_size=1, max_size=8)
answers = st.one_of(
    st.builds(LabelAnswer, st.booleans()),
    st.builds(SelectAnswer, ids, st.booleans() | st.none()),
    st.builds(lambda order: RankAnswer(order, len(order) // 2), st.lists(ids, min_size=2, max_size=6, unique=True)),
    st.builds(
        lambda order, ties: RankAnswer(order, 2, ties), st.just(["a", "b", "c", "d"]), st.sets(st.sampled_from([0, 2]))
    ),
    st.builds(TickAnswer, st.lists(ids, max_size=6, unique=True)),
    st.builds(Skip, st.sampled_from(["skip", "cant_tell"])),
)


@given(answers)
def test_every_answer_survives_the_log(answer) -> None:
    assert answer_from_json(json.loads(json.dumps(answer.as_json()))) == answer


@pytest.mark.parametrize(
    "values",
    [
        {"type": "label"},
        {"type": "guess"},
        {"type": "rank", "order": ["a", "b"]},
        {"type": "tick", "positive": "ab"},
        {"type": "tick", "positive": ["a", "a"]},
        {"type": "tick", "positive": [1.5]},
        {"type": "tick", "positive": ["a"], "order": ["a"]},
        {"type": "tick"},
        {"type": "select", "chosen": ["a"], "positive": True},
        ["tick"],
        None,
    ],
)
def test_a_damaged_answer_is_an_answer_error(values) -> None:
    with pytest.raises(AnswerError):
        answer_from_json(values)


def test_a_ranking_names_its_ties_only_where_it_has_some() -> None:
    assert RankAnswer(["a", "b", "c"], 1, [1]).as_json()["ties"] == [1]
    assert "ties" not in RankAnswer(["a", "b", "c"], 1).as_json()
    assert answer_from_json({"type": "rank", "order": ["a", "b"], "n_positive": 0, "ties": []}).ties == ()


def test_a_skip_is_an_event_of_its_own_kind() -> None:
    assert answer_event("q", "p", Skip("cant_tell")).kind == "skip"
    assert answer_event("q", "p", LabelAnswer(True)).kind == "answer"


def test_a_question_says_whether_it_is_stale() -> None:
    question = Question("label", ["a"])
    assert question_event(question, "p", behind=2).payload["stale"] is True
    assert question_event(question, "p").payload["stale"] is False
