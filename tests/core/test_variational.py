"""The solver in score space against a generic optimiser, and on thousands of hard cases by the optimum's own equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tellmore.core import variational
from tellmore.core.evidence import Behaviour
from tellmore.core.variational import Sites, solve
from tellmore.kinds import named
from tests.oracles import cases, elbo

BOUNDS = ("centred", "paper")
SIZES = [("label", 1), ("select_high", 2), ("select_high", 4), ("select_low", 3), ("rank", 2), ("rank", 3), ("rank", 4)]


def solve_scores(m0: np.ndarray, G: np.ndarray, kind: str, outcome: object, w: float, K: float, bound: str) -> Sites:
    return solve(m0, G, named(kind).evidence(outcome, len(m0)), Behaviour(w, K), bound)  # type: ignore[arg-type]


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(("kind", "k"), SIZES)
def test_equals_the_generic_optimiser(kind: str, k: int, bound: str) -> None:
    rng = np.random.default_rng([k, len(kind), len(bound)])
    for _ in range(2):
        A = rng.normal(size=(k, k))
        G, m0 = A @ A.T / k * 0.3 + 1e-3 * np.eye(k), rng.normal(size=k) * 0.3
        w, K = rng.uniform(0.5, 8, size=2)
        outcome = cases.random_outcome(kind, k, rng)
        best = elbo.maximise(m0, G, np.eye(k), kind, outcome, w, K, bound)
        sites = solve_scores(m0, G, kind, outcome, w, K, bound)
        cov = np.linalg.inv(np.linalg.inv(G) + sites.precision)
        assert best.gradient_norm < 1e-10
        np.testing.assert_allclose(m0 + G @ sites.shift, best.mean, atol=1e-9)
        np.testing.assert_allclose(cov, best.cov, atol=1e-9)
        assert sites.elbo == pytest.approx(best.elbo, abs=1e-9)


def test_hard_updates_converge() -> None:
    """600 answers under each bound; the distance to the optimum is below 1e-9 posterior standard deviations."""
    rng = np.random.default_rng(21)
    worst, most_steps = 0.0, 0
    for _ in range(600):
        case = cases.hard_case(rng)
        m0, G = case.items @ case.mean, case.items @ case.cov @ case.items.T
        G = (G + G.T) / 2
        answer = elbo.terms(case.kind, len(case.X), case.outcome, case.K)
        for bound in BOUNDS:
            sites = solve_scores(m0, G, case.kind, case.outcome, case.w, case.K, bound)
            residual = elbo.stationary_residual(m0, G, sites.precision, sites.shift, answer, case.w, bound)
            assert residual < 1e-9, (bound, case)
            worst, most_steps = max(worst, residual), max(most_steps, sites.iterations)
    assert worst > 0
    assert most_steps < 200


def test_a_probability_that_starts_far_too_small_is_found_again() -> None:
    """Newton visits p of 1e-14 where the optimum has p near 1: p times its gap is tiny there, yet it is no optimum."""
    m0 = np.array([0.3009384, 1.35663522, 0.70196296, 1.13964981])
    G = np.array(
        [
            [0.06269483117, 0.10053593155, 0.05973978082, 0.11255458189],
            [0.10053593155, 0.33967961538, 0.14596115682, 0.30524324747],
            [0.05973978082, 0.14596115682, 0.08100634306, 0.14034463159],
            [0.11255458189, 0.30524324747, 0.14034463159, 0.29131144215],
        ]
    )
    outcome = ((1, 2, 0, 3), 4)
    sites = solve_scores(m0, G, "rank", outcome, 191.0, 747.0, "paper")
    answer = elbo.terms("rank", 4, outcome, 747.0)
    assert elbo.stationary_residual(m0, G, sites.precision, sites.shift, answer, 191.0, "paper") < 1e-8


STUCK = [
    (
        "select_low",
        (1, -1),
        "paper",
        621.1911930129885,
        370.34367573692697,
        [0.12349519738138, 0.12349519738138, 0.12452423399077026, 0.07944578042969],
        [
            [0.7656476351552285, 0.7656476351552285, 0.5294024006531746, 0.32584467237916737],
            [0.7656476351552285, 0.7656476351552285, 0.5294024006531746, 0.32584467237916737],
            [0.5294024006531746, 0.5294024006531746, 0.3874659087822251, 0.23949558850260588],
            [0.32584467237916737, 0.32584467237916737, 0.23949558850260588, 0.14808341558044785],
        ],
    ),
    (
        "rank",
        ((0, 2, 1), 3),
        "centred",
        696.0363471693371,
        535.0055399033595,
        [-0.461761, -0.461761, -0.32199769],
        [
            [0.48607176, 0.48607176, 0.59844284],
            [0.48607176, 0.48607176, 0.59844284],
            [0.59844284, 0.59844284, 0.76323895],
        ],
    ),
]


@pytest.mark.parametrize(("kind", "outcome", "bound", "K", "w", "m0", "G"), STUCK)
def test_sharp_labels_that_creep_under_plain_sweeps(
    kind: str, outcome: object, bound: str, K: float, w: float, m0: list[float], G: list[list[float]]
) -> None:
    mean, cov = np.array(m0), np.array(G)
    sites = solve_scores(mean, cov, kind, outcome, w, K, bound)
    answer = elbo.terms(kind, len(m0), outcome, K)
    assert elbo.stationary_residual(mean, cov, sites.precision, sites.shift, answer, w, bound) < 1e-8


def test_a_sharp_answer_takes_at_most_ten_times_the_work_of_an_ordinary_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rankings of 8 in two dimensions, of unit norm with the usual sharpness, and five times as far apart with K = 300."""
    evaluated = 0
    plain = variational._state

    def counted(*arguments: Any) -> Any:
        nonlocal evaluated
        evaluated += 1
        return plain(*arguments)

    monkeypatch.setattr(variational, "_state", counted)
    work = {}
    for K, scale in ((6.75, 1.0), (300.0, 5.0)):
        rng, counts = np.random.default_rng(6), []
        for _ in range(20):
            items = np.column_stack([np.ones(8), rng.normal(size=(8, 2))])
            outcome = cases.random_outcome("rank", 8, rng)
            evaluated = 0
            solve_scores(np.zeros(8), scale**2 * items @ items.T / 3, "rank", outcome, 9.0, K, "centred")
            counts.append(evaluated)
        work[K] = np.array([np.median(counts), np.mean(counts)])
    assert (work[300.0] <= 10 * work[6.75]).all()


@pytest.mark.parametrize("kind", ["select_high", "select_low", "rank"])
def test_the_centred_bound_ignores_a_common_shift(kind: str) -> None:
    """A choice says nothing on the bias; with labels switched off (w near 0) the centred bound must agree."""
    k, rng = 3, np.random.default_rng(3)
    A = rng.normal(size=(k, k))
    G, m0 = A @ A.T, rng.normal(size=k)
    outcome = cases.random_outcome(kind, k, rng)
    sites = solve_scores(m0, G, kind, outcome, 1e-8, 2.0, "centred")
    np.testing.assert_allclose(sites.precision @ np.ones(k), 0, atol=1e-7)
    shifted = solve_scores(m0 + 5.0, G + 3.0, kind, outcome, 1e-8, 2.0, "centred")
    np.testing.assert_allclose(shifted.precision, sites.precision, atol=1e-6)
    paper = solve_scores(m0, G, kind, outcome, 1e-8, 2.0, "paper")
    assert np.abs(paper.precision @ np.ones(k)).max() > 0.1


@pytest.mark.parametrize("bound", BOUNDS)
def test_nothing_is_learnt_where_nothing_is_uncertain(bound: str) -> None:
    sites = solve_scores(np.zeros(3), np.zeros((3, 3)), "rank", ((0, 1, 2), 1), 5.0, 5.0, bound)
    assert np.isfinite(sites.precision).all()
    assert np.isfinite(sites.shift).all()
