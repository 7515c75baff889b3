"""One page of HTML: what was taught, how it went, what it believes now. No script, no outside resource."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
from markupsafe import Markup

from tellmore.errors import DataFileError
from tellmore.export.plot import Curve, curve_svg
from tellmore.pages import render_page
from tellmore.store.fold import Told
from tellmore.store.state import State
from tellmore.types import Answer, LabelAnswer, RankAnswer, SelectAnswer

SHOWN = 12
PICTURE_PX = 160


def report_bytes(state: State) -> bytes:
    """The page, UTF-8."""
    page = render_page(
        "project.html",
        project=state.ledger.settings.project,
        summary=_summary(state),
        curves=_curves(state.told),
        telling=_telling(state),
        extremes=_extremes(state),
        provenance=json.dumps(state.provenance, indent=1, ensure_ascii=False),
    )
    return page.encode()


def _summary(state: State) -> str:
    minutes = sum(told.seconds for told in state.told) / 60
    bits = sum(told.bits for told in state.told)
    checked = sum(told.scored for told in state.told)
    correct = sum(told.correct for told in state.told)
    accuracy = (
        f"{correct} of {checked} randomly drawn items were predicted rightly before they were told"
        if checked
        else ("no random questions were asked, so the accuracy is not measured")
    )
    spent = f" in {minutes:.1f} minutes" if minutes else ""
    return f"{len(state.pool)} items, {len(state.told)} answers{spent}, {bits:.1f} bits learnt; {accuracy}."


def _curves(told: Sequence[Told]) -> list[Markup]:
    """The curves as SVG; none before the first answer."""
    if not told:
        return []
    minutes = np.cumsum([each.seconds for each in told]) / 60
    answers = np.arange(1, len(told) + 1)
    uncertainty = [each.logdet_per_dim for each in told]
    figures = [
        Curve("Uncertainty against answers", "answers", "log-determinant per dimension, nats", answers, uncertainty),
        Curve("Bits learnt", "answers", "bits, sum", answers, np.cumsum([each.bits for each in told])),
        Curve("Expected accuracy", "answers", "mean of max(p, 1 - p)", answers, [e.expected_accuracy for e in told]),
    ]
    if minutes[-1] > minutes[0]:
        unit = "log-determinant per dimension, nats"
        figures.insert(1, Curve("Uncertainty against minutes", "minutes", unit, minutes, uncertainty))
    return [Markup(curve_svg(curve)) for curve in [*figures, *_check_curve(told)]]


def _check_curve(told: Sequence[Told]) -> list[Curve]:
    """Share of randomly drawn items predicted rightly before they were told, so far."""
    scored = [(position, each) for position, each in enumerate(told, start=1) if each.scored]
    if not scored:
        return []
    right = np.cumsum([each.correct for _, each in scored]) / np.cumsum([each.scored for _, each in scored])
    where = np.array([position for position, _ in scored])
    return [Curve("Accuracy on random questions, so far", "answers", "share right", where, right)]


def _telling(state: State) -> list[tuple[Told, Markup]]:
    """The answers that gained most information, each with what was said."""
    given, asked = state.ledger.given, state.ledger.asked
    return [
        (told, Markup(_said(state, given[told.question_id].answer, asked[told.question_id].question.items)))
        for told in sorted(state.told, key=lambda each: -each.bits)[:SHOWN]
    ]


def _said(state: State, answer: Answer | None, items: tuple[str, ...]) -> str:
    positive, negative = (escape(word) for word in _words(state))
    match answer:
        case LabelAnswer():
            return f"{_item(state, items[0])}: {positive if answer.positive else negative}"
        case SelectAnswer():
            rest = ", ".join(_item(state, item) for item in items if item != answer.chosen)
            label = "" if answer.positive is None else f" ({positive if answer.positive else negative})"
            return f"<b>{_item(state, answer.chosen)}</b>{label} among {rest}"
        case RankAnswer():
            level = set(answer.ties)
            ranked = [_item(state, item) + (" =" if place in level else "") for place, item in enumerate(answer.order)]
            if answer.n_positive is not None:
                ranked.insert(answer.n_positive, f"<i>| {positive} before, {negative} after |</i>")
            return " ".join(ranked)
    return ""


def _words(state: State) -> tuple[str, str]:
    project = state.ledger.settings.project
    return project.positive, project.negative


def _extremes(state: State) -> dict[str, list[tuple[Markup, float, float, float]]]:
    """The most positive, most negative and most uncertain items, each with probability, score and its sd."""
    probability = state.learner.probabilities()
    mean, variance = state.learner.scores()
    sd = np.sqrt(variance)
    positive, negative = _words(state)
    orders = {
        f"Most {positive}": np.argsort(-probability, kind="stable"),
        f"Most {negative}": np.argsort(probability, kind="stable"),
        "Most uncertain": np.argsort(np.abs(probability - 0.5), kind="stable"),
    }
    return {
        title: [
            (Markup(_item(state, state.pool.ids[row])), probability[row], mean[row], sd[row]) for row in order[:SHOWN]
        ]
        for title, order in orders.items()
    }


def _item(state: State, identifier: str) -> str:
    """What people saw of an item: its picture, its text, or else its id."""
    row = int(state.pool.rows([identifier])[0])
    text = state.pool.text[row] if state.pool.text else ""
    image = state.pool.images[row] if state.pool.images else ""
    shown = escape(text[:200]) or ("" if image else escape(identifier))
    return _picture(state, identifier, image) + shown if image else shown


def _picture(state: State, identifier: str, image: str) -> str:
    from tellmore.data.images import load_picture, thumbnail

    if state.images_folder is None:
        return escape(identifier)
    try:
        small = load_picture(thumbnail(state.images_folder, identifier, Path(image)), largest_px=PICTURE_PX)
    except (DataFileError, OSError):
        return escape(identifier)
    out = io.BytesIO()
    small.save(out, "JPEG", quality=80)
    data = base64.b64encode(out.getvalue()).decode()
    return f'<img alt="{escape(identifier)}" src="data:image/jpeg;base64,{data}"> '
