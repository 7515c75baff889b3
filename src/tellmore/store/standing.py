"""The progress of a project in words: the same on the page, on the dashboard and in ``tellmore status``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tellmore.policy import words
from tellmore.policy.words import ENOUGH_CHECKS, checks, percent, range_words
from tellmore.store.fold import AnswerEffect
from tellmore.store.ledger import Ledger
from tellmore.store.statistics import Accuracy, accuracy, commoner, time_left

HOURS_FROM_MINUTES = 90


@dataclass(frozen=True)
class Standing:
    """Sentences without a full stop. ``left`` is None if it is not known; ``end`` is (title, text) once it is time to stop."""

    accuracy: str
    target: str
    left: str | None
    end: tuple[str, str] | None


def standing(ledger: Ledger, effects: Sequence[AnswerEffect], n: int) -> Standing:
    """The progress of a project of ``n`` items."""
    learning, found = ledger.settings.learning, accuracy(effects)
    end = end_words(ledger, effects)
    left = None if ledger.end else time_left(effects, learning.target_accuracy, n)
    return Standing(
        accuracy_words(found, asked=learning.check_share > 0, ended=end is not None),
        target_words(found, learning.target_accuracy, ended=end is not None, trivial=_trivial(ledger, effects)),
        None if left is None else f"{span(*left)} left to {percent(learning.target_accuracy)}",
        end,
    )


def sentence(words: str) -> str:
    """``words`` with a capital at the beginning and a full stop at the end.

    >>> sentence("too early to tell")
    'Too early to tell.'
    """
    return f"{words[:1].upper()}{words[1:].removesuffix('.')}."


def interval(found: Accuracy) -> str:
    """The interval of an accuracy.

    >>> from tellmore.store.statistics import accuracy_of
    >>> interval(accuracy_of(36, 40))
    '77 to 96 %'
    """
    return range_words(found.low, found.high)


def accuracy_words(found: Accuracy | None, *, asked: bool = True, ended: bool = False) -> str:
    """How accurate the predictions are, as a range, if there are enough random checks; ``asked``: whether any are asked.

    Once it is time to stop (``ended``), "too early" would contradict that, so the checks are counted instead.

    >>> accuracy_words(None)
    'accuracy: too early to tell'
    """
    if found is None:
        return words.accuracy_words(0, asked=asked)
    if ended and found.n < ENOUGH_CHECKS:
        return f"accuracy: {measured_words(found)}"
    return words.accuracy_words(found.n, found.low, found.high, asked=asked)


def target_words(
    found: Accuracy | None, target: float, *, ended: bool = False, trivial: tuple[str, float] | None = None
) -> str:
    """How far it is to the target; ``ended``: whether it is time to stop. ``trivial``: the more common label and its share of the
    random checks, because a target that this label alone reaches says nothing about the classifier.

    >>> from tellmore.store.statistics import accuracy_of
    >>> target_words(accuracy_of(97, 100), 0.9, trivial=("not spam", 0.96))
    'the target of 90 % says little here: always saying "not spam" would be right on 96 % of the random checks'
    """
    goal = f"the target of {percent(target)}"
    if found is None or found.n < ENOUGH_CHECKS:
        confirming = f"{goal} is not confirmed, which takes at least {checks(ENOUGH_CHECKS)}"
        return confirming if ended else f"{goal}: too early to tell"
    if trivial is not None and found.estimate >= target and trivial[1] >= found.low:
        label, share = trivial
        return (
            f'{goal} says little here: always saying "{label}" would be right on {percent(share)} of the random checks'
        )
    if found.low >= target:
        return f"{goal} is reached"
    if found.estimate >= target:
        return f"{goal} is probably reached; a few more checks will confirm"
    points = max(1, round(100 * (target - found.estimate)))
    return f"about {points} point{'' if points == 1 else 's'} to {goal}"


def _trivial(ledger: Ledger, effects: Sequence[AnswerEffect]) -> tuple[str, float] | None:
    """The more common label of the random checks, as people read it, and its share."""
    found, names = commoner(ledger, effects), ledger.settings.project
    return None if found is None else (names.positive if found.positive else names.negative, found.share)


def span(low: float, high: float) -> str:
    """Minutes from ``low`` to ``high``, rounded as their precision allows.

    >>> span(0.2, 0.8), span(0.5, 8), span(6.2, 17), span(130, 400)
    ('under a minute', 'up to 8 minutes', '6 to 17 minutes', '2 to 7 hours')
    """
    if high < 1:
        return "under a minute"
    unit, name = (60, "hour") if high > HOURS_FROM_MINUTES else (1, "minute")
    first, last = round(low / unit), math.ceil(high / unit)
    if first == last:
        return f"about {last} {name}{'' if last == 1 else 's'}"
    return f"up to {last} {name}s" if first < 1 else f"{first} to {last} {name}s"


def end_words(ledger: Ledger, effects: Sequence[AnswerEffect]) -> tuple[str, str] | None:
    """Title and text of the end, with the reason and what the random checks show; None before it."""
    if ledger.end is None and not ledger.closed:
        return None
    why = "owner" if ledger.end is None else ledger.end.why
    title, text = {
        "settled": ("You can stop", "More answers would change little"),
        "labelled": ("Every item has a label", "There is nothing left to ask"),
        "shown": ("You can stop", "The items have been shown three times each on average; there is little more to ask"),
        "owner": ("The questions have ended", "The owner has ended them"),
    }[why]
    found = accuracy(effects)
    if found is None:
        return title, f"{text}."
    few = ", too few to say how often it is right" if found.n < ENOUGH_CHECKS else ""
    return title, f"{measured_words(found)}{few}. {_one_sided(ledger, effects)}{text}."


def _one_sided(ledger: Ledger, effects: Sequence[AnswerEffect]) -> str:
    """A sentence if all random checks have the same label: they say nothing about items of the other side."""
    found, names = commoner(ledger, effects), ledger.settings.project
    if found is None or found.share < 1:
        return ""
    missing = names.negative if found.positive else names.positive
    return f"None of them is {missing}, so it is not known how many such items it misses. "


def measured_words(found: Accuracy) -> str:
    """The result of the random checks, as a share only if there are enough of them.

    >>> from tellmore.store.statistics import accuracy_of
    >>> measured_words(accuracy_of(36, 40)), measured_words(accuracy_of(11, 11))
    ('90 % right on 40 random checks (95 % interval: 77 to 96 %)', '11 of 11 random checks were right')
    """
    if found.n < ENOUGH_CHECKS:
        return f"{found.correct} of {checks(found.n)} {'was' if found.n == 1 else 'were'} right"
    return f"{percent(found.estimate)} right on {checks(found.n)} (95 % interval: {interval(found)})"
