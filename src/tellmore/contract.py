"""One function that checks everything a kind of question must do: for tellmore's own kinds and for yours."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.update import with_constant
from tellmore.kinds import Kind, Outcome, named, perceived
from tellmore.kinds.check import check_answers, check_kind, check_plain_values, check_words, require
from tellmore.learner import Learner
from tellmore.pool import Pool
from tellmore.questions import Question, answer_from
from tellmore.types import Array

DRAWS = 200_000
MOST_ENUMERATED = 200
MEAN_TOLERANCE = 0.35
"""How far a mean may be from that of the exact posterior, in its standard deviations: bounds are approximations."""
SPREAD_RANGE = (0.5, 1.5)
"""Allowed standard deviations of the belief, relative to those of the exact posterior."""


def check_question_kind(kind: Kind, *, sizes: Sequence[int] | None = None, seed: int = 0) -> None:
    """Raise QuestionError unless ``kind`` works as a kind must, on small questions of these sizes.

    It checks outcomes, probabilities, answers, plain values, JSON and texts; the update against the exact posterior by
    brute force; the gain against enumeration; that a learner can ask, learn, undo, save and load it; simulated people;
    and the time model. The kind must be registered.

    kind: the kind to check.
    sizes: how many items to show; by default the smallest number that it allows, and one more.
    seed: the seed of all random numbers.

    >>> check_question_kind(named("select_low"), sizes=(2, 3))
    """
    check_kind(kind)
    require(named(kind.name) is kind, kind, "is not registered; call tellmore.register_kind")
    for k in sizes or sorted({kind.fewest, min(kind.fewest + 1, kind.most)}):
        rng = np.random.default_rng([seed, k])
        check_answers(kind, k)
        check_plain_values(kind, k)
        check_words(kind, k)
        _check_update(kind, k, rng)
        _check_gain(kind, k, rng)
        _check_people(kind, k, rng)
        _check_time(kind, k, rng)
        _check_learner(kind, k, seed)


def _check_update(kind: Kind, k: int, rng: np.random.Generator) -> None:
    """Check that mean and spread of the scores after an answer are near those of the exact posterior."""
    behaviour, X = Behaviour(w=2.0, K=2.0), rng.standard_normal((k, k + 1))
    prior = Gaussian.from_moments(0.3 * rng.standard_normal(k + 2), np.eye(k + 2) / 2)
    mean, cov, _ = prior.project(with_constant(X))
    z = rng.multivariate_normal(mean, cov, size=DRAWS)
    for _ in range(3):
        outcome = kind.sample(z[int(rng.integers(DRAWS))], behaviour, rng)
        belief, _info = kind.update(prior, X, outcome, behaviour)
        require(bool(np.isfinite(belief.cov).all()), kind, f"has no finite belief after {outcome}")
        found, spread, _ = belief.project(with_constant(X))
        exact, exact_sd = _exact_posterior(kind, z, outcome, behaviour)
        gap = np.abs(found - exact) / exact_sd
        require(
            bool((gap < MEAN_TOLERANCE).all()),
            kind,
            f"has a mean {gap.max():.2f} sd from the exact one after {outcome}",
        )
        ratio = np.sqrt(np.diag(spread)) / exact_sd
        low, high = SPREAD_RANGE
        require(bool(((ratio > low) & (ratio < high)).all()), kind, f"has {ratio} of the exact spread after {outcome}")


def _exact_posterior(kind: Kind, z: Array, outcome: Outcome, behaviour: Behaviour) -> tuple[Array, Array]:
    """Mean [k] and standard deviation [k] of scores drawn from the prior [N, k], weighted by the likelihood."""
    weight = np.exp(kind.log_likelihood(z, outcome, behaviour))
    weight /= weight.sum()
    mean = weight @ z
    return mean, np.sqrt(weight @ (z - mean) ** 2)


def _check_gain(kind: Kind, k: int, rng: np.random.Generator) -> None:
    """Check that the gain is never negative, never more than the number of outcomes allows, and equal to that by enumeration
    if there are few outcomes."""
    behaviour, root = Behaviour(w=2.0, K=3.0), rng.standard_normal((k, k))
    mean, cov = rng.standard_normal(k) / 2, root @ root.T / k
    gain = kind.gain(mean, cov, behaviour, rng=rng)
    limit = np.log2(kind.n_outcomes(k))
    possible = -1e-9 <= gain.bits <= limit + 4 * gain.se + 1e-9
    require(possible, kind, f"has a gain of {gain.bits:.3f} bits; 0 to {limit:.3f} are possible")
    if kind.n_outcomes(k) > MOST_ENUMERATED:
        return
    z = rng.multivariate_normal(mean, cov, size=DRAWS // 4)
    log_pmf = np.stack([kind.log_likelihood(z, outcome, behaviour) for outcome in kind.outcomes(k)])
    pmf = np.exp(log_pmf)
    exact = (
        -(pmf.mean(axis=1) * np.log2(pmf.mean(axis=1))).sum() + (pmf * log_pmf).sum(axis=0).mean() / np.log(2)
    ).item()
    require(
        abs(gain.bits - exact) < 0.02 * max(exact, 0.1) + 4 * gain.se,
        kind,
        f"has a gain of {gain.bits:.4f} bits, and enumeration gives {exact:.4f}",
    )


def _check_people(kind: Kind, k: int, rng: np.random.Generator) -> None:
    """Check that simulated people answer with the probabilities of the likelihood, and give the most likely answer if there is
    no noise."""
    outcomes = list(kind.outcomes(k)) if kind.n_outcomes(k) <= MOST_ENUMERATED else []
    for scale in (1.0, 3.0) if outcomes else ():  # people in doubt, and people who are nearly sure
        _check_samples(kind, scale * rng.standard_normal(k), outcomes, rng)
    z = rng.standard_normal(k)
    clear = kind.respond(perceived(z, rng))
    surely = Behaviour(w=100.0, K=100.0)
    best = max((float(kind.log_likelihood(z, outcome, surely)) for outcome in outcomes), default=0.0)
    least = best - 1e-6 if outcomes else -np.inf
    likely = float(kind.log_likelihood(z, clear, surely)) >= least
    require(likely, kind, f"answers {clear} for scores {z}, which is not the most likely answer")


def _check_samples(kind: Kind, z: Array, outcomes: Sequence[Outcome], rng: np.random.Generator) -> None:
    """Check that answers drawn at scores z [k] are as frequent as the likelihood says."""
    behaviour, n = Behaviour(w=1.0, K=1.0), 1000
    drawn = [kind.sample(z, behaviour, rng) for _ in range(n)]
    expected = np.exp([float(kind.log_likelihood(z, outcome, behaviour)) for outcome in outcomes])
    share = np.array([drawn.count(outcome) / n for outcome in outcomes])
    noise = np.sqrt(expected * (1 - expected) / n)
    require(
        bool((np.abs(share - expected) < 5 * noise + 1e-3).all()),
        kind,
        "draws answers with other frequencies than its likelihood gives",
    )


def _check_time(kind: Kind, k: int, rng: np.random.Generator) -> None:
    """Check that expected and simulated seconds are positive and do not shrink with the number of items."""
    few, many = kind.time.seconds(k), kind.time.seconds(k + 1)
    require(0 < few <= many, kind, f"takes {few:g} s for {k} items and {many:g} s for {k + 1}")
    require(kind.time.sample(k, rng) > 0, kind, "takes no time")


def _check_learner(kind: Kind, k: int, seed: int) -> None:
    """Check that a learner asks the kind, learns from it, undoes it, and is the same after saving and loading."""
    rng = np.random.default_rng([seed, k, 7])
    X = rng.standard_normal((max(12, 2 * k), 4))
    pool = Pool(X, [f"item{row}" for row in range(len(X))])
    learner = Learner(pool, kind.name, None if kind.most == 1 else k, seed=seed)
    for _ in range(3):
        before = learner.probabilities().copy()
        question = learner.ask()
        require(question.kind == kind.name and question.size == k, kind, f"was asked for, and {question} came")
        z = X[pool.rows(question.items), 0]
        learner.tell(question, answer_from(question, perceived(z, rng)))
    after = learner.probabilities().copy()
    require(bool(np.abs(after - before).max() > 0), kind, "changes no probability")
    require(bool(((after >= 0) & (after <= 1)).all()), kind, "leads to probabilities outside 0 to 1")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner.npz"
        learner.save(path)
        loaded = Learner.load(path)
    require(loaded.history == learner.history, kind, "does not survive saving and loading")
    require(
        np.allclose(loaded.probabilities(), after, atol=1e-6), kind, "predicts differently after saving and loading"
    )
    told: tuple[Question, object] = learner.undo()
    require(np.allclose(learner.probabilities(), before), kind, "cannot be undone")
    learner.tell(told[0], told[1])
    require(np.allclose(learner.probabilities(), after), kind, "leads to other probabilities the second time")
