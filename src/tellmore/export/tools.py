"""Exports for other labelling tools: the items with their predictions, and every label that was given."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tellmore.questions import labels_in
from tellmore.store.state import State

FROM_NAME, TO_NAME = "label", "item"
"""The names of the tags in the labelling interface."""


def given_labels(state: State) -> dict[str, list[tuple[str, bool]]]:
    """By item, who called it positive or not, in all answers that count, of any kind."""
    found: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for asked, given in state.ledger.counting():
        for item, positive in labels_in(asked.question, given.answer).items():
            found[item].append((given.participant, positive))
    return found


def word(state: State, positive: bool) -> str:
    """The project's word for positive or negative."""
    words = state.ledger.settings.project
    return words.positive if positive else words.negative


def choice(state: State, positive: bool) -> dict[str, Any]:
    """One result of Label Studio."""
    value = {"choices": [word(state, positive)]}
    return {"from_name": FROM_NAME, "to_name": TO_NAME, "type": "choices", "value": value}


def label_config(state: State) -> str:
    """A labelling interface for Label Studio that fits the tasks."""
    from xml.sax.saxutils import quoteattr

    shown = "Image" if state.pool.images and not state.pool.text else "Text"
    choices = "".join(f"<Choice value={quoteattr(word(state, side))}/>" for side in (True, False))
    body = f'<Choices name="{FROM_NAME}" toName="{TO_NAME}" choice="single">{choices}</Choices>'
    return f'<View><{shown} name="{TO_NAME}" value="${shown.lower()}"/>{body}</View>'


def label_studio_bytes(state: State) -> bytes:
    """Tasks to import into Label Studio, and for ``tellmore import``: data.id, data.text, a prediction and the annotations."""
    labels = given_labels(state)
    version = f"tellmore-{state.provenance['log_seq']}"
    tasks = [
        {
            "data": data,
            "predictions": [
                {"model_version": version, "score": max(p, 1 - p), "result": [choice(state, p >= 0.5)]},
            ],
            "annotations": [{"result": [choice(state, positive)]} for _, positive in labels[data["id"]]],
        }
        for data, p in _items(state)
    ]
    return json.dumps(tasks, ensure_ascii=False, indent=1).encode()


def argilla_bytes(state: State) -> bytes:
    """Records as Argilla 2 writes them: ``rg.Record.from_dict`` and ``tellmore import`` read them."""
    labels = given_labels(state)
    records = [
        {
            "id": data["id"],
            "fields": {key: value for key, value in data.items() if key != "id"} or {"text": data["id"]},
            "metadata": {"probability": p},
            "suggestions": {
                FROM_NAME: {"value": word(state, p >= 0.5), "score": max(p, 1 - p), "agent": "tellmore"},
            },
            "responses": {
                FROM_NAME: [
                    {"value": word(state, positive), "user_id": str(uuid5(NAMESPACE_URL, who))}
                    for who, positive in labels[data["id"]]
                ],
            }
            if labels[data["id"]]
            else {},
            "vectors": {},
            "status": "completed" if labels[data["id"]] else "pending",
        }
        for data, p in _items(state)
    ]
    return json.dumps(records, ensure_ascii=False, indent=1).encode()


def _items(state: State) -> Iterator[tuple[dict[str, str], float]]:
    pool = state.pool
    for row, probability in enumerate(state.learner.probabilities().tolist()):
        shown = {"text": pool.text[row] if pool.text else "", "image": pool.images[row] if pool.images else ""}
        yield {"id": str(pool.ids[row]), **{key: value for key, value in shown.items() if value}}, probability
