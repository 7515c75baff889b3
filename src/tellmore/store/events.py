"""The kinds of events in the log, how to write them, and how to read an answer.

    question     issued to a participant: {kind, items, check, stale, behind, as_of, why}, with {second_of} if somebody else
                 has answered it before
    lease        until when it is reserved for them: {until_utc}, or {released: true}
    answer       {answer, timing, late}; it is learnt
    skip         {answer, timing, late}; it is not learnt, and never deleted
    undo         undoes the answer of its question_id: {answer_seq}
    setting      {section: {key: value}}, applied in order on top of the TOML
    participant  {name, role}: somebody was invited
    delete       {participant}: their data was deleted
    leave_out    {participant, out}: their answers, past and future, are left out; out false: they count again
    reset        all answers so far are discarded; settings are kept
    end          {why, reason}: the questions have ended; why: settled, labelled, shown or owner
    go_on        the questions continue after an end
    note         {item, text, flag}: what somebody wrote about an item; flag: something is wrong with it
    items        {added, file}: an owner added items to the pool
    audit        {what, by}: an owner did something, by a request or at the command line
    snapshot     {through, bytes, version}: a saved state, which only saves time

Other kinds may be in the log; readers that do not know them ignore them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tellmore.questions import Question
from tellmore.store.repository import Event
from tellmore.types import Answer, Skip


def question_event(
    question: Question,
    participant: str,
    *,
    check: bool = False,
    behind: int = 0,
    as_of: int = 0,
    why: str = "best",
    **more: Any,
) -> Event:
    """``question`` was issued to ``participant``.

    ``check``: its items were drawn at random and predicted before they were labelled. ``as_of``: the last event that was
    learnt when it was chosen; ``behind``: how many answers had arrived since. ``why``: best, next_best (one of many found by
    one search), supposed (chosen before the last answer was known), check, fallback (random, because nothing was ready),
    again, second (to measure the agreement between people), known (an item whose label is known), direct (the person chose
    the item), or settled (it settles a conflict).
    """
    shown = {"kind": question.kind, "items": list(question.names), "check": check, "stale": behind > 0}
    return Event("question", question.id, participant, {**shown, "behind": behind, "as_of": as_of, "why": why, **more})


def lease_event(question_id: str, participant: str, until_utc: str) -> Event:
    """The question is reserved for ``participant`` until then."""
    return Event("lease", question_id, participant, {"until_utc": until_utc})


def release_event(question_id: str, participant: str) -> Event:
    """The question is no longer shown to ``participant``; a late answer still counts."""
    return Event("lease", question_id, participant, {"released": True})


def answer_event(
    question_id: str, participant: str, answer: Answer, *, timing: Mapping[str, Any] | None = None, late: bool = False
) -> Event:
    """``participant`` answered or skipped."""
    payload = {"answer": answer.as_json(), "timing": None if timing is None else dict(timing), "late": late}
    return Event("skip" if isinstance(answer, Skip) else "answer", question_id, participant, payload)


def undo_event(question_id: str, participant: str, answer_seq: int) -> Event:
    """One answer was undone; it stays in the log, superseded."""
    return Event("undo", question_id, participant, {"answer_seq": answer_seq})


def setting_event(participant: str, changes: Mapping[str, Mapping[str, Any]]) -> Event:
    """Settings changed by ``participant``: {section: {key: value}}."""
    return Event("setting", None, participant, {section: dict(keys) for section, keys in changes.items()})


def end_event(participant: str | None, why: str, reason: str) -> Event:
    """The questions have ended: the predictions are ``settled``, every item is ``labelled`` or was ``shown`` often enough, or
    the ``owner`` ended them."""
    return Event("end", None, participant, {"why": why, "reason": reason})


def note_event(participant: str, item: str, text: str, flag: bool) -> Event:
    """``participant`` wrote about an item, or flagged it."""
    return Event("note", None, participant, {"item": item, "text": text, "flag": flag})


def participant_event(participant: str, name: str, role: str) -> Event:
    """Somebody was invited."""
    return Event("participant", None, participant, {"name": name, "role": role})


def leave_out_event(by: str, participant: str, out: bool) -> Event:
    """``by`` left out the answers of ``participant``, or counted them again."""
    return Event("leave_out", None, by, {"participant": participant, "out": out})


def items_event(participant: str, added: int, file: str) -> Event:
    """``participant`` added items from the file named ``file``."""
    return Event("items", None, participant, {"added": added, "file": file})


def audit_event(participant: str, what: str, by: str) -> Event:
    """An owner did ``what``, with the token ``by`` or on the command line; it does not affect learning."""
    return Event("audit", None, participant, {"what": what, "by": by})


OWNERS_EVENTS = ("audit", "setting", "reset", "delete", "leave_out", "end", "go_on", "items")
"""The kinds that record what owners did."""
