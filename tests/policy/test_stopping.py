"""Stopping rules, alone and combined; each says why."""

from __future__ import annotations

from dataclasses import replace
from math import log

import pytest

from tellmore.errors import SettingError
from tellmore.policy.stopping import AnswerBudget, DeterminantRule, Progress, Settled, Stability, TimeBudget, disagree
from tellmore.policy.tally import Check, Tally

COUNTED = Tally(answers=12, seconds=80.0, changed=(0.0, 0.01, 0.2))
NOW = Progress(dim=4, logdet=4 * log(0.02), prior_logdet=4 * log(0.1), tally=COUNTED)
SURE = tuple(Check(0.95, True, answer) for answer in range(50, 60))
DONE = Progress(
    dim=4,
    logdet=0.0,
    prior_logdet=0.0,
    tally=Tally(answers=60, changed=(0.01,) * 20, positive=5, negative=30, checks=SURE),
    undecided=0.048,  # of which 200 answers more than 60 decide 52 %
)
RARE = replace(DONE, smaller=0.05, undecided=0.00048, tally=replace(DONE.tally, changed=(0.001,) * 20))


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
        (Stability(window=2, tolerance=0.01), True, "changed at most 1 %"),
        (Stability(window=3, tolerance=0.01), False, "20 %"),
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


def counted(**changes: object) -> Progress:
    return replace(DONE, tally=replace(DONE.tally, **changes))


@pytest.mark.parametrize(
    ("progress", "stopped", "check", "says"),
    [
        (DONE, True, False, "10 of 10 random labels were as predicted"),
        (counted(answers=19), False, False, "19 of at least 20 answers"),
        (counted(positive=4), False, False, "4 positive items found so far"),
        (counted(negative=0), False, False, "0 negative items found so far"),
        (replace(DONE, undecided=0.05), False, False, "200 more answers may correct 2.6 % of the predictions"),
        (counted(answers=61), True, False, "200 more answers would correct about 2.48 % of the predictions"),
        (counted(changed=(0.011,) + (0.0,) * 19), False, False, "changed 1.1 % of the predictions"),
        (counted(changed=(0.0,) * 19), False, False, "last 19 answers"),
        (counted(checks=SURE[:9]), False, True, "9 of 10 random labels checked"),
        (counted(answers=111), False, True, "9 of 10 random labels checked"),  # the oldest is too old to count
        (counted(checks=tuple(replace(one, told=False) for one in SURE)), False, False, "0 of 10 random labels"),
        # the last ten agree, but twenty before them did not
        (counted(checks=(Check(0.95, False, 1),) * 20 + SURE), False, False, "10 of 30 random labels"),
        (counted(checks=(Check(0.6, False, 1),) * 20 + SURE), False, False, "10 of 30 random labels"),
        (counted(checks=(Check(0.6, False, 1),) * 5 + SURE), True, False, "10 of 15 random labels"),
        (replace(DONE, undecided=0.5, unlabelled=0), True, False, "every item has a label"),
        # one in twenty is called positive: a hundredth as much may be gained, and a tenth may change, compared with equal sides
        (replace(DONE, smaller=0.05), False, False, "may correct 2.49 % of the predictions"),
        (replace(DONE, smaller=0.05, undecided=0.00048), False, False, "changed 1 % of the predictions"),
        (
            replace(RARE, undecided=0.0005),
            False,
            False,
            "at most 0.025 % is allowed if 5 % are on the rarer side",
        ),
        (RARE, True, False, "each changed at most 0.1 % of them"),
        (replace(RARE, items=100, tally=DONE.tally), True, False, "at most 1 %"),  # one item is always allowed
        (replace(RARE, smaller=0.0), False, False, "at most 0 % is allowed if 0 % are on the rarer side"),
    ],
)
def test_it_stops_when_predictions_have_settled_and_random_labels_agree(
    progress: Progress, stopped: bool, check: bool, says: str
) -> None:
    result = Settled().check(progress)
    assert (result.stopped, result.check) == (stopped, check)
    assert says in result.reason


@pytest.mark.parametrize(("right", "differs"), [(10, False), (9, False), (8, False), (7, True), (5, True)])
def test_checks_disagree_where_chance_does_not_explain_it(right: int, differs: bool) -> None:
    """Of ten labels predicted at 95 %, 9.5 are right on average; seven or fewer happen once in a hundred times."""
    checks = [Check(0.95, n < right, 0) for n in range(10)]
    assert disagree(checks) is differs


def test_a_wish_for_random_labels_survives_combination() -> None:
    waiting = counted(checks=())
    assert (Settled() | AnswerBudget(500)).check(waiting).check
    assert (Settled() & AnswerBudget(500)).check(waiting).check
