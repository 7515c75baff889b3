"""The judge's page of the dashboard: scores that the project keeps, against people's answers."""

from __future__ import annotations

from dataclasses import replace

from tellmore.app.dashboard import LISTED_ITEMS, item_out
from tellmore.app.session import Session
from tellmore.app.wire_board import JudgeOut
from tellmore.data.project import Project
from tellmore.data.scores import Meaning, kept_columns, read_scores
from tellmore.store.judge import random_checks, skipped_checks, verdict


def judge_out(session: Session, project: Project | None, column: str | None, meaning: Meaning) -> JudgeOut:
    """How the scores in ``column``, by default the first that the project keeps, do on the random answers so far."""
    columns = [] if project is None else kept_columns(project)
    chosen = column or next(iter(columns), None)
    if project is None or chosen is None:
        return JudgeOut(columns=[], column=None, pool_size=len(session.pool), verdict=None, wrong_items=0, items={})
    scores = read_scores(project, chosen, meaning, file=None, id_column="id")
    with session.lock:
        checks, skipped = random_checks(session.desk), skipped_checks(session.desk)
    found = verdict(checks, scores, skipped=skipped)
    listed = () if found is None else found.wrong_most[:LISTED_ITEMS]
    return JudgeOut(
        columns=columns,
        column=chosen,
        pool_size=len(session.pool),
        verdict=None if found is None else replace(found, wrong_most=listed),
        wrong_items=0 if found is None else len(found.wrong_most),
        items={wrong.item: item_out(session.pool, wrong.item) for wrong in listed},
    )
