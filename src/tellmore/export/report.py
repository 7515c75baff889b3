"""One page of HTML: what was learnt, how it went, what is predicted now. No script, no external resource."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
from markupsafe import Markup

from tellmore import kinds
from tellmore.data.settings import words_of
from tellmore.errors import DataFileError
from tellmore.export.plot import Curve, curve_svg
from tellmore.kinds import Words
from tellmore.pages import render_page
from tellmore.policy.words import percent, range_words
from tellmore.store.fold import AnswerEffect
from tellmore.store.standing import sentence, standing
from tellmore.store.state import State
from tellmore.store.statistics import extreme_rows
from tellmore.types import Skip

SHOWN = 12
PICTURE_PX = 160
LONG_TEXT = 60
"""Longer texts get the full width of the page."""
LONGEST_TEXT = 200


def report_bytes(state: State) -> bytes:
    """The page, UTF-8."""
    headline, summary = _headline(state)
    page = render_page(
        "project.html",
        project=state.ledger.settings.project,
        headline=_unbroken(headline),
        summary=[_unbroken(line) for line in summary if line],
        quality=state.learner.quality(),
        meanings=_meanings(state),
        curves=_curves(state.effects),
        telling=_telling(state),
        extremes=_extremes(state),
        percent=percent,
        range_words=range_words,
        long_texts=any(len(text) > LONG_TEXT for text in state.pool.text or ()),
        provenance=json.dumps(state.provenance, indent=1, ensure_ascii=False),
    )
    return page.encode()


def _unbroken(words: str) -> str:
    """``words`` without a line end between a number and its percent sign."""
    return re.sub(r"(\d) %", "\\1\N{NO-BREAK SPACE}%", words)


def _headline(state: State) -> tuple[str, list[str]]:
    """The progress in one line, and further sentences about it."""
    now = standing(state.ledger, state.effects, len(state.pool))
    minutes = sum(each.seconds for each in state.effects) / 60
    spent = f" in {minutes:.0f} minutes" if minutes >= 1 else ""
    work = f"{len(state.effects)} answers{spent}, on a pool of {len(state.pool):,} items"
    title, text = now.end or (now.accuracy, None)
    return sentence(title), [text or "", sentence(now.target), sentence(work)]


def _meanings(state: State) -> dict[str, str]:
    """What each measure of quality means, in the project's words."""
    word = state.ledger.settings.project.positive
    return {
        "accuracy": "predicted correctly before being labelled",
        "share of positives": f"labelled {word}",
        "precision": f"of items predicted {word}, those labelled {word}",
        "recall": f"of items labelled {word}, those predicted {word}",
        "F1": "harmonic mean of precision and recall",
        "average precision": f"mean precision at each {word} item, likeliest first",
    }


def _curves(effects: Sequence[AnswerEffect]) -> list[Markup]:
    """The curves as SVG; none before the first answer."""
    if not effects:
        return []
    minutes = np.cumsum([each.seconds for each in effects]) / 60
    answers = np.arange(1, len(effects) + 1)
    uncertainty = [each.logdet_per_dim for each in effects]
    figures = [
        Curve("Uncertainty against answers", "answers", "log-determinant per dimension, nats", answers, uncertainty),
        Curve("Bits learnt", "answers", "bits, sum", answers, np.cumsum([each.bits for each in effects])),
        Curve("Expected accuracy", "answers", "mean of max(p, 1 - p)", answers, [e.expected_accuracy for e in effects]),
    ]
    if minutes[-1] > minutes[0]:
        unit = "log-determinant per dimension, nats"
        figures.insert(1, Curve("Uncertainty against minutes", "minutes", unit, minutes, uncertainty))
    return [Markup(curve_svg(curve)) for curve in [*figures, *_check_curve(effects)]]


def _check_curve(effects: Sequence[AnswerEffect]) -> list[Curve]:
    """Share of randomly drawn items predicted correctly before being labelled, so far."""
    scored = [(position, each) for position, each in enumerate(effects, start=1) if each.scored]
    if not scored:
        return []
    right = np.cumsum([each.correct for _, each in scored]) / np.cumsum([each.scored for _, each in scored])
    where = np.array([position for position, _ in scored])
    return [Curve("Accuracy on random questions, so far", "answers", "share correct", where, right)]


def _telling(state: State) -> list[tuple[float, str, Markup]]:
    """The answers that gave the most information: bits, the kind of question, and the answer."""
    most = sorted(state.effects, key=lambda each: -each.bits)[:SHOWN]
    return [(told.bits, kinds.named(told.kind).title, Markup(_said(state, told.question_id))) for told in most]


def _said(state: State, question_id: str) -> str:
    answer, question = state.ledger.given[question_id].answer, state.ledger.asked[question_id].question
    if answer is None or isinstance(answer, Skip):
        return ""
    words = words_of(state.ledger.settings)
    escaped = Words(escape(words.attribute), escape(words.positive), escape(words.negative))
    return kinds.named(question.kind).tell(question.items, answer, lambda item: _item(state, item), escaped)


def _extremes(state: State) -> dict[str, list[tuple[Markup, float]]]:
    """The most likely positive and negative items and the least certain ones, each with its probability."""
    probability = state.learner.probabilities()
    project = state.ledger.settings.project
    titles = f"Most likely {project.positive}", f"Most likely {project.negative}", "Least certain"
    return {
        title: [(Markup(_item(state, state.pool.ids[row])), probability[row]) for row in order[:SHOWN]]
        for title, order in zip(titles, extreme_rows(probability), strict=True)
    }


def _item(state: State, identifier: str) -> str:
    """An item as people saw it: its picture, its text, or else its id."""
    row = int(state.pool.rows([identifier])[0])
    text = state.pool.text[row] if state.pool.text else ""
    image = state.pool.images[row] if state.pool.images else ""
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT].rstrip()}…"
    shown = escape(text) or ("" if image else escape(identifier))
    return _picture(state, identifier, image) + shown if image else shown


def _picture(state: State, identifier: str, image: str) -> str:
    from tellmore.data.images import load_picture, project_thumbnail

    if state.images_folder is None:
        return escape(identifier)
    try:
        small = load_picture(project_thumbnail(state.images_folder, identifier, Path(image)), largest_px=PICTURE_PX)
    except (DataFileError, OSError):
        return escape(identifier)
    out = io.BytesIO()
    small.save(out, "JPEG", quality=80)
    data = base64.b64encode(out.getvalue()).decode()
    return f'<img alt="{escape(identifier)}" src="data:image/jpeg;base64,{data}"> '
