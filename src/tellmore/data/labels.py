"""Labels as words: which word means positive and which negative."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tellmore.data.settings import Settings
from tellmore.errors import DataFileError, SettingError

POSITIVE_WORDS = ("positive", "pos", "yes", "true", "1")
NEGATIVE_WORDS = ("negative", "neg", "no", "false", "0")
ALL_OTHERS = "*"
_SHOWN = 5


def own_words(settings: Settings) -> tuple[str, str]:
    """The project's words for positive and negative."""
    return settings.project.positive, settings.project.negative


def same_word(value: str) -> str:
    """``value`` in a form in which words are compared: case and spaces do not matter, and 1.0, as pandas writes it, is 1.

    >>> same_word(" Yes "), same_word("1.0")
    ('yes', '1')
    """
    word = value.strip().casefold()
    whole, point, zeros = word.partition(".")
    return whole if point and whole.isdecimal() and zeros and not zeros.strip("0") else word


@dataclass(frozen=True)
class LabelWords:
    """The user's words: none, for the usual ones; or the word that means positive and, if there are more than two, the one that
    means negative, or ``*`` for all others. ``own`` are a project's words, which are known in addition to the usual ones."""

    positive: str | None = None
    negative: str | None = None
    own: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.negative is not None and self.positive is None:
            raise SettingError("--negative-value needs --positive-value")
        if self.positive is not None and same_word(self.positive) == same_word(self.negative or ""):
            raise SettingError(f"--positive-value and --negative-value are both {self.positive!r}")

    def meanings(self, present: Iterable[str], where: str) -> Mapping[str, bool]:
        """The meaning of each word that is ``present``, by ``same_word``; words without a meaning are left out."""
        words = {same_word(word): word.strip() for word in present if word.strip()}
        if self.positive is None:
            usual = dict.fromkeys(POSITIVE_WORDS, True) | dict.fromkeys(NEGATIVE_WORDS, False)
            usual |= {} if self.own is None else {same_word(self.own[0]): True, same_word(self.own[1]): False}
            return {word: usual[word] for word in words if word in usual}
        listed = ", ".join(repr(words[word]) for word in sorted(words)[:_SHOWN])
        yes, others = same_word(self.positive), set(words) - {same_word(self.positive)}
        no = others if self.negative == ALL_OTHERS else {same_word(self.negative or "")} & others
        if words and yes not in words and (self.negative == ALL_OTHERS or not no):
            raise DataFileError(f"{where}: no label is {self.positive!r} (--positive-value); there are {listed}")
        if self.negative is None:
            if len(others) > 1:
                raise DataFileError(
                    f"{where}: the labels are {listed}{', …' if len(words) > _SHOWN else ''}; say which one means negative "
                    f"with --negative-value, or --negative-value '{ALL_OTHERS}' for all but {self.positive!r}"
                )
            no = others
        return {word: word == yes for word in {yes, *no}}

    def advice(self) -> str:
        """What to do about an unknown word."""
        if self.positive is None:
            return "a label is 'positive', 'negative' or empty; say which value is positive with --positive-value"
        return f"{self.positive!r} means positive and {self.negative!r} negative; leave it empty, or leave the row out"
