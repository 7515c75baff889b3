"""Measurements in words for people: the same in the app, on the command line and in notebooks."""

from __future__ import annotations

ENOUGH_CHECKS = 20
"""Random checks needed before an accuracy is reported."""


def percent(share: float, digits: int = 0) -> str:
    """A share for people, with this many ``digits``; 100 % means all of it, and 0 % none of it.

    >>> percent(0.914), percent(0.997), percent(0.9996), percent(1), percent(0.003)
    ('91 %', '99.7 %', 'over 99.9 %', '100 %', '0.3 %')
    """
    if share <= 0 or share >= 1 or 0.01 <= share <= 0.99:
        return f"{100 * share:.{digits}f} %"
    text = f"{100 * share:.1f}"
    return {"0.0": "under 0.1 %", "100.0": "over 99.9 %"}.get(text, f"{text} %")


def exact_percent(share: float) -> str:
    """A share with three significant digits: for limits and forecasts, which may be small and close to each other.

    >>> exact_percent(0.01), exact_percent(0.0248), exact_percent(0.00025), exact_percent(1e-9), exact_percent(0)
    ('1 %', '2.48 %', '0.025 %', 'under 0.001 %', '0 %')
    """
    return "under 0.001 %" if 0 < share < 1e-5 else f"{100 * share:.3g} %"


def checks(n: int) -> str:
    """A number of random checks, in words.

    >>> checks(1)
    '1 random check'
    """
    return f"{n} random check{'' if n == 1 else 's'}"


def range_words(low: float, high: float, digits: int = 0) -> str:
    """An interval of a share, in words.

    >>> range_words(0.77, 0.96)
    '77 to 96 %'
    """
    return f"{100 * low:.{digits}f} to {100 * high:.{digits}f} %"


def accuracy_words(n: int, low: float = 0.0, high: float = 1.0, *, asked: bool = True) -> str:
    """How accurate the predictions are, as a range, if there were enough random checks ``n``; ``asked``: whether any are asked.

    >>> accuracy_words(0)
    'accuracy: too early to tell'
    >>> accuracy_words(40, 0.77, 0.96)
    'accuracy 77 to 96 %, on 40 random checks'
    """
    if n >= ENOUGH_CHECKS:
        return f"accuracy {range_words(low, high)}, on {checks(n)}"
    if n == 0:
        return "accuracy: too early to tell" if asked else "accuracy: not measured, as no random checks are asked"
    return f"accuracy: too early to tell ({n} of {ENOUGH_CHECKS} random checks)"
