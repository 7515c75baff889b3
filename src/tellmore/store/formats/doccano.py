"""doccano's JSONL of text classification: {"id", "text", "label": ["…"]}. Its ids are doccano's own; items are found by text."""

from __future__ import annotations

from collections.abc import Iterator

from tellmore.data.records import Record
from tellmore.store.formats.contract import Draft, Format, Source, as_label, each_record, from_person


def _read_document(source: Source, row: int, document: Record) -> Iterator[Draft]:
    found = document.get(source.label_column or ("label" if "label" in document else "labels"))
    if not isinstance(found, list) or len(found) > 1:
        raise source.fault(row, f"expected at most one label in a list, not {found!r}")
    if not found:
        return
    item = source.item(row, document, id_key=None)
    yield Draft(row, "label", [item], as_label, str(found[0]), from_person(document.get("user")))


def _suits(source: Source) -> bool:
    first = source.records[0][1] if source.records else {}
    return "text" in first and isinstance(first.get("label", first.get("labels")), list)


DOCCANO = Format("doccano", "doccano's JSONL", _suits, each_record(_read_document))
