"""Tables: labels, comparisons of pairs, rankings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tellmore.data.records import Record
from tellmore.errors import DataFileError
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.store.formats.contract import Draft, Format, Source, as_label, each_record, from_person

_ABOUT = ("participant", "n_positive")


def _text(cell: object) -> str:
    return "" if cell is None else str(cell).strip()


# Labels


def _read_label(source: Source, row: int, record: Record) -> Iterator[Draft]:
    """Columns id (or text) and label; rows without a label are ignored."""
    column = source.label_column or "label"
    for wanted in (column, source.id_column):
        if wanted is not None and wanted not in source.keys:
            raise DataFileError(f"{source.path}: no column {wanted!r}; there are {', '.join(sorted(source.keys))}")
    word = _text(record.get(column))
    if word:
        yield Draft(row, "label", [source.item(row, record)], as_label, word, from_person(record.get("participant")))


LABELS = Format(
    "labels",
    "columns id and label",
    lambda source: (
        (source.label_column or "label") in source.keys and bool({source.id_column or "id", "text"} & source.keys)
    ),
    each_record(_read_label),
)


# Pairs


def _read_pairs(source: Source) -> Iterator[Draft]:
    """Columns winner and loser, and optionally participant and positive (the winner's label)."""
    missing = {"winner", "loser"} - source.keys
    if missing:
        raise DataFileError(f"{source.path}: no column {sorted(missing)[0]!r}; pairwise data has winner and loser")
    return each_record(_read_pair)(source)


def _read_pair(_source: Source, row: int, record: Record) -> Iterator[Draft]:
    pair = [str(record["winner"]), str(record["loser"])]
    word = _text(record.get("positive")) or None
    who = from_person(record.get("participant"))
    yield Draft(row, "select_high", sorted(pair), lambda positive: SelectAnswer(pair[0], positive), word, who)


PAIRWISE = Format(
    "pairwise", "columns winner and loser", lambda source: {"winner", "loser"} <= source.keys, _read_pairs
)


# Rankings


def _read_rankings(source: Source) -> Iterator[Draft]:
    """Rankings in one of two shapes, with optional columns participant and n_positive.

    Columns rank1, rank2, … (or 1, 2, …) have ids, best first; short rankings end in empty cells. Or the columns are ids and
    the cells ranks: 1 is the best, and 0 or empty means that an item was not ranked, as in Plackett-Luce tools.
    """
    columns = [name for name in source.names if name not in _ABOUT]
    if by_place := _by_place(source, columns):
        columns.sort(key=lambda name: int(re.sub(r"\D", "", name)))

    def read(source: Source, row: int, record: Record) -> Iterator[Draft]:
        if by_place:
            order = [str(record[name]) for name in columns if _text(record[name])]
        else:
            order = _order_of_ranks(source, row, {name: record[name] for name in columns})
        count = _text(record.get("n_positive"))
        if count and not count.isdigit():
            raise source.fault(row, f"n_positive must be a whole number from 0 to {len(order)}, not {count!r}")
        n_positive = int(count) if count else None
        who = from_person(record.get("participant"))
        yield Draft(row, "rank", sorted(order), lambda _: RankAnswer(order, n_positive), None, who)

    return each_record(read)(source)


def _by_place(source: Source, columns: list[str]) -> bool:
    numbered = all(re.fullmatch(r"(rank[ _]?)?\d+", name) for name in columns)
    return numbered and not set(columns) <= set(source.pool.ids)


def _order_of_ranks(source: Source, row: int, cells: Record) -> list[str]:
    ranks: dict[int, str] = {}
    for item, cell in cells.items():
        text = _text(cell)
        if text in ("", "0", "NA"):
            continue
        if not re.fullmatch(r"\d+(\.0)?", text):
            raise source.fault(row, f"column {item}: a rank is a whole number, 1 the best, not {text!r}")
        rank = int(float(text))
        if rank in ranks:
            raise source.fault(row, f"{ranks[rank]!r} and {item!r} share rank {rank}; ties cannot be imported")
        ranks[rank] = item
    return [ranks[rank] for rank in sorted(ranks)]


def _suits_ranking(source: Source) -> bool:
    columns = [name for name in source.names if name not in _ABOUT]
    return bool(columns) and (_by_place(source, columns) or bool(set(columns) & set(source.pool.ids)))


RANKING = Format("ranking", "columns rank1, rank2, …, or one column per item", _suits_ranking, _read_rankings)
