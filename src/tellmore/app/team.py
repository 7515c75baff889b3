"""Routes for a team: comments and flags on items, the agreement between people, settling conflicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fastapi import APIRouter
from starlette.exceptions import HTTPException

from tellmore.app import wire, wire_team
from tellmore.app.dashboard import item_out
from tellmore.app.shared import REFUSALS, Owner, Shared, Teacher
from tellmore.opinions import ENOUGH_ANSWERS, Camps, Opinions
from tellmore.pool import Pool
from tellmore.store.agreement import agreement, conflicts
from tellmore.store.events import leave_out_event, note_event
from tellmore.store.ledger import SETTLED, Ledger, Note

LISTED_CONFLICTS = 100
LISTED_APART = 5

team = APIRouter(prefix="/api", responses=REFUSALS)


@team.post("/notes", tags=["people"], status_code=201)
def note(body: wire_team.NoteIn, shared: Shared, visitor: Teacher) -> wire.DoneOut:
    """Comment on an item, or flag it; the owner reads it on the Items page."""
    if not body.text and not body.flag:
        raise HTTPException(422, "write a comment, or flag the item")
    session = shared.session
    with session.lock:
        if visitor.role != "owner" and not _was_shown(session.desk, visitor.participant, body.item):
            raise HTTPException(404, "you were not shown such an item")
        session.pool.rows([body.item])
        session.append([note_event(visitor.participant, body.item, body.text, body.flag)])
    return wire.DoneOut()


def _was_shown(ledger: Ledger, participant: str, item: str) -> bool:
    return any(asked.participant == participant and item in asked.question.items for asked in ledger.asked.values())


@team.get("/agreement", tags=["owner"])
def read_agreement(shared: Shared, _visitor: Owner) -> wire_team.AgreementOut:
    """How far people agree on items that several of them labelled, and the items on which they disagree."""
    session = shared.session
    view = session.look()
    pool, probability = view.learner.pool, view.probability
    with session.lock:
        found, between, names = conflicts(session.desk), agreement(session.desk), dict(session.desk.names)
    listed = [
        wire_team.ConflictOut(
            **item_out(pool, each.item).model_dump(),
            probability=float(probability[pool.rows([each.item])[0]]),
            votes=[
                wire_team.VoteOut(name=names.get(vote.participant, vote.participant), positive=vote.positive)
                for vote in each.votes
            ],
            settled=each.settled,
        )
        for each in found[:LISTED_CONFLICTS]
    ]
    still_open = sum(each.settled is None for each in found)
    return wire_team.AgreementOut(agreement=between, conflicts=listed, total=len(found), open=still_open)


@team.post("/leave-out", tags=["owner"])
def leave_out(body: wire_team.LeaveOutIn, shared: Shared, visitor: Owner) -> wire.DoneOut:
    """Leave out one person's answers, past and future, or count them again. They stay in the log, and the person is not
    notified."""
    session = shared.session
    with session.lock:
        if body.participant not in set(session.desk.names) | session.desk.contributors():
            raise HTTPException(404, "there is no such participant")
        if (body.participant in session.desk.left_out) != body.out:
            shared.relearning.spend(visitor.participant)
            session.append([leave_out_event(visitor.participant, body.participant, body.out)])
            session.planner.forget()
    return wire.DoneOut()


@team.get("/opinions", tags=["owner"])
def read_opinions(shared: Shared, _visitor: Owner) -> wire_team.OpinionsOut:
    """Whether people mean the same thing: the items they disagree on, and two camps if the answers support them."""
    session = shared.session
    learner = session.look().learner
    with session.lock:
        names, pool = dict(session.desk.names), learner.pool
    found = learner.opinions()

    def called(people: Iterable[str]) -> list[str]:
        return [names.get(one, one) for one in people]

    return wire_team.OpinionsOut(
        people=called(found.people),
        few=called(found.few),
        enough=ENOUGH_ANSWERS,
        own=found.own,
        camps=None if found.camps is None else _camps_out(found, found.camps, called, pool),
        disputed=[
            wire_team.DisputedOut(
                **item_out(pool, each.item).model_dump(),
                views=[
                    wire_team.ViewOut(name=name, probability=p)
                    for name, p in zip(called(each.by_person), each.by_person.values(), strict=True)
                ],
                gap=each.gap,
            )
            for each in found.disputed()
        ],
    )


def _camps_out(
    found: Opinions, camps: Camps, called: Callable[[Iterable[str]], list[str]], pool: Pool
) -> wire_team.CampsOut:
    first_more, second_more = found.apart(camps.first, camps.second, n=LISTED_APART)
    return wire_team.CampsOut(
        first=called(camps.first),
        second=called(camps.second),
        gain_nats=camps.gain_nats,
        gain_se=camps.gain_se,
        answers=camps.answers,
        first_more=[item_out(pool, item) for item in first_more],
        second_more=[item_out(pool, item) for item in second_more],
    )


@team.post("/settle", tags=["owner"])
def settle(body: wire.LabelIn, shared: Shared, visitor: Owner) -> wire.DoneOut:
    """Settle the label of an item; it is learnt like a label of an item that you chose yourself."""
    shared.session.label(visitor.participant, body.item, body.positive, SETTLED)
    return wire.DoneOut()


def notes_out(notes: Sequence[Note], names: dict[str, str]) -> list[wire_team.NoteOut]:
    """Comments and flags, oldest first, with the names of their authors."""
    return [
        wire_team.NoteOut(
            name=names.get(each.participant, each.participant), t_utc=each.t_utc, text=each.text, flag=each.flag
        )
        for each in notes
    ]
