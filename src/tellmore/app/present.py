"""Turns the session's values into what is sent: questions, progress, settings, the dashboard."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tellmore import kinds
from tellmore.app import dashboard, wire
from tellmore.app.checks import random_items
from tellmore.app.glance import glance_at, is_due
from tellmore.app.session import Session
from tellmore.app.tokens import Visitor
from tellmore.app.view import FullView
from tellmore.app.wire_board import DashboardOut
from tellmore.data.settings import Settings, in_degrees, words_of
from tellmore.kinds import Words
from tellmore.policy.asking import AUTO
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.beforehand import named_examples
from tellmore.store.fold import DECISION_THRESHOLD
from tellmore.store.ledger import CHOSEN, Asked, Ledger
from tellmore.store.standing import end_words, standing
from tellmore.store.statistics import accuracy, confident_mistakes
from tellmore.store.status import doubts_of, kept_of, start_verdict
from tellmore.store.steady import for_themselves
from tellmore.types import Skip

WORDING = ("name", "attribute", "positive", "negative", "instruction", "guidelines")
PROJECT = (*WORDING, "quota")
LEARNING = ("question", "kinds", "sizes", "set_size", "target_accuracy", "check_share", "ties")
TEAM = ("overlap", "known_share")
OLD_START = {"like": "seeds_positive", "unlike": "seeds_negative"}
"""The keys of version 0.1 for examples; changing the examples moves them to their new place."""
NOTHING_LEFT = "Every item is with somebody else right now. Try again in a minute."
FEW_ITEMS = 100
"""In so few, every item may have a label before the predictions settle."""
END_PATIENCE_S = 2.0
"""How long an owner without a question waits for the last answer to be learnt, so that the end counts it."""
DONE = ("Done, thank you", "All your answers are saved. You can close this page.")


def project_out(settings: Settings, *, images: bool) -> wire.ProjectOut:
    """The project's words, with what each kind of question asks in them."""
    words = settings.project
    return wire.ProjectOut(
        **{key: getattr(words, key) for key in WORDING} | {"attribute": in_degrees(words.attribute)},
        kinds=kinds_out(words_of(settings), ties=settings.learning.ties),
        media="image" if images else "text",
        ties=settings.learning.ties,
    )


def kinds_out(words: Words, *, ties: bool = False) -> list[wire.KindOut]:
    """Every kind of question, in the project's words."""
    return [
        wire.KindOut(
            **kind.described(words, ties=ties), script=None if kind.script is None else script_address(kind.name)
        )
        for kind in kinds.all_kinds()
    ]


def script_address(kind: str) -> str:
    """The address of the module that shows a kind of question."""
    return f"/api/kinds/{kind}/card.js"


def question_out(session: Session, question: Question, *, stale: bool) -> wire.QuestionOut:
    """A question with its items as they are shown."""
    items = [dashboard.item_out(session.pool, item) for item in question.items]
    return wire.QuestionOut(id=question.id, kind=question.kind, items=items, stale=stale)


def question_reply(session: Session, visitor: Visitor, asked: Asked | None) -> wire.QuestionReply:
    """The open question of ``visitor``, and their progress."""
    if asked is None and visitor.role == "owner":
        with session.lock:
            session.lock.wait_for(lambda: session.planner.up_to_date, END_PATIENCE_S)
    question = None if asked is None else question_out(session, asked.question, stale=asked.stale)
    end = None if question else end_out(session, visitor)
    return wire.QuestionReply(
        question=question,
        reason=None if question or end else NOTHING_LEFT,
        end=end,
        glance=glance_out(session, visitor, () if asked is None else asked.question.items),
        pause=pause_out(session, visitor) if question else None,
        progress=progress_out(session, visitor),
    )


def glance_out(session: Session, visitor: Visitor, asked: Collection[str]) -> wire.GlanceOut | None:
    """A few predictions, without the items that are ``asked`` about now, if it is time to show them to an owner."""
    with session.lock:
        due = visitor.role == "owner" and is_due(session.desk.answers_of(visitor.participant))
    if not due:
        return None
    view = session.look()
    return glance_at(view.learner.pool, view, asked)


def pause_out(session: Session, visitor: Visitor) -> wire.PauseOut | None:
    """The suggestion to take a break, if this person's newest answers differ from their own earlier ones."""
    with session.lock:
        own = session.planner.view.steady.get(visitor.participant)
    seen = None if own is None else own.now
    return None if seen is None else wire.PauseOut(id=f"{seen.change}-{seen.answers}", text=for_themselves(seen))


def introduction(settings: Settings, items: int, *, owner: bool) -> list[str]:
    """What a person reads before the first question: what it is for, how long it takes, and why questions differ.

    ``items``: how many the pool has.
    """
    words, learning = settings.project, settings.learning
    aim = f"Your answers teach a classifier what is {words.positive} and what is {words.negative}."
    if owner and items <= FEW_ITEMS:
        length = f"The questions end when all {items} items have a label, or before; this page says when you can stop."
    elif owner:
        length = "It needs at least 20 answers, often a hundred or more; this page says when you can stop."
    elif words.quota is not None:
        length = f"You are asked for {words.quota} answers. You can stop and come back at any time."
    else:
        length = "Answer as many as you like; you can stop and come back at any time."
    vary = "Questions differ in kind and size: each is chosen to teach the most in the least time."
    checks = "Some questions are random, to check what has been learnt." if learning.check_share else ""
    return [aim, length, " ".join(filter(None, [vary if learning.question == AUTO else "", checks]))]


def end_out(session: Session, visitor: Visitor) -> wire.EndOut | None:
    """What a person reads at the end, None before it. Only owners read about the classifier."""
    with session.lock:
        desk, view = session.desk, session.planner.view
        if visitor.role != "owner":
            over = desk.over or session.quota_met(visitor.participant, desk.answers_of(visitor.participant))
            return wire.EndOut(title=DONE[0], text=DONE[1], go_on=False) if over else None
        words = end_words(desk, view.effects) if desk.over else None
        return None if words is None else wire.EndOut(title=words[0], text=words[1], go_on=desk.may_go_on)


def progress_out(session: Session, visitor: Visitor) -> wire.ProgressOut:
    """What a person has done; for the owner also what the model can do."""
    with session.lock:
        desk, view = session.desk, session.planner.view
        own: dict[str, Any] = {
            "answers": desk.answers_of(visitor.participant),
            "minutes": desk.minutes_of(visitor.participant),
            "can_undo": desk.can_undo(visitor.participant),
            "quota": session.quota(visitor.participant),
        }
        if visitor.role != "owner":
            return wire.ProgressOut(**own)
        words = standing(desk, view.effects, len(session.pool))
        # Once it is over, the whole page says so.
        told = [] if desk.over else [words.accuracy, words.left, None if words.end is None else words.end[0]]
    return wire.ProgressOut(**own, answers_all=len(view.effects), standing=[each for each in told if each])


def settings_out(settings: Settings) -> wire.SettingsOut:
    """What the owner may edit, and the whole configuration without secrets."""
    return wire.SettingsOut(
        **{key: getattr(settings.project, key) for key in PROJECT},
        **{key: getattr(settings.learning, key) for key in LEARNING},
        **{key: getattr(settings.team, key) for key in TEAM},
        like=list(settings.examples[0]),
        unlike=list(settings.examples[1]),
        config=settings.redacted(),
    )


def changes_of(change: wire.SettingsChange, pool: Pool) -> dict[str, dict[str, Any]]:
    """A change of settings by section, as it is recorded in the log."""
    given = change.model_dump(exclude_unset=True)
    given = {key: value for key, value in given.items() if value is not None or key in ("set_size", "quota")}
    examples = {key: named_examples(pool, given[key]) for key in OLD_START if key in given}
    sections = {
        "project": {key: given[key] for key in PROJECT if key in given},
        "learning": {key: given[key] for key in LEARNING if key in given} | {OLD_START[key]: [] for key in examples},
        "start": examples,
        "team": {key: given[key] for key in TEAM if key in given},
    }
    return {section: keys for section, keys in sections.items() if keys}


def sample_question(session: Session, settings: Settings) -> Question:
    """A question on random items, as people would see it under ``settings``."""
    learning = settings.learning
    wanted = learning.kinds[0] if learning.question == AUTO else learning.question
    kind = kinds.family(wanted)[0]
    size = kind.usual if learning.set_size is None or learning.question == AUTO else learning.set_size
    return Question(kind.name, random_items(session.pool, min(max(size, kind.fewest), kind.most)))


def asked_now(ledger: Ledger) -> str:
    """Kind and size of the newest question that the learner chose; before the first, those of the settings."""
    for asked in reversed(ledger.asked.values()):
        if asked.why in CHOSEN:
            family, size = kinds.named(asked.question.kind).family, asked.question.size
            return family if size == 1 else f"{family} {size}"
    return ledger.settings.learning.question


def _start_verdict(session: Session, view: FullView) -> str | None:
    found = kept_of(view.learner) if view.effects else None
    if found is None:
        return None
    examples = session.beforehand.examples(session.settings, session.pool)
    return start_verdict(found, doubts_of(view.learner, examples), session.settings.project.positive)


def dashboard_out(session: Session) -> DashboardOut:
    """All numbers of the dashboard at one moment."""
    view = session.look()
    with session.lock:
        session.rates.watch()
        desk, settings = session.desk.frozen(), session.settings
        out = {asked.participant for asked in session.questions_out()}
        pool, lately = session.pool, session.desk.lately.shares()
        rates, rates_answers, rates_seq = session.rates.table, session.rates.answers, session.rates.seq
    people = dashboard.annotators_out(desk, view, out)
    skips = sum(isinstance(given.answer, Skip) and not given.void for given in desk.given.values())
    words = standing(desk, view.effects, len(pool))
    wrong = confident_mistakes(desk, view.effects, view.learner.tally.checks)
    honest = accuracy(view.effects)
    target = settings.learning.target_accuracy
    most_positive, most_negative, most_uncertain = dashboard.extremes(pool, view.mean, view.sd, view.probability)
    return DashboardOut(
        project=project_out(settings, images=pool.images is not None),
        answers=len(view.effects),
        skips=skips,
        minutes=sum(each.seconds for each in view.effects) / 60,
        accuracy=honest,
        quality=view.learner.quality(),
        target_accuracy=target,
        standing=words,
        over=desk.over,
        stop_reason=None if desk.end is None else desk.end.reason,
        may_go_on=desk.may_go_on,
        mistakes=dashboard.mistakes_out(pool, wrong),
        curve=dashboard.curve(view.effects),
        accuracy_curve=dashboard.accuracy_curve(view.effects),
        rates=list(rates),
        rates_answers=rates_answers,
        rates_seq=rates_seq,
        now=asked_now(desk),
        histogram=dashboard.histogram(view.probability),
        most_positive=most_positive,
        most_negative=most_negative,
        most_uncertain=most_uncertain,
        positive_share=dashboard.positive_share(view.probability),
        threshold=DECISION_THRESHOLD,
        pool_size=len(pool),
        annotators=people,
        seq=desk.seq,
        start_verdict=_start_verdict(session, view),
        problem=session.planner.failure,
        asked=lately,
        warnings=view.learner.warnings(),
    )
