"""Tables of a state: the scores of all items, and the tidy log of answers; the belief as arrays and as JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tellmore.classifier import Predictions
from tellmore.errors import needs
from tellmore.store.state import State

SCORE_COLUMNS = ("id", "text", "image", "probability", "score", "score_sd", "version", "seed", "data_sha256")
ANSWER_COLUMNS = (
    "participant",
    "name",
    "question_id",
    "kind",
    "items",
    "answer",
    "rt_ms",
    "latency_ms",
    "t_utc",
    "version",
    "seed",
    "check",
    "void",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\u2212")
_UNSEEN = re.compile("^[\\s\ufeff\u200b-\u200d\u2060\u00ad]+")


def score_rows(state: State) -> Iterator[dict[str, Any]]:
    """One row per item: probability of positive averaged over the belief, score and its standard deviation."""
    mean, variance = state.learner.scores()
    told = Predictions(state.learner.probabilities(), mean, np.sqrt(variance))
    common = {
        "version": state.provenance["tellmore_version"],
        "seed": state.provenance["seed"],
        "data_sha256": state.provenance["data_sha256"],
    }
    for row, identifier in enumerate(state.pool.ids):
        yield {
            "id": identifier,
            "text": state.pool.text[row] if state.pool.text else None,
            "image": state.pool.images[row] if state.pool.images else None,
            "probability": float(told.probability[row]),
            "score": float(told.score[row]),
            "score_sd": float(told.score_sd[row]),
            **common,
        }


def answer_rows(state: State) -> Iterator[dict[str, Any]]:
    """One row per answer or skip, in order; ``void`` says why one does not count. Deleted answers are not listed."""
    names, left_out = state.ledger.names, state.ledger.left_out
    for given in state.ledger.given.values():
        asked = state.ledger.asked.get(given.question_id)
        if asked is None or given.answer is None:
            continue
        yield {
            "participant": given.participant,
            "name": names.get(given.participant, given.participant),
            "question_id": given.question_id,
            "kind": asked.question.kind,
            "items": json.dumps(asked.question.items, ensure_ascii=False),
            "answer": json.dumps(given.answer.as_json(), ensure_ascii=False),
            "rt_ms": given.rt_ms,
            "latency_ms": (given.timing or {}).get("latency_ms"),
            "t_utc": given.t_utc,
            "version": state.provenance["tellmore_version"],
            "seed": state.provenance["seed"],
            "check": asked.check,
            "void": given.void or ("left out" if given.participant in left_out else ""),
        }


def table_of(state: State, table: str) -> tuple[Sequence[str], Iterator[dict[str, Any]]]:
    """Columns and rows of the table of this name."""
    return (SCORE_COLUMNS, score_rows(state)) if table == "scores" else (ANSWER_COLUMNS, answer_rows(state))


def csv_bytes(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> bytes:
    """CSV in UTF-8. Texts that a spreadsheet could read as a formula get an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out)  # only with its default line end is a lone carriage return in a text quoted
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[column]) for column in columns])
    return out.getvalue().encode()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return harmless(value)


def harmless(value: Any) -> Any:
    """``value``; a text that a spreadsheet might calculate gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and _looks_like_formula(value) else value


def _looks_like_formula(text: str) -> bool:
    """Whether a spreadsheet could read it as a formula. Some ignore leading spaces, and accept full-width signs."""
    begun = _UNSEEN.sub("", text, count=1)[:1]
    return text.startswith(("\t", "\r", "\n")) or unicodedata.normalize("NFKC", begun).startswith(_FORMULA_STARTS)


def parquet_bytes(columns: Sequence[str], rows: Iterable[dict[str, Any]], metadata: dict[str, str]) -> bytes:
    """Parquet, with ``metadata`` in its schema."""
    with needs("pyarrow", "app"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    listed = list(rows)
    types = {"probability": pa.float64(), "score": pa.float64(), "score_sd": pa.float64(), "check": pa.bool_()}
    types |= {"rt_ms": pa.int64(), "latency_ms": pa.int64(), "seed": pa.int64()}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in columns], metadata=metadata)
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(listed, schema=schema), out)
    return out.getvalue()


def log_jsonl_bytes(state: State) -> bytes:
    """The whole log, one event per line, after one line of provenance. ``tellmore import`` reads it back."""
    lines = [{"kind": "provenance", "payload": state.provenance}]
    lines += [event.as_json() for event in state.events]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def npz_bytes(state: State) -> bytes:
    """mean [D] and cov [D, D] of the belief (bias first), w, the slope on the log odds, whether embeddings must be normalised,
    the names of the dimensions (empty if they have none), provenance; and weights [m], means [m, D] and covs [m, D, D] of the
    beliefs over which probabilities are averaged (without a start there are two)."""
    mixture = state.classifier.mixture
    out = io.BytesIO()
    np.savez(
        out,
        mean=state.classifier.belief.mean,
        cov=state.classifier.belief.cov,
        weights=mixture.weights,
        means=np.array([belief.mean for belief in mixture.beliefs]),
        covs=np.array([belief.cov for belief in mixture.beliefs]),
        w=np.float64(state.classifier.w),
        slope=np.float64(state.classifier.slope),
        normalised=np.bool_(state.classifier.normalised),
        columns=np.array(state.classifier.columns, dtype=str),
        provenance=np.array(json.dumps(state.provenance, ensure_ascii=False)),
    )
    return out.getvalue()


def json_bytes(state: State) -> bytes:
    """The belief as JSON, for any language: the same numbers as in the .npz file."""
    belief = state.classifier.belief
    content = {
        "provenance": state.provenance,
        "normalised": state.classifier.normalised,
        "w": state.classifier.w,
        "slope": state.classifier.slope,
        "columns": list(state.classifier.columns),
        "intercept": float(belief.mean[0]),
        "coefficients": belief.mean[1:].tolist(),
        "covariance": belief.cov.tolist(),
        "beliefs": [
            {
                "weight": float(weight),
                "intercept": float(one.mean[0]),
                "coefficients": one.mean[1:].tolist(),
                "covariance": one.cov.tolist(),
            }
            for weight, one in zip(state.classifier.mixture.weights, state.classifier.mixture.beliefs, strict=True)
        ],
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
