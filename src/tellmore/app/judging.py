"""The judge's page of the dashboard: scores that the project keeps, against people's answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tellmore.app.dashboard import LISTED_ITEMS, item_out
from tellmore.app.session import Session
from tellmore.app.wire_board import JudgeOut
from tellmore.data.project import Project
from tellmore.data.scores import Meaning, kept_columns, read_scores
from tellmore.errors import InputError
from tellmore.store.judge import random_checks, skipped_checks, verdict


def judge_out(session: Session, project: Project | None, column: str | None, **meaning: Any) -> JudgeOut:
    """How the scores in ``column``, by default the first that the project keeps, compare with the random answers so far.

    ``meaning`` has the fields of ``Meaning``. If these or the scores are wrong, ``problem`` in the reply says so.
    """
    columns = [] if project is None else kept_columns(project)
    chosen = column or next(iter(columns), None)
    shown = JudgeOut(columns=columns, column=chosen, pool_size=len(session.pool))
    if project is None or chosen is None:
        return shown
    try:
        scores = read_scores(project, chosen, Meaning(**meaning), file=None, id_column="id")
    except InputError as problem:
        return shown.model_copy(update={"problem": str(problem)})
    with session.lock:
        checks, skipped = random_checks(session.desk), skipped_checks(session.desk)
    found = verdict(checks, scores, skipped=skipped)
    if found is None:
        return shown
    listed = found.wrong_most[:LISTED_ITEMS]
    update = {
        "verdict": replace(found, wrong_most=listed),
        "wrong_items": len(found.wrong_most),
        "items": {wrong.item: item_out(session.pool, wrong.item) for wrong in listed},
    }
    return shown.model_copy(update=update)
