"""Stopping rules, alone and combined; each says why."""

from __future__ import annotations

from dataclasses import replace
from math import log

import pytest

from tellmore.errors import SettingError
from tellmore.policy.stopping import AnswerBudget, DeterminantRule, Progress, Stability, TimeBudget

NOW = Progress(
    dim=4, logdet=4 * log(0.02), prior_logdet=4 * log(0.1), answers=12, seconds=80.0, changed=(0.0, 0.01, 0.2)
)


@pytest.mark.parametrize(
    ("rule", "stopped", "says"),
    [
        (DeterminantRule(0.2), True, "uncertainty per dimension"),
        (DeterminantRule(0.19), False, "0.2 of the prior"),
        (DeterminantRule(0.02, relative=False), True, "0.02"),
        (DeterminantRule(0.019, relative=False), False, "above"),
        (AnswerBudget(12), True, "12 of 12 answers"),
        (AnswerBudget(13), False, "12 of 13 answers"),
        (TimeBudget(80), True, "80 of 80 seconds"),
        (TimeBudget(81), False, "seconds"),
        (Stability(window=2, tolerance=0.01), True, "changed at most 1.0%"),
        (Stability(window=3, tolerance=0.01), False, "20.0%"),
        (Stability(window=4, tolerance=1.0), False, "last 3 answers"),
    ],
)
def test_each_rule(rule: object, stopped: bool, says: str) -> None:
    result = rule.check(NOW)  # type: ignore[attr-defined]
    assert result.stopped is stopped
    assert bool(result) is stopped
    assert says in result.reason


def test_rules_combine() -> None:
    yes, no = AnswerBudget(1), AnswerBudget(100)
    assert (yes | no).check(NOW)
    assert not (yes & no).check(NOW)
    assert (no | yes).check(NOW).reason == yes.check(NOW).reason
    assert "; " in (yes & no).check(NOW).reason
    assert (yes & TimeBudget(10) | no).check(NOW)
    assert str(yes | no & TimeBudget(5)) == "1 answers or 100 answers and 5 seconds"


def test_the_relative_rule_is_free_of_the_priors_scale() -> None:
    rule = DeterminantRule(0.3)
    scaled = replace(NOW, logdet=NOW.logdet + 5, prior_logdet=NOW.prior_logdet + 5)
    assert rule.check(scaled) == rule.check(NOW)


def test_epsilon_must_be_positive() -> None:
    with pytest.raises(SettingError, match="epsilon"):
        DeterminantRule(0.0)
