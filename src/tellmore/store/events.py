"""The kinds of events in the log, how to write them and how to read an answer back.

    question     issued to a participant: {kind, items, check, stale, behind, as_of, why}, with {second_of} if somebody else
                 has answered that one
    lease        until when it is out with them: {until_utc}, or {released: true}
    answer       {answer, timing, late}; learnt from
    skip         {answer, timing, late}; never learnt from, never dropped
    undo         takes back the answer of its question_id: {answer_seq}
    setting      {section: {key: value}}, applied in order on top of the TOML
    participant  {name, role}: somebody was invited
    delete       {participant}: forget what they gave
    leave_out    {participant, out}: learn nothing from their answers, given and to come; out false: learn from them again
    reset        forget all answers so far; settings stay
    end          {why, reason}: nothing more is asked; why: settled, labelled, shown or owner
    go_on        ask more all the same
    note         {item, text, flag}: what somebody wrote about an item; flag: something is wrong with it
    items        {added, file}: an owner added items to the pool
    audit        {what, by}: an owner did something, by a request or at the command line
    snapshot     {through, bytes, version}: a saved state; only saves time

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
    """``question`` is shown to ``participant``.

    ``check``: items drawn at random, scored before they are told. ``as_of``: the last event that was learnt from when it
    was chosen; ``behind``: how many answers had come in since. ``why``: best, next_best (one of many that one search found),
    supposed (chosen before the last answer was known), check, fallback (random, as nothing was ready), again, second (for the
    agreement between people), known (an item whose label is known), direct where the person chose the item, or settled where
    that ends a conflict.
    """
    shown = {"kind": question.kind, "items": list(question.names), "check": check, "stale": behind > 0}
    return Event("question", question.id, participant, {**shown, "behind": behind, "as_of": as_of, "why": why, **more})


def lease_event(question_id: str, participant: str, until_utc: str) -> Event:
    """The question is out with ``participant`` until then."""
    return Event("lease", question_id, participant, {"until_utc": until_utc})


def release_event(question_id: str, participant: str) -> Event:
    """The question is not shown to ``participant`` any more; a late answer still counts."""
    return Event("lease", question_id, participant, {"released": True})


def answer_event(
    question_id: str, participant: str, answer: Answer, *, timing: Mapping[str, Any] | None = None, late: bool = False
) -> Event:
    """``participant`` answered or skipped."""
    payload = {"answer": answer.as_json(), "timing": None if timing is None else dict(timing), "late": late}
    return Event("skip" if isinstance(answer, Skip) else "answer", question_id, participant, payload)


def undo_event(question_id: str, participant: str, answer_seq: int) -> Event:
    """Take back one answer; it stays in the log, superseded."""
    return Event("undo", question_id, participant, {"answer_seq": answer_seq})


def setting_event(participant: str, changes: Mapping[str, Mapping[str, Any]]) -> Event:
    """Settings changed by ``participant``: {section: {key: value}}."""
    return Event("setting", None, participant, {section: dict(keys) for section, keys in changes.items()})


def end_event(participant: str | None, why: str, reason: str) -> Event:
    """Enough was asked: the predictions are ``settled``, every item is ``labelled`` or was ``shown`` often enough, or the
    ``owner`` says so."""
    return Event("end", None, participant, {"why": why, "reason": reason})


def note_event(participant: str, item: str, text: str, flag: bool) -> Event:
    """``participant`` wrote about an item, or flagged it."""
    return Event("note", None, participant, {"item": item, "text": text, "flag": flag})


def participant_event(participant: str, name: str, role: str) -> Event:
    """Somebody was invited."""
    return Event("participant", None, participant, {"name": name, "role": role})


def leave_out_event(by: str, participant: str, out: bool) -> Event:
    """``by`` leaves the answers of ``participant`` out, or counts them again."""
    return Event("leave_out", None, by, {"participant": participant, "out": out})


def items_event(participant: str, added: int, file: str) -> Event:
    """``participant`` added items that the file named ``file`` held."""
    return Event("items", None, participant, {"added": added, "file": file})


def audit_event(participant: str, what: str, by: str) -> Event:
    """An owner did ``what``, with the token ``by`` or at the command line; nothing is learnt from it."""
    return Event("audit", None, participant, {"what": what, "by": by})


OWNERS_EVENTS = ("audit", "setting", "reset", "delete", "leave_out", "end", "go_on", "items")
"""Kinds that say what owners did."""
