"""Label Studio's JSON export: tasks with results of type choices, pairwise or ranker; rows count the tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tellmore.data.records import Record
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.store.formats.contract import Draft, Format, Source, as_label, each_record, from_person


def _read_task(source: Source, row: int, task: Record) -> Iterator[Draft]:
    data = task.get("data")
    if not isinstance(data, dict):
        raise source.fault(row, 'the task has no "data"; export as JSON, not as JSON-MIN')
    for annotation in task.get("annotations") or ():
        if not annotation.get("was_cancelled"):
            yield from annotation_drafts(source, row, data, annotation)


def annotation_drafts(source: Source, row: int, data: Record, annotation: Record) -> Iterator[Draft]:
    """The answers in one annotation of a task; results of other types are ignored."""
    who = annotation.get("completed_by")
    lead = annotation.get("lead_time")
    about: dict[str, Any] = {"participant": from_person(who.get("id") if isinstance(who, dict) else who)}
    if isinstance(lead, int | float):
        about["timing"] = {"onset_ms": 0, "submit_ms": round(1000 * lead), "device": "api"}
    for result in annotation.get("result") or ():
        read = _RESULTS.get(result.get("type"))
        if read is not None:
            yield read(source, row, data, result.get("value") or {}, about)


def _choice(source: Source, row: int, data: Record, value: Record, about: dict[str, Any]) -> Draft:
    choices = value.get("choices") or []
    if len(choices) != 1:
        raise source.fault(row, f"expected one choice for an item, not {choices}")
    item = source.item(row, data)
    return Draft(row, "label", [item], as_label, str(choices[0]), **about)


def _pair(source: Source, row: int, data: Record, value: Record, about: dict[str, Any]) -> Draft:
    items = [source.item(row, data, id_key=f"id{which}", text_key=f"text{which}") for which in ("1", "2")]
    selected = value.get("selected")
    if selected not in ("left", "right"):
        raise source.fault(row, f"a pairwise result selects 'left' or 'right', not {selected!r}")
    chosen = items[0] if selected == "left" else items[1]
    return Draft(row, "select_high", items, lambda _: SelectAnswer(chosen, None), **about)


def _ranker(source: Source, row: int, _data: Record, value: Record, about: dict[str, Any]) -> Draft:
    ranked = value.get("ranker")
    order = ranked.get("rank") if isinstance(ranked, dict) else ranked
    if not isinstance(order, list):
        raise source.fault(row, "expected a ranker with one list of ids, rank")
    return Draft(row, "rank", sorted(map(str, order)), lambda _: RankAnswer(order, None), **about)


_RESULTS = {"choices": _choice, "pairwise": _pair, "ranker": _ranker}

LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio's JSON export",
    lambda source: "annotations" in source.keys or {"data", "predictions"} <= source.keys,
    each_record(_read_task),
)
