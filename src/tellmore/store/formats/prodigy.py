"""Prodigy's JSONL (``prodigy db-out``): accepted and rejected labels, and choices of one option."""

from __future__ import annotations

from collections.abc import Iterator

from tellmore.data.records import Record
from tellmore.kinds.label import LabelAnswer
from tellmore.store.formats.contract import Draft, Format, Source, each_record, from_person

DECISIONS = ("accept", "reject", "ignore")


def _read_task(source: Source, row: int, task: Record) -> Iterator[Draft]:
    """A rejected label means its opposite; without a label, accept is positive."""
    decision = task.get("answer")
    if decision not in DECISIONS:
        raise source.fault(row, f'"answer" is one of {", ".join(DECISIONS)}, not {decision!r}')
    if decision == "ignore":
        return
    accepted = decision == "accept"
    if "accept" in task:  # an interface with options
        if not accepted or len(task["accept"]) != 1:
            raise source.fault(row, f"expected one accepted option, not {task['accept']}")
        word = str(task["accept"][0])
    else:
        word = str(task.get("label") or "positive")
    meta = task.get("meta") if isinstance(task.get("meta"), dict) else {}
    item = source.item(row, {**(meta or {}), **task})
    yield Draft(
        row,
        "label",
        [item],
        lambda positive: LabelAnswer(bool(positive) == accepted),
        word,
        from_person(task.get("_annotator_id")),
    )


PRODIGY = Format(
    "prodigy",
    "Prodigy's JSONL",
    lambda source: bool(source.records) and source.records[0][1].get("answer") in DECISIONS,
    each_record(_read_task),
)
