"""Teams of simulated people: the line that describes them, and what each habit does to answers and times."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.errors import SettingError
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.policy.cost import PAPER_COST
from tellmore.questions import Question
from tellmore.sim.annotators import CampScores, GaussianScores, Moment
from tellmore.sim.config import Config
from tellmore.sim.drive import Mind
from tellmore.sim.experiment import make_annotators, other_mind, trial
from tellmore.sim.people import GOOD, Person, team_of
from tellmore.sim.truth import load_truth
from tellmore.types import Answer

LABEL, HIGH = Question("label", ["a"]), Question("select_high", ["a", "b", "c", "d"])
LOW, RANK = Question("select_low", ["a", "b", "c", "d"]), Question("rank", ["a", "b", "c", "d"])
Z = np.array([-1.0, 2.0, 1.0, -2.0])


def answers(
    person: Person, question: Question, times: int = 1, *, n_answered: int = 0, before: float = 0.0
) -> list[Answer]:
    rng = np.random.default_rng(0)
    z = Z[: question.size]
    so_far = {"n_answered": n_answered, "before": before}
    return [person.answer(question, z, unit=1.0, rng=rng, **so_far) for _ in range(times)]


def test_a_line_describes_a_team() -> None:
    team = team_of("2*good, lapse=0.2 + pace=1.5,random , reversed+first=0.1")
    assert team == (GOOD, GOOD, Person(lapse=0.2, pace=1.5), Person(lapse=1.0), Person(reversed=True, first=0.1))
    assert [person.attentive for person in team] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "there is no trait ''"),
        ("good,", "there is no trait ''"),
        ("lazy", "there is no trait 'lazy'"),
        ("good=1", "there is no trait 'good=1'"),
        ("lapse", "there is no trait 'lapse'"),
        ("lapse=often", "lapse takes a number"),
        ("lapse=1.2", "lapse is 0 to 1, not 1.2"),
        ("noise=-1", "noise is 0 or more"),
        ("pace=0", "pace is above 0"),
        ("contrast=nan", "contrast is a number"),
        ("0*good", "1 to 1000 people"),
        ("1001*good", "1 to 1000 people"),
    ],
)
def test_a_line_that_describes_nobody_is_refused(line: str, problem: str) -> None:
    with pytest.raises(SettingError, match=problem.replace("(", r"\(")):
        team_of(line)


def test_what_each_habit_does() -> None:
    assert answers(GOOD, RANK) == [RankAnswer(["b", "c", "a", "d"], 2)]
    assert answers(Person(reversed=True), RANK) == [RankAnswer(["d", "a", "c", "b"], 2)]
    assert answers(Person(first=1.0), HIGH) == [SelectAnswer("a", False)]
    assert answers(Person(first=1.0), LOW) == [SelectAnswer("a", False)]
    assert answers(Person(first=1.0), RANK) == [RankAnswer(["a", "b", "c", "d"], 2)]
    assert answers(Person(contrast=1.0), HIGH, before=3.0) == [SelectAnswer("b", False)]


@pytest.mark.parametrize(
    ("person", "answered", "share"),
    [
        (Person(lapse=0.4), 0, 0.3),
        (Person(tiring=0.4), 100, 0.3),
        (Person(lapse=1.0), 0, 0.75),
        (Person(tiring=9), 50, 0.75),
    ],
)
def test_lapses_are_chance(person: Person, answered: int, share: float) -> None:
    told = answers(person, HIGH, 2000, n_answered=answered)
    assert sum(one.chosen != "b" for one in told) / 2000 == pytest.approx(share, abs=0.03)  # type: ignore[attr-defined]


def test_noise_makes_blunt() -> None:
    wrong = sum(one != answers(GOOD, RANK)[0] for one in answers(Person(noise=2.0), RANK, 200))
    assert 100 < wrong < 200


def test_a_team_answers_in_turn_and_the_first_as_if_alone(small_pool: str) -> None:
    truth = load_truth(small_pool, "X")
    with_team = Config(pool=small_pool, question="label", answers=6, team="good,random,pace=100")
    rows = trial(with_team, 3, truth=truth).rows
    took = np.diff([0.0, *(row.seconds for row in rows)])
    assert took[2] > 50 < took[5]
    assert took[[0, 1, 3, 4]].max() < 50
    assert trial(with_team, 3, truth=truth).rows == rows
    alone = trial(Config(pool=small_pool, question="label", answers=1), 3, truth=truth).rows
    assert rows[0] == alone[0]
    assert len(make_annotators(with_team, truth)) == 3


def test_another_camp_has_the_correlation_it_is_given(small_pool: str) -> None:
    truth = load_truth(small_pool, "X")
    mean = np.asarray(truth.scores.mean)
    lean = other_mind(truth)
    assert abs(np.corrcoef(lean, mean)[0, 1]) < 1e-9
    assert np.std(lean) == pytest.approx(np.std(mean))
    (person,) = make_annotators(Config(pool=small_pool, team="camp=0.6"), truth)
    source = person.respondent.source  # type: ignore[attr-defined]
    assert isinstance(source, CampScores)
    certain = CampScores(GaussianScores(mean), source.threshold, source.share, source.lean)
    seen = certain.sample(np.arange(len(mean)), now=Moment(np.random.default_rng(0)))
    assert np.corrcoef(seen, mean)[0, 1] == pytest.approx(0.6)


def test_a_team_needs_scores() -> None:
    with pytest.raises(SettingError, match="a team answers from the pool's scores"):
        Config(team="good", annotator="model")
    assert "team" not in Config().as_dict()
    assert Config(team="good").as_dict()["team"] == "good"


def test_people_on_a_server_have_habits_too() -> None:
    scores = {"a": 50.0, "b": 10.0, "c": -50.0}
    items = list(scores)
    assert Mind(scores, 1, Person(reversed=True)).answer("rank", items) == RankAnswer(["c", "b", "a"], 1)
    slow, usual = Mind(scores, 1, Person(pace=3.0)), Mind(scores, 1)
    told = usual.answer("rank", items)
    assert slow.answer("rank", items) == told
    assert slow.think_s("rank", 3, told, PAPER_COST) == pytest.approx(3 * usual.think_s("rank", 3, told, PAPER_COST))
    camp = [Mind(scores, seed, Person(camp=0.0)).opinion("a") for seed in range(5)]
    assert np.std(camp) < 1.0 < abs(np.mean(camp) - 50.0)
