"""Most sure and least sure: probabilities, what a clear answer is, and the laboratory and the table of rates with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.core.evidence import Behaviour
from tellmore.errors import AnswerError
from tellmore.kinds import named, perceived
from tellmore.kinds.select import SelectAnswer
from tellmore.policy.rates import rates
from tellmore.questions import Question, check_answer
from tellmore.sim.config import Config
from tellmore.sim.experiment import trial
from tests.oracles import likelihoods
from tests.oracles.plain import prior_of, scan_of
from tests.sim.conftest import write_pool

BOTH = ["most_sure", "least_sure"]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), name=st.sampled_from(BOTH), k=st.integers(2, 10), K=st.floats(0.01, 300))
def test_probabilities_sum_to_one_and_are_the_definition(seed: int, name: str, k: int, K: float) -> None:
    kind, z = named(name), np.random.default_rng(seed).normal(size=k)
    logs = {outcome: float(kind.log_likelihood(z, outcome, Behaviour(1.5 * K, K))) for outcome in kind.outcomes(k)}
    assert sum(np.exp(list(logs.values()))) == pytest.approx(1, abs=1e-10)
    for outcome, value in logs.items():
        slow = likelihoods.answer_log_probability(name, list(z), outcome, 1.5 * K, K)
        assert value == pytest.approx(slow, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", BOTH)
def test_neither_side_is_preferred(name: str) -> None:
    kind, z, behaviour = named(name), np.array([0.4, -0.1, 0.2]), Behaviour(2.0, 3.0)
    for outcome in kind.outcomes(3):
        mirrored = (outcome[0], -outcome[1]) if name == "most_sure" else outcome
        one, two = kind.log_likelihood(z, outcome, behaviour), kind.log_likelihood(-z, mirrored, behaviour)
        assert float(one) == pytest.approx(float(two), abs=1e-12)


def test_whoever_sees_clearly_chooses_the_furthest_and_the_nearest() -> None:
    seen = perceived(np.array([0.4, -0.9, 0.1]), np.random.default_rng(0))
    assert named("most_sure").respond(seen) == (1, -1)
    assert named("least_sure").respond(seen) == 2


def test_a_label_where_it_is_asked_for_and_only_there() -> None:
    for name, positive in (("most_sure", None), ("least_sure", True)):
        with pytest.raises(AnswerError, match="label"):
            check_answer(Question(name, ["a", "b"]), SelectAnswer("a", positive))


@pytest.mark.parametrize("name", BOTH)
def test_trials_run_with_them(name: str, tmp_path: Path) -> None:
    pool = str(write_pool(tmp_path / "small.npz"))
    rows = trial(Config(pool=pool, question=name, size=3, answers=12), seed=1).rows
    assert {row.kind for row in rows} == {name}
    assert all(row.bits > 0 and row.seconds > 0 and np.isfinite(row.logdet) for row in rows)
    if name == "most_sure":
        assert rows[-1].accuracy > 0.8


def test_the_table_of_rates_has_them_where_they_are_asked_for() -> None:
    X = np.random.default_rng(0).standard_normal((80, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    belief = prior_of(X)
    table = rates(
        scan_of(X, belief),
        belief,
        Behaviour(),
        kinds=("label", *BOTH),
        sizes=(2, 4),
        rng=np.random.default_rng(0),
        repeats=1,
    )
    bits = {(rate.kind, rate.size): rate.bits for rate in table}
    assert list(bits) == [("label", 1), *((name, size) for name in BOTH for size in (2, 4))]
    assert all(bits["most_sure", size] > bits["least_sure", size] > 0 for size in (2, 4))
