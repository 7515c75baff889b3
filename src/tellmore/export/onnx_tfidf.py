"""TF-IDF as an ONNX graph: from texts in lower case to embeddings for the classifier's graph.

The graph does what ``Tfidf.encode`` does. The caller must convert texts to lower case: the operator for it works only if the
machine has the right locale, which production machines often lack. Words are found by onnxruntime's operator ``Tokenizer``.
"""

from __future__ import annotations

import numpy as np

from tellmore.data.tfidf import Tfidf
from tellmore.errors import needs
from tellmore.export.graph import Graph

INPUT = "lowercase_text"
WORD = r"[\p{L}\p{N}_]+"
"""The equivalent of Python's ``\\w+`` for an engine in which that matches only ASCII."""
PADDING = "\n"
"""Padding that is not a word, so that neither it nor a pair with it is a term."""


def tfidf_onnx_bytes(model: Tfidf, metadata: dict[str, str]) -> bytes:
    """From ``lowercase_text`` [N] to ``embedding`` [N, d]; ``metadata`` becomes the model's metadata properties."""
    with needs("onnx", "onnx"):
        import onnx
    graph, kind = Graph(onnx), onnx.TensorProto
    words = graph.add(
        "Tokenizer", [INPUT], domain="com.microsoft", mark=0, mincharnum=1, pad_value=PADDING, tokenexp=WORD
    )
    counts = graph.add("Cast", [_counts(graph, words, model.terms)], to=kind.DOUBLE)
    one = graph.constant(1.0)
    occurs = graph.add("Greater", [counts, graph.constant(0.0)])
    logarithm = graph.add("Log", [graph.add("Where", [occurs, counts, one])])
    damped = graph.add("Where", [occurs, graph.add("Add", [logarithm, one]), graph.constant(0.0)])
    weights = graph.unit_length(graph.add("Mul", [damped, graph.constant(model.idf)]))
    directions = graph.add("Cast", [graph.constant(model.components.T, np.float32)], to=kind.DOUBLE)
    graph.add("Cast", [graph.add("MatMul", [weights, directions])], output="embedding", to=kind.FLOAT)
    return graph.model_bytes(
        {INPUT: (kind.STRING, ["N"])},
        {"embedding": (kind.FLOAT, ["N", len(model.components)])},
        metadata,
        {"com.microsoft": 1},
    )


def _counts(graph: Graph, words: str, terms: tuple[str, ...]) -> str:
    """How often each term occurs [N, V]; the operator takes single words first, then pairs, each with its column."""
    singles = [column for column, term in enumerate(terms) if " " not in term]
    pairs = [column for column, term in enumerate(terms) if " " in term]
    return graph.add(
        "TfIdfVectorizer",
        [words],
        mode="TF",
        min_gram_length=1,
        max_gram_length=2,
        max_skip_count=0,
        ngram_counts=[0, len(singles)],
        ngram_indexes=[*singles, *pairs],
        pool_strings=[terms[column] for column in singles]
        + [word for column in pairs for word in terms[column].split()],
    )
