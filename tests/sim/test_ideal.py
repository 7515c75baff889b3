"""The ideal algorithm on a grid: exact gains, exact Bayes, and stopping times between the bounds of Theorem 1."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.core.evidence import Behaviour
from tellmore.errors import SettingError, StateError
from tellmore.sim import ideal, theory
from tests.oracles import information, likelihoods

BEHAVIOUR = Behaviour(w=4.0, K=5.0)


def unit_items(n: int, d: int, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def test_set_gains_equal_enumeration_over_the_cells() -> None:
    X = unit_items(5, 2)
    problem = ideal.ideal_problem(X, "rank", 3, BEHAVIOUR, per_axis=9, rng=np.random.default_rng(0))
    weights = np.full(81, 1 / 81)
    gains = ideal.set_gains(problem, weights)
    for rows, gain in zip(problem.sets, gains, strict=True):
        expected = information.gain_of_scores("rank", problem.cells @ X[rows].T, BEHAVIOUR.w, BEHAVIOUR.K)
        assert gain == pytest.approx(expected, abs=1e-10)


def test_the_prior_is_the_uniform_hypercube() -> None:
    problem = ideal.ideal_problem(
        unit_items(4, 3), "select_high", 2, BEHAVIOUR, M=1.5, per_axis=12, rng=np.random.default_rng(0)
    )
    run = ideal.run_ideal(problem, 0.5, rng=np.random.default_rng(1))
    assert run.entropies_bits[0] == pytest.approx(3 * np.log2(2 * 1.5))
    assert run.volumes[0] == pytest.approx(1.5**2 / 3)


def test_one_step_is_bayes_rule() -> None:
    X = unit_items(3, 1)
    problem = ideal.ideal_problem(X, "label", 1, BEHAVIOUR, per_axis=400, rng=np.random.default_rng(0))
    run = ideal.run_ideal(problem, 0.3, rng=np.random.default_rng(2), theta=np.array([0.8]))
    assert run.stopping_time >= 1
    posteriors = []
    for row in range(3):
        for y in (-1, 1):
            weights = np.array(
                [np.exp(likelihoods.label([float(c[0] * X[row, 0])], y, BEHAVIOUR.w)) for c in problem.cells]
            )
            weights /= weights.sum()
            mean = weights @ problem.cells[:, 0]
            posteriors.append(weights @ (problem.cells[:, 0] - mean) ** 2 + problem.cell_width**2 / 12)
    assert min(abs(run.volumes[1] - v) for v in posteriors) < 1e-10


@pytest.mark.parametrize(("d", "kind", "size"), [(1, "label", 1), (2, "select_high", 3), (2, "rank", 3)])
def test_stopping_times_lie_between_the_bounds(d: int, kind: str, size: int) -> None:
    epsilon = 0.03
    problem = ideal.ideal_problem(
        unit_items(8, d), kind, size, BEHAVIOUR, per_axis={1: 256, 2: 24}[d], max_sets=12, rng=np.random.default_rng(0)
    )
    runs = ideal.stopping_times(problem, epsilon, 12, rng=np.random.default_rng(3))
    mean = np.mean([run.stopping_time for run in runs])
    least = theory.smallest_gain(np.concatenate([run.gains_bits for run in runs]))
    constants = theory.lemma_constants(d, size, K=BEHAVIOUR.K, w=BEHAVIOUR.w)
    assert mean >= theory.lower_bound(d, theory.outcome_count(kind, size), epsilon)
    assert mean <= theory.upper_bound_corrected(d, least, epsilon, constants.gamma_bits)


def test_more_information_stops_sooner() -> None:
    times = {}
    for kind, size in (("label", 1), ("select_high", 4), ("rank", 4)):
        problem = ideal.ideal_problem(
            unit_items(8, 2), kind, size, BEHAVIOUR, per_axis=24, max_sets=10, rng=np.random.default_rng(0)
        )
        runs = ideal.stopping_times(problem, 0.03, 10, rng=np.random.default_rng(4))
        times[kind] = np.mean([run.stopping_time for run in runs])
    assert times["rank"] < times["select_high"] < times["label"]


def test_expected_entropy_falls_by_the_gain() -> None:
    """Lemma B.5's ground: E[h_1] = h_0 - gain, over many first answers."""
    problem = ideal.ideal_problem(
        unit_items(4, 1), "select_high", 2, BEHAVIOUR, per_axis=128, rng=np.random.default_rng(0)
    )
    runs = ideal.stopping_times(problem, 0.2, 400, rng=np.random.default_rng(5))
    drops = np.array([run.entropies_bits[0] - run.entropies_bits[1] for run in runs])
    gain = runs[0].gains_bits[0]
    assert drops.mean() == pytest.approx(gain, abs=4 * drops.std() / np.sqrt(len(drops)))


def test_posterior_stays_log_concave() -> None:
    """Lemma B.1 on the grid, after a few answers of every kind at once."""
    cells, _ = ideal.hypercube_cells(2, 1.0, 31)
    X = unit_items(4, 2)
    z = cells @ X.T
    log_density = np.zeros(len(cells))
    for kind, rows, outcome in (
        ("label", [0], 1),
        ("select_high", [0, 1, 2], (1, -1)),
        ("select_low", [1, 3], (0, 1)),
        ("rank", [0, 1, 2], ((2, 0, 1), 1)),
    ):
        log_density += [likelihoods.update_log_likelihood(kind, list(row), outcome, 4.0, 5.0) for row in z[:, rows]]
    for axis in (0, 1):
        assert np.diff(log_density.reshape(31, 31), n=2, axis=axis).max() <= 1e-12


def test_candidate_sets_are_all_or_a_sample_of_different_ones() -> None:
    rng = np.random.default_rng(0)
    assert len(ideal.candidate_sets(5, 2, 100, rng)) == 10
    sample = ideal.candidate_sets(30, 4, 20, rng)
    assert len({tuple(row) for row in sample}) == 20
    with pytest.raises(SettingError, match="at least 4 items"):
        ideal.candidate_sets(3, 4, 10, rng)


def test_refuses_what_a_grid_cannot_do() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(SettingError, match="1 to 3 dimensions"):
        ideal.ideal_problem(unit_items(3, 4), "label", 1, BEHAVIOUR, rng=rng)
    problem = ideal.ideal_problem(unit_items(3, 2), "label", 1, BEHAVIOUR, per_axis=8, rng=rng)
    with pytest.raises(SettingError, match="per_axis"):
        ideal.run_ideal(problem, 1e-3, rng=rng)
    one_direction = ideal.ideal_problem(np.array([[1.0, 0.0]]), "label", 1, BEHAVIOUR, per_axis=24, rng=rng)
    with pytest.raises(StateError, match="no stop"):
        ideal.run_ideal(one_direction, 0.03, rng=rng, max_answers=30)
