"""One page of HTML: what was taught, how it went, what it believes now. No script, no outside resource."""

from __future__ import annotations

import base64
import io
import json
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from tellmore import kinds
from tellmore.data.settings import words_of
from tellmore.errors import DataFileError
from tellmore.export.plot import Curve, curve_svg
from tellmore.kinds import Words
from tellmore.questions import Question
from tellmore.store.fold import AnswerEffect
from tellmore.store.state import State
from tellmore.types import Answer, Skip

SHOWN = 12
PICTURE_PX = 160

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem}
.curves{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:1rem}
figure{margin:0}figcaption{font-size:.9rem}svg{width:100%;height:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #ddd;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
img{max-width:10rem;max-height:6rem}pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.8rem}
"""


def report_bytes(state: State) -> bytes:
    """The page, UTF-8."""
    project = state.ledger.settings.project
    body = [
        f"<h1>{escape(project.name)}: {escape(project.attribute)}</h1>",
        _summary(state),
        "<h2>How it went</h2>",
        _curves(state.effects),
        "<h2>Answers that told the most</h2>",
        _telling(state),
        *_extremes(state),
        "<h2>Where this comes from</h2>",
        f"<pre>{escape(json.dumps(state.provenance, indent=1, ensure_ascii=False))}</pre>",
    ]
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(project.name)}: report</title><style>{_STYLE}</style></head><body>"
    )
    return (head + "\n".join(body) + "</body></html>\n").encode()


def _summary(state: State) -> str:
    minutes = sum(each.seconds for each in state.effects) / 60
    bits = sum(each.bits for each in state.effects)
    checked = sum(each.scored for each in state.effects)
    correct = sum(each.correct for each in state.effects)
    accuracy = (
        f"{correct} of {checked} randomly drawn items were predicted rightly before they were told"
        if checked
        else ("no random questions were asked, so the accuracy is not measured")
    )
    spent = f" in {minutes:.1f} minutes" if minutes else ""
    return f"<p>{len(state.pool)} items, {len(state.effects)} answers{spent}, {bits:.1f} bits learnt; {accuracy}.</p>"


def _curves(effects: Any) -> str:
    if not effects:
        return "<p>No answers yet.</p>"
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
    checks = _check_curve(effects)
    return '<div class="curves">' + "".join(curve_svg(curve) for curve in [*figures, *checks]) + "</div>"


def _check_curve(effects: list[AnswerEffect]) -> list[Curve]:
    """Share of randomly drawn items predicted rightly before they were told, so far."""
    scored = [(position, each) for position, each in enumerate(effects, start=1) if each.scored]
    if not scored:
        return []
    right = np.cumsum([each.correct for _, each in scored]) / np.cumsum([each.scored for _, each in scored])
    where = np.array([position for position, _ in scored])
    return [Curve("Accuracy on random questions, so far", "answers", "share right", where, right)]


def _telling(state: State) -> str:
    """The answers that gained most information."""
    best = sorted(state.effects, key=lambda each: -each.bits)[:SHOWN]
    rows = []
    for each in best:
        given, asked = state.ledger.given[each.question_id], state.ledger.asked[each.question_id]
        said = _said(state, given.answer, asked.question)
        rows.append(f'<tr><td class="n">{each.bits:.2f}</td><td>{escape(each.kind)}</td><td>{said}</td></tr>')
    head = '<tr><th class="n">bits</th><th>question</th><th>answer</th></tr>'
    return f"<table>{head}{''.join(rows)}</table>" if rows else "<p>No answers yet.</p>"


def _said(state: State, answer: Answer | None, question: Question) -> str:
    if answer is None or isinstance(answer, Skip):
        return ""
    words = words_of(state.ledger.settings)
    escaped = Words(escape(words.attribute), escape(words.positive), escape(words.negative))
    return kinds.named(question.kind).tell(question.items, answer, lambda item: _item(state, item), escaped)


def _words(state: State) -> tuple[str, str]:
    project = state.ledger.settings.project
    return project.positive, project.negative


def _extremes(state: State) -> list[str]:
    """The most positive, most negative and most uncertain items."""
    probability = state.learner.probabilities()
    mean, variance = state.learner.scores()
    sd = np.sqrt(variance)
    positive, negative = _words(state)
    orders = {
        f"Most {positive}": np.argsort(-probability, kind="stable"),
        f"Most {negative}": np.argsort(probability, kind="stable"),
        "Most uncertain": np.argsort(np.abs(probability - 0.5), kind="stable"),
    }
    head = '<tr><th>item</th><th class="n">probability</th><th class="n">score</th><th class="n">± sd</th></tr>'
    blocks = []
    for title, order in orders.items():
        rows = "".join(
            f'<tr><td>{_item(state, state.pool.ids[row])}</td><td class="n">{probability[row]:.3f}</td>'
            f'<td class="n">{mean[row]:.3f}</td><td class="n">{sd[row]:.3f}</td></tr>'
            for row in order[:SHOWN]
        )
        blocks.append(f"<h2>{escape(title)}</h2><table>{head}{rows}</table>")
    return blocks


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
