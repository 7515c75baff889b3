"""Describes people in words: who seems to guess or to swap positive and negative, with the evidence, and who is left out."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from tellmore.core.habits import Habits
from tellmore.data.project import Project
from tellmore.errors import SettingError
from tellmore.learner import Learner
from tellmore.policy.words import percent
from tellmore.store.events import leave_out_event
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Repository

OFTEN = 0.1
"""From this share of lapses on, the text says what kind they are."""
HALF = 0.5
VERDICTS = {
    "careless": "seems to guess",
    "reversed": "seems to answer the other way round",
    "apart": "seems to mean something else",
}


@dataclass(frozen=True)
class Manner:
    """How one person answers, in words. ``verdict``: what to look at, with the evidence; None if nothing seems wrong.
    ``habits``: what is known. ``left_out``: whether their answers are left out."""

    verdict: str | None
    habits: str
    left_out: bool


NOT_COMPARED = Manner(None, "nobody to compare with yet", False)
NO_ANSWERS = Manner(None, "no answers yet", False)


def manners(ledger: Ledger, learner: Learner) -> dict[str, Manner]:
    """By participant, for everybody who was compared with others or is left out."""
    known = learner.people
    return {who: _manner(known.get(who), who in ledger.left_out) for who in {**known, **dict.fromkeys(ledger.left_out)}}


def people_lines(ledger: Ledger, learner: Learner) -> tuple[str, ...]:
    """One line for each person whom the owner should look at, or who is left out."""
    lines = []
    for who, manner in manners(ledger, learner).items():
        name = ledger.names.get(who, who)
        if manner.left_out:
            lines.append(f"{name} is left out; to count these answers again: tellmore leave-out PROJECT NAME --back")
        elif manner.verdict is not None:
            lines.append(f"{name} {manner.verdict}")
    return tuple(lines)


def _manner(habits: Habits | None, left_out: bool) -> Manner:
    if left_out:
        return Manner(None, "left out", True)
    if habits is None:
        return NOT_COMPARED
    if not habits.own:
        few = f"{habits.answers} {'answer' if habits.answers == 1 else 'answers'}"
        return Manner(None, f"too early to tell ({few}); learnt like the team on average", False)
    verdict = VERDICTS.get(habits.verdict or "")
    if verdict is not None:
        verdict = f"{verdict}: {agreement_words(habits)}"
        verdict += "; these answers count little" if habits.learnt_lapse > HALF else ""
    return Manner(verdict, _in_short(habits), False)


def _in_short(habits: Habits) -> str:
    if not habits.labels:
        return f"about {percent(habits.lapse)} of {habits.answers} answers look like chance"
    return f"{percent(habits.alike / habits.labels)} of {habits.labels} labels; guessing: {percent(habits.by_chance)}"


def agreement_words(habits: Habits) -> str:
    """How somebody's answers compare with what was learnt from all others.

    >>> agreement_words(Habits(0.93, 0.95, answers=40, own=True))
    'about 93 % of 40 answers look like chance'
    """
    lapses = f"about {percent(habits.lapse)} of {habits.answers} answers look like chance"
    if habits.reversed >= 0.5:
        lapses = f"{habits.answers} answers look like the opposite of what is meant"
    elif habits.lapse >= OFTEN and habits.first >= 0.5:
        lapses += ", most of them what is shown first"
    if not habits.labels:
        return lapses
    alike = f"agrees with what the other answers taught on {percent(habits.alike / habits.labels)} of {habits.labels} labels"
    return f"{alike}, and guessing would give {percent(habits.by_chance)}; {lapses}"


def participant_named(ledger: Ledger, name: str) -> str:
    """The participant with this name or id; raises SettingError if there is none, or several."""
    everybody = {given.participant for given in ledger.given.values()} | set(ledger.names)
    found = [who for who in everybody if name in (who, ledger.names.get(who))]
    if len(found) == 1:
        return found[0]
    named = ", ".join(sorted(f"{ledger.names.get(who, who)} ({who})" for who in (found or everybody))) or "nobody yet"
    problem = f"several people are called {name!r}; give the id" if found else f"nobody is called {name!r}"
    raise SettingError(f"{problem}: {named}")


def leave_out(project: Project, name: str, out: bool = True) -> str:
    """Leave out somebody's answers, or count them again; returns their name."""
    with closing(Repository(project.database_url)) as repository:
        ledger = Ledger(project.settings, repository.since())
        who = participant_named(ledger, name)
        if (who in ledger.left_out) != out:
            repository.append([leave_out_event("owner", who, out)])
        return ledger.names.get(who, who)
