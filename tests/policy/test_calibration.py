"""Calibration in a learner: a fold over the answers, and the same in every export."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from tellmore.classifier import Classifier
from tellmore.core.calibration import UNCHECKED, Calibration, tempered
from tellmore.learner import Learner
from tellmore.policy.calibration import NEWEST, calibration_of, reliability
from tellmore.policy.tally import Check, Tally
from tellmore.pool import Pool
from tellmore.questions import Question


def taught(checks: int = 30, **options: object) -> Learner:
    """Told labels of which a third are wrong, so that predictions are too bold."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    learner = Learner(Pool(X), "label", seed=1, w=6.0, **options)  # type: ignore[arg-type]
    for number in range(2 * checks):
        item = int(rng.integers(60))
        told = bool((X[item, 0] > 0) != (rng.random() < 0.33))
        learner.tell(Question("label", [item], f"q{number}", check=number % 2 == 1), told)
    return learner


def test_checks_move_probabilities_and_no_side() -> None:
    learner, plain = taught(), taught(calibrate=False)
    assert learner.calibration.slope < 0.9
    assert learner.calibration.checks == 30
    assert plain.calibration == UNCHECKED
    assert np.array_equal(learner.predict(), plain.predict())
    assert learner.probabilities() == pytest.approx(tempered(plain.probabilities(), learner.calibration.slope))
    assert learner.predict_proba(learner.pool.X)[:, 1] == pytest.approx(learner.probabilities(), abs=1e-5)
    assert np.abs(learner.probabilities() - 0.5).mean() < np.abs(plain.probabilities() - 0.5).mean()


def test_what_was_stated_is_what_was_predicted_before_each_check() -> None:
    learner = taught(12)
    replayed, stated = Learner(learner.pool, "label", seed=1, w=6.0), []
    for question, answer in learner.history:
        if question.check:
            stated.append(replayed.predict_proba(replayed.pool.X[[question.items[0]]])[0, 1])
        replayed.tell(question, answer)
    assert [one.stated for one in learner.tally.checks] == pytest.approx(stated)
    assert [one.stated for one in learner.tally.checks] != [one.probability for one in learner.tally.checks]


def test_it_is_a_fold_over_the_answers(tmp_path: Path) -> None:
    learner, shorter = taught(10), taught(9)
    learner.save(tmp_path / "saved.npz")
    loaded = Learner.load(tmp_path / "saved.npz")
    assert loaded.calibration == learner.calibration
    assert np.array_equal(loaded.probabilities(), learner.probabilities())
    for _ in range(2):
        learner.undo()
    assert learner.calibration == shorter.calibration
    assert learner.tally == shorter.tally
    plain = taught(5, calibrate=False)
    plain.save(tmp_path / "plain.npz")
    assert Learner.load(tmp_path / "plain.npz").calibration == UNCHECKED


def test_very_old_checks_do_not_count() -> None:
    wrong = [Check(0.95, False, at) for at in range(NEWEST)]
    right = [Check(0.95, True, 1000 + at) for at in range(NEWEST)]
    assert calibration_of([*wrong, *right]) == calibration_of(right)
    assert calibration_of([*right, *wrong]).slope < 1 < calibration_of(right).slope


def test_a_diagram_counts_every_check_once() -> None:
    checks = [Check(0.1, False, 0), Check(0.99, True, 1), Check(1.0, False, 2), Check(0.5, True, 3, calibrated=0.7)]
    found = reliability(checks)
    assert [(round(one.low, 1), one.checks) for one in found] == [(0.0, 1), (0.6, 1), (0.8, 2)]
    assert found[-1].mean == pytest.approx(0.995)
    assert found[-1].positive.estimate == 0.5
    assert reliability([]) == ()


def test_quality_has_the_diagram_and_calls_by_calibrated_probabilities() -> None:
    learner = taught()
    learner.threshold = 0.7
    found = learner.quality()
    assert found is not None
    assert found.calibration == learner.calibration
    assert sum(one.checks for one in found.reliability) == found.checks == 30
    p = tempered(np.array([one.probability for one in learner.tally.checks]), learner.calibration.slope)
    told = np.array([one.told for one in learner.tally.checks])
    assert found.accuracy.estimate == pytest.approx(np.mean((p >= 0.7) == told))


def test_older_files_have_no_calibrated_checks() -> None:
    tally = taught(3).tally
    plain = tally.as_json()
    assert plain == {**asdict(tally), "checks": list(asdict(tally)["checks"])}
    assert Tally.from_json(plain) == tally
    for check in plain["checks"]:
        del check["calibrated"]
    assert [one.stated for one in Tally.from_json(plain).checks] == [one.probability for one in tally.checks]


def test_a_classifier_says_what_its_learner_says() -> None:
    learner = taught()
    taken = Classifier(learner.posteriors, learner.w, False, learner.calibration.slope)
    assert taken.predict_proba(learner.pool.X) == pytest.approx(learner.predict_proba(), abs=1e-5)
    assert isinstance(learner.calibration, Calibration)
