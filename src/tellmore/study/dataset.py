"""A study's data as files: one CSV file of answers, one of participants, a codebook of their columns, and a script for R.

Participants have pseudonyms; their external ids are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from tellmore.export.tables import csv_bytes
from tellmore.study.analysis import Analysis, excluded_people
from tellmore.study.records import Records
from tellmore.study.settings import Study

ANSWER_COLUMNS: dict[str, str] = {
    "participant": "pseudonym of the participant; the key of participants.csv",
    "question_id": "name of the question, different for every participant and position",
    "kind": "kind of question: rank, select_high, tick, ...",
    "block": "1 for the kind that this participant was asked first, then 2, ...",
    "position": "place within the block, from 1",
    "stage": "stratum of the learning run from which the question was drawn; empty for gold questions",
    "iteration": "question of the learning run at which it would have been asked, from 1; empty for gold questions",
    "gold": "true for a question with one right answer",
    "right": "whether a gold question was answered exactly right; empty for others",
    "size": "number of items shown",
    "items": "ids of the items in the order shown at first, as JSON",
    "answer": "the answer, as JSON",
    "skipped": "true if no answer was given",
    "marks": "number of items marked, if the kind counts marks (ticks), else 0",
    "analysed": "true if the answer is part of the analysis, after all exclusions",
    "seconds": "from the onset of the question to the submission of the answer, in seconds",
    "onset_ms": "the question was painted; milliseconds of the browser's clock, as are all columns in _ms",
    "first_action_ms": "first click, touch, drag or key",
    "submit_ms": "the answer was submitted",
    "moves": "number of actions before submission",
    "device": "what the participant answered with: mouse, touch, pen, keyboard, mixed or unknown",
    "hidden_ms": "how long the page was hidden during the question; part of seconds",
    "blurred_ms": "how long the page was without focus during the question; part of seconds",
    "latency_ms": "from the request for the question to its onset; not part of seconds",
    "away_ms": "how long the page was gone, by a reload, before the same question came back; part of hidden_ms",
}
PERSON_COLUMNS: dict[str, str] = {
    "participant": "pseudonym of the participant",
    "order": "kinds of question in the order asked, separated by spaces",
    "consented": "whether eligibility and consent were affirmed",
    "passed_comprehension": "whether the comprehension check was passed",
    "outcome": "complete, no_consent, failed_comprehension or unfinished",
    "total_s": "from entering to the last step, in seconds, instructions included",
    "fingerprint": "SHA-256 of the study file that this participant saw",
}


def dataset(study: Study, records: Records, analysis: Analysis) -> dict[str, bytes]:
    """The files by name."""
    people = {
        **PERSON_COLUMNS,
        **{field.name: f"answer to: {field.question}" for field in study.demographics},
        **{f"excluded_{kind}": f"why the participant is left out of the analysis of {kind}; empty if not"
           for kind in study.design.kinds},
    }  # fmt: skip
    codebook = [
        {"file": file, "column": name, "meaning": meaning}
        for file, columns in (("answers.csv", ANSWER_COLUMNS), ("participants.csv", people))
        for name, meaning in columns.items()
    ]
    return {
        "answers.csv": _csv(ANSWER_COLUMNS, _answers(records, analysis)),
        "participants.csv": _csv(people, _people(study, records)),
        "codebook.csv": _csv(("file", "column", "meaning"), codebook),
        "analyse.R": files("tellmore.study").joinpath("analyse.R").read_bytes(),
    }


def _answers(records: Records, analysis: Analysis) -> Iterable[dict[str, Any]]:
    analysed = {row["question_id"] for rows in analysis.answers.values() for row in rows}
    for row in records.answers:
        timing = row.get("timing") or {}
        structured = {"items": json.dumps(row["items"]), "answer": json.dumps(row["answer"])}
        away_ms = sum(back - left for left, back in timing.get("away") or ())
        yield {**timing, **row, **structured, "away_ms": away_ms, "analysed": row["question_id"] in analysed}


def _people(study: Study, records: Records) -> Iterable[dict[str, Any]]:
    reasons = {kind: excluded_people(records, kind) for kind in study.design.kinds}
    for person in records.people:
        left_out = {f"excluded_{kind}": why[person["participant"]] for kind, why in reasons.items()}
        yield {**person, **person["demographics"], **left_out, "order": " ".join(person["order"])}


def _csv(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    return csv_bytes(list(columns), ({name: row.get(name) for name in columns} for row in rows))
