"""Argilla's records as JSON or JSONL (``dataset.records.to_json``): answers to label and ranking questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tellmore.data.records import Record
from tellmore.kinds.rank import RankAnswer
from tellmore.store.formats.contract import Draft, Format, Source, as_label, each_record, from_person


def _read_record(source: Source, row: int, record: Record) -> Iterator[Draft]:
    responses, fields = record.get("responses") or {}, record.get("fields") or {}
    if not isinstance(responses, dict) or not isinstance(fields, dict):
        raise source.fault(row, 'expected {"fields": {…}, "responses": {question: […]}}, as Argilla 2 writes records')
    asked = [source.label_column] if source.label_column else list(responses)
    for question in asked:
        for response in responses.get(question) or ():
            yield from _response(source, row, record, response)


def _response(source: Source, row: int, record: Record, response: Record) -> Iterator[Draft]:
    value, participant = response.get("value"), from_person(response.get("user_id"))
    if isinstance(value, str):
        item = _item(source, row, record)
        yield Draft(row, "label", [item], as_label, value, participant)
    elif isinstance(value, list) and value:
        order = [str(each) for each in _ranked(value)]
        yield Draft(row, "rank", sorted(order), lambda _: RankAnswer(order, None), None, participant)


def _ranked(value: list[Any]) -> list[Any]:
    """A ranking, best first: a list of values, or of {"value", "rank"}."""
    if all(isinstance(each, dict) for each in value):
        return [each["value"] for each in sorted(value, key=lambda each: each.get("rank") or 0)]
    return value


def _item(source: Source, row: int, record: Record) -> str:
    """The item of a record: by the record's id if it is an item's, else by its metadata or its text."""
    metadata, known = record.get("metadata") or {}, set(source.pool.ids)
    identifier = metadata.get(source.id_column or "id", record.get("id"))
    if source.id_column is not None or str(identifier) in known:
        return str(identifier)
    return source.item(row, record["fields"], id_key=None)


ARGILLA = Format(
    "argilla",
    "Argilla's records, as JSON",
    lambda source: {"fields", "responses"} <= source.keys,
    each_record(_read_record),
)
