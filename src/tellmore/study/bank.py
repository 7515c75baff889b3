"""The question file of a study: the questions that a learning run asked at each stage, one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tellmore.data.records import open_records
from tellmore.errors import DataFileError
from tellmore.files import write_whole
from tellmore.study.design import BankQuestion

BANK_FILE = "study_questions.jsonl"


def write_bank(path: Path, bank: Sequence[BankQuestion]) -> None:
    """Replace the question file in one step."""
    write_whole(path, "".join(json.dumps(q.row(), ensure_ascii=False) + "\n" for q in bank))


def read_bank(path: Path, known_items: Sequence[str]) -> list[BankQuestion]:
    """The questions of a file; DataFileError names the row at fault, for example if an item is not in the pool."""
    known = set(known_items)
    bank = []
    if not path.exists():
        raise DataFileError(f"{path}: no such file; draw questions with: tellmore study init --redraw")
    for number, row in open_records(path)[1]:
        try:
            question = BankQuestion(
                str(row["kind"]), tuple(str(i) for i in row["items"]), str(row["stage"]), int(row["iteration"])
            )
        except (ValueError, KeyError, TypeError) as error:
            raise DataFileError(
                f"{path}, row {number}: expected an object with kind, items, stage and iteration ({error!r})"
            ) from None
        foreign = [item for item in question.items if item not in known]
        if foreign:
            raise DataFileError(f"{path}, row {number}: {foreign[0]!r} is not an item of the project's pool")
        bank.append(question)
    return bank
