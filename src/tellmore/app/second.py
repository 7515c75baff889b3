"""Questions for teams: the same question for a second person, and items whose label is known."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from tellmore import kinds
from tellmore.app.checks import shuffled
from tellmore.data.settings import TeamSettings
from tellmore.questions import Question
from tellmore.store.agreement import OWN_CHOICE, known_labels
from tellmore.store.ledger import KNOWN, SECOND, Ledger


def team_question(
    ledger: Ledger, team: TeamSettings, participant: str, taken: Collection[str], rng: np.random.Generator
) -> tuple[Question, dict[str, Any]] | None:
    """A question for the team and what the log records about it, as often as ``team`` says; None if none is due, or
    there is none without items in ``taken``."""
    drawn = rng.random()
    if drawn < team.overlap:
        return _second(ledger, participant, set(taken), rng)
    if drawn < team.overlap + team.known_share:
        return _known(ledger, participant, set(taken), rng)
    return None


def _second(
    ledger: Ledger, participant: str, taken: set[str], rng: np.random.Generator
) -> tuple[Question, dict[str, Any]] | None:
    """A question that one other person answered and nobody else was given, in another order."""
    doubled = {asked.second_of for asked in ledger.asked.values()}
    single = [
        asked.question
        for asked, given in ledger.counting()
        if given.participant != participant
        and given.question_id not in doubled
        and asked.why not in (SECOND, *OWN_CHOICE)
        and taken.isdisjoint(asked.question.items)
    ]
    if not single:
        return None
    question = single[rng.integers(len(single))]
    return shuffled(question, rng), {"why": SECOND, "second_of": question.id}


def _known(
    ledger: Ledger, participant: str, taken: set[str], rng: np.random.Generator
) -> tuple[Question, dict[str, Any]] | None:
    """An item that somebody else chose to label, and about which this person was not asked in this way."""
    mine = (asked for asked in ledger.asked.values() if asked.participant == participant and asked.why == KNOWN)
    tried = {item for asked in mine for item in asked.question.items}
    fit = [
        item
        for item, vote in known_labels(ledger).items()
        if vote.participant != participant and item not in tried and item not in taken
    ]
    return (Question(kinds.single().name, [fit[rng.integers(len(fit))]]), {"why": KNOWN}) if fit else None
