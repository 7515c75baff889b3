"""Assignments: gold positions, sizes, strata, counterbalancing, the same again for the same participant."""

from __future__ import annotations

from collections import Counter

import pytest

from tellmore.errors import SettingError
from tellmore.kinds.select import SelectAnswer
from tellmore.questions import Question
from tellmore.study.design import BankQuestion, Planned, assignment, block_order, cells, check_bank, draw_questions
from tellmore.study.settings import Stage, Study
from tellmore.types import Answer
from tests.study.made_up import Words


def test_the_papers_shape(study: Study, bank: list[BankQuestion]) -> None:
    planned = assignment(study, bank, 0)
    assert len(planned) == 50
    for kind in ("rank", "select_high"):
        own = [question for question in planned if question.kind == kind]
        assert len(own) == 25
        assert [question.position for question in own if question.gold] == [1, 2, 11, 12, 21]
        assert {question.gold for question in own if question.gold} == set(study.gold)
        assert {len(question.items) for question in own if not question.gold} == set(range(2, 9))
        assert sum(question.stage is not None for question in own) == 20


def test_the_papers_gold_pairs(study: Study) -> None:
    assert {(gold.order, gold.n_positive) for gold in study.gold} == {
        (("amazing", "rejection"), 1),
        (("bad", "horrible"), 0),
        (("worried", "terrified"), 0),
        (("inspiring", "boring"), 1),
        (("happy", "sad"), 1),
    }


def test_half_begin_with_each_kind(study: Study) -> None:
    first = Counter(block_order(study, number)[0] for number in range(100))
    assert first == {"rank": 50, "select_high": 50}


def test_a_fixed_order_is_fixed(study: Study) -> None:
    fixed = study.model_copy(update={"design": study.design.model_copy(update={"order": "fixed"})})
    assert {block_order(fixed, number) for number in range(4)} == {("rank", "select_high")}


def test_sizes_and_stages_are_balanced(study: Study) -> None:
    count = Counter(cell for number in range(21) for cell in cells(study, number, "rank"))
    assert len(count) == 21
    assert set(count.values()) == {20}
    assert max(Counter(cells(study, 3, "rank")).values()) == 1


def test_the_same_participant_gets_the_same(study: Study, bank: list[BankQuestion]) -> None:
    assert assignment(study, bank, 7) == assignment(study, bank, 7)
    assert assignment(study, bank, 7) != assignment(study, bank, 8)
    other = study.model_copy(update={"design": study.design.model_copy(update={"seed": 1})})
    assert assignment(study, bank, 7) != assignment(other, bank, 7)


def test_ids_are_unique_over_participants(study: Study, bank: list[BankQuestion]) -> None:
    ids = [question.id for number in range(5) for question in assignment(study, bank, number)]
    assert len(set(ids)) == len(ids)


def test_the_order_shown_is_random(study: Study, bank: list[BankQuestion]) -> None:
    golds = [q for number in range(40) for q in assignment(study, bank, number) if q.gold]
    as_expected = sum(q.items == q.gold.order for q in golds if q.gold)
    assert 0.4 < as_expected / len(golds) < 0.6


def test_planned_questions_survive_storing(study: Study, bank: list[BankQuestion]) -> None:
    for planned in assignment(study, bank, 2):
        assert Planned.of(planned.row()) == planned


def test_a_bank_without_a_cell_is_refused(study: Study, bank: list[BankQuestion]) -> None:
    poor = [q for q in bank if not (q.kind == "rank" and len(q.items) == 5 and q.stage == "late")]
    with pytest.raises(SettingError, match="no rank question of 5 items from stage 'late'"):
        check_bank(study, poor)


class CountingLearner:
    """Asks the next items in turn and counts what it was told."""

    def __init__(self) -> None:
        self.told = 0

    def ask(self, *, kind: str | None = None, size: int | None = None) -> Question:
        ids = Words().ids
        return Question(kind or "select_high", [ids[(self.told + i) % 20] for i in range(size or 4)])  # type: ignore[arg-type]

    def tell(self, question: Question, answer: Answer) -> None:
        self.told += 1

    def copy(self) -> CountingLearner:
        twin = CountingLearner()
        twin.told = self.told
        return twin


def test_questions_are_drawn_at_the_stages_iterations() -> None:
    learner = CountingLearner()
    stages = (Stage(name="early", first=1, last=2), Stage(name="late", first=9, last=10))
    seen: list[int] = []
    bank = draw_questions(
        learner,
        lambda question: SelectAnswer(question.items[0], True),
        stages,
        sizes={"rank": (2, 3), "select_high": (2, 3)},
        progress=lambda done, _total: seen.append(done),
    )
    assert Counter((q.stage, q.iteration) for q in bank) == {
        ("early", 1): 4, ("early", 2): 4, ("late", 9): 4, ("late", 10): 4,
    }  # fmt: skip
    # What is drawn at iteration 9 comes from a learner that was told 8 answers.
    assert next(q for q in bank if q.iteration == 9).items[0] == "w8"
    assert learner.told == 9
    assert seen == list(range(1, 11))
