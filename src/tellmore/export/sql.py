"""The classifier as SQL for DuckDB: macros that score a column of vectors.

Probabilities are plug-in, at the mean of the belief, as in the scikit-learn export: averaging needs a d x d matrix, which is
too large for a query.
"""

from __future__ import annotations

from tellmore.classifier import TINY_NORM
from tellmore.store.state import State

_HEAD = """-- tellmore {version}: {name}. Vectors of {d} numbers, as the embedder gives them.
-- SELECT id, tellmore_score(embedding), tellmore_probability(embedding) FROM my_table;
-- A positive score means {positive}. The probability is at the mean of the belief, so it is more extreme than the ONNX export's.
"""


def sql_bytes(state: State) -> bytes:
    """Two macros: the score, and the probability of positive."""
    belief, words = state.classifier.belief, state.ledger.settings.project
    weights = ", ".join(repr(float(weight)) for weight in belief.mean[1:])
    product = f"list_dot_product(embedding::DOUBLE[], [{weights}]::DOUBLE[])"
    if state.classifier.normalised:
        length = "sqrt(list_dot_product(embedding::DOUBLE[], embedding::DOUBLE[]))"
        product = f"{product} / (CASE WHEN {length} > {TINY_NORM!r} THEN {length} ELSE 1.0 END)"
    head = _HEAD.format(
        version=state.provenance["tellmore_version"],
        name=" ".join(words.name.split()),
        d=state.classifier.d,
        positive=" ".join(words.positive.split()),
    )
    return (
        f"{head}CREATE OR REPLACE MACRO tellmore_score(embedding) AS\n    {float(belief.mean[0])!r} + {product};\n"
        "CREATE OR REPLACE MACRO tellmore_probability(embedding) AS\n"
        f"    1.0 / (1.0 + exp(-({state.classifier.slope * state.classifier.w!r}) * tellmore_score(embedding)));\n"
    ).encode()
