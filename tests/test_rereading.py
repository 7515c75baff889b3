"""Answers of several people: those who answer at random or reversed count little, and everything is a fold over the answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore import Learner, SettingError, Start
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.habits import Team
from tellmore.core.update import UpdateInfo, with_constant
from tellmore.policy.looking import rarer_side
from tellmore.rereading import MOST, Reader, Told, is_due
from tellmore.types import Answer

KINDS = ("label", "select", "rank", "tick")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.fixture
def world(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(200, 8))
    return X, X @ rng.normal(size=8)


def taught(
    world: tuple[np.ndarray, np.ndarray], kind: str, people: dict[str, str], answers: int, **options: object
) -> Learner:
    """A learner taught by people in turn: each is attentive, reversed or random."""
    X, z = world
    learner = Learner(X, kind, seed=1, bound="centred", **options)  # type: ignore[arg-type]
    rng = np.random.default_rng(2)
    for turn in range(answers):
        name = list(people)[turn % len(people)]
        question = learner.ask()
        learner.tell(question, answer(question.kind, question.items, z, people[name], rng), name)
    return learner


def answer(kind: str, items: tuple[int, ...], z: np.ndarray, how: str, rng: np.random.Generator) -> Answer | object:
    seen = {"attentive": z, "reversed": -z, "random": rng.normal(size=len(z))}[how][list(items)]
    order = [items[at] for at in np.argsort(-seen)]
    if kind == "label":
        return bool(seen[0] > 0)
    if kind == "rank":
        return order, int((seen > 0).sum())
    if kind == "tick":
        return [item for item, one in zip(items, seen, strict=True) if one > 0]
    chosen = order[0] if kind == "select_high" else order[-1]
    return chosen, bool(seen[items.index(chosen)] > 0)


TEAM = {"ann": "attentive", "bob": "attentive", "cat": "attentive", "dan": "reversed"}


@pytest.mark.parametrize("kind", KINDS)
def test_one_person_is_learnt_from_as_ever(world: tuple[np.ndarray, np.ndarray], kind: str) -> None:
    named, unnamed = (taught(world, kind, {name: "attentive"}, 13) for name in ("ann", ""))
    np.testing.assert_array_equal(named.posterior.mean, unnamed.posterior.mean)
    assert named.people == {}


@pytest.mark.parametrize("how", ["reversed", "random"])
def test_who_does_not_mean_it_counts_little_also_before(world: tuple[np.ndarray, np.ndarray], how: str) -> None:
    X, z = world
    learner = taught(world, "rank", {**TEAM, "dan": how}, 49)
    lapses = {name: habits.learnt_lapse for name, habits in learner.people.items()}
    assert lapses["dan"] > 0.5 > 0.2 > max(lapses[name] for name in ("ann", "bob", "cat"))
    assert getattr(learner.people["dan"], {"reversed": "reversed", "random": "careless"}[how]) > 0.5
    trusting = Learner(X, "rank", seed=1, bound="centred", by_person=False)
    trusting.tell_all(learner.history, people=learner.told_by)
    right, before = (np.corrcoef(one.scores()[0], z)[0, 1] for one in (learner, trusting))
    assert how == "random" or right > before  # in few dimensions chance answers do little harm
    assert trusting.people["dan"].learnt_lapse == 0.01  # named, and learnt from like anybody
    assert getattr(trusting.people["dan"], {"reversed": "reversed", "random": "careless"}[how]) > 0.3


def test_undo_save_and_load_are_exact(world: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    learner, before = (taught(world, "label", TEAM, answers) for answers in (29, 27))
    assert is_due(28)
    assert learner.team.usual is not None
    learner.save(tmp_path / "learner.npz")
    loaded = Learner.load(tmp_path / "learner.npz")
    assert (loaded.told_by, loaded.team) == (learner.told_by, learner.team)
    for _ in range(2):
        learner.undo()
        loaded.undo()
    for one in (learner, loaded, learner.copy()):
        np.testing.assert_array_equal(one.posterior.mean, before.posterior.mean)
        assert (one.told_by, one.team) == (before.told_by, before.team)


def test_many_answers_at_once_are_learnt_as_one_by_one(world: tuple[np.ndarray, np.ndarray]) -> None:
    learner = taught(world, "label", TEAM, 40)
    again = Learner(world[0], "label", seed=1, bound="centred", by_person=True)
    again.tell_all(learner.history, people=learner.told_by)
    np.testing.assert_array_equal(again.posterior.mean, learner.posterior.mean)
    assert again.team == learner.team


def test_beyond_many_answers_none_is_read_again(
    world: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST > 100
    for module in ("rereading", "telling"):
        monkeypatch.setattr(f"tellmore.{module}.MOST", 14)
    monkeypatch.setattr(Reader, "_learnt", lambda *_: pytest.fail("all was learnt again"))
    learner = taught(world, "label", TEAM, 16)
    assert learner.team.usual is not None
    assert sum(habits.answers for habits in learner.people.values()) == 14


def test_people_are_predicted_by_everybody_else(world: tuple[np.ndarray, np.ndarray]) -> None:
    """The scores that somebody's answers are compared with are those that the others' answers alone would give."""
    learner = taught(world, "rank", TEAM, 11)

    def update(told: Told, belief: Gaussian, behaviour: Behaviour) -> tuple[Gaussian, UpdateInfo]:
        return learner._update(belief, told.Z, told.kind, told.outcome, behaviour)

    reader = Reader(learner._prior, learner.behaviour, learner.behaviour, update)
    answers = learner._last_told(learner.tally)
    mixture, sites = reader._learnt(Team(), answers)
    scores, own = reader._without_own(mixture, answers, sites)["dan"]
    assert len(own) == 2
    precision = np.linalg.inv(learner._prior.beliefs[0].cov)
    pull = precision @ learner._prior.beliefs[0].mean
    for told, (site, *_) in zip(answers, sites, strict=True):
        if told.person != "dan" and site is not None:
            A = with_constant(told.Z)
            precision, pull = precision + A.T @ site.precision @ A, pull + A.T @ site.shift
    A = with_constant(np.vstack([told.Z for told in answers if told.person == "dan"]))
    np.testing.assert_allclose(scores.mean[1:], A @ np.linalg.solve(precision, pull), atol=1e-6)
    np.testing.assert_allclose(scores.cov[1:, 1:], A @ np.linalg.solve(precision, A.T), atol=1e-6)


def test_a_start_has_several_beliefs_and_people_too(world: tuple[np.ndarray, np.ndarray]) -> None:
    learner = taught(world, "label", TEAM, 17, start=Start(world[0][:2], world[0][2:4]))
    assert set(learner.people) == set(TEAM)


def test_a_person_has_a_name(world: tuple[np.ndarray, np.ndarray]) -> None:
    learner = Learner(world[0], "label")
    with pytest.raises(SettingError, match="person must be a name"):
        learner.tell(learner.ask(), True, person=3)  # type: ignore[arg-type]
    assert learner.history == ()


@pytest.mark.parametrize("border", [0.0, 6.0])
def test_what_answers_taught_is_kept_and_the_same_as_learnt_again(
    world: tuple[np.ndarray, np.ndarray], border: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if few items are positive, and the labels of rankings count for more from then on."""
    told = taught((world[0], world[1] - border), "rank", TEAM | {"eve": "attentive", "fay": "attentive"}, 40)
    assert not border or sum(rarer_side(one.before) != 0 for one in told._last_told(told.tally)) > 20
    exchanges, people = told.history, told.told_by
    learner = Learner(world[0], "rank", seed=1, bound="centred")
    learner.tell_all(exchanges[:20], people=people[:20])
    learner.save(tmp_path / "learner.npz")
    forgetful = Learner.load(tmp_path / "learner.npz")
    readings = []
    sites = Reader.sites
    monkeypatch.setattr(Reader, "sites", lambda *given: readings.append(1) or sites(*given))
    learner.tell_all(exchanges[20:], people=people[20:])
    assert readings == []
    forgetful.tell_all(exchanges[20:], people=people[20:])
    assert readings == [1]  # after 21 answers, and not again after 28 and 37
    for _ in range(2):
        assert learner.people["dan"].answers > 0
        assert forgetful.team == learner.team
        for one in (learner, forgetful):
            left = one.back_to(17)
            one.tell_all(exchanges[left:], people=people[left:])


@pytest.mark.parametrize("by_person", [True, False])
def test_who_means_something_else_is_no_guesser_and_counts_like_anybody(by_person: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    meant, other = X @ rng.normal(size=8), X @ rng.normal(size=8)
    learner = Learner(X, "label", seed=0, by_person=by_person)
    for turn in range(150):
        question, name = learner.ask(), "ABCDE"[turn % 5]
        seen = {"D": other, "E": other}.get(name, meant)
        learner.tell(question, bool(seen[question.items[0]] > 0), name)
    found = learner.people
    apart = {name for name, habits in found.items() if habits.verdict == "apart"}
    assert apart
    assert apart <= {"D", "E"}
    assert not [name for name, habits in found.items() if habits.verdict == "careless"]
    assert all(habits.learnt_lapse < 0.25 for habits in found.values())
