"""The probability of an answer, against plain sums over many draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from tellmore import kinds
from tellmore.answer_probability import answer_probability
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.update import with_constant
from tellmore.kinds import Outcome

USUAL = Behaviour(w=2.0, K=1.2, threshold=0.5)
CASES = [("label", 1), ("select_high", 3), ("rank", 4), ("tick", 6)]


@pytest.mark.parametrize(("name", "size"), CASES)
def test_an_answer_was_as_probable_as_many_draws_say(name: str, size: int) -> None:
    rng, kind = np.random.default_rng(3), kinds.named(name)
    belief = Gaussian.from_moments(rng.normal(size=4), 0.5 * np.eye(4))
    X = rng.normal(size=(size, 3))
    behaviour = kind.learnt_with(USUAL)
    outcome = kind.sample(with_constant(X) @ belief.mean, behaviour, rng)
    thetas = rng.multivariate_normal(belief.mean, belief.cov, size=4000)
    z = thetas @ with_constant(X).T
    mean, cov, _ = belief.project(with_constant(X))
    found = answer_probability(mean, cov, kind, outcome, USUAL, rng=np.random.default_rng(0))

    def log_p(one: Outcome) -> float:
        return float(logsumexp(kind.log_likelihood(z, one, behaviour)) - np.log(len(z)))

    drawn = np.array([log_p(kind.sample(one, behaviour, rng)) for one in z[:300]])
    assert found.log_score == pytest.approx(log_p(outcome), abs=0.15)
    assert found.expected == pytest.approx(drawn.mean(), abs=4 * drawn.std() / np.sqrt(24) + 0.1)
    assert found.spread == pytest.approx(drawn.std(), rel=0.5, abs=0.05)


def test_all_answers_together_are_as_probable_as_expected() -> None:
    rng, kind = np.random.default_rng(4), kinds.named("select_high")
    belief, X = Gaussian.from_moments(rng.normal(size=4), np.eye(4)), rng.normal(size=(3, 3))
    mean, cov, _ = belief.project(with_constant(X))
    found = [answer_probability(mean, cov, kind, each, USUAL, rng=rng) for each in kind.outcomes(3)]
    p = np.exp([one.log_score for one in found])
    assert p.sum() == pytest.approx(1.0)
    assert float(p @ np.log(p)) == pytest.approx(found[0].expected)
