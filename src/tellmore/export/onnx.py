"""The classifier as an ONNX graph: raw embeddings in, belief-averaged probability, score and its spread out.

The graph does what ``Classifier.apply`` does, with the same two rules as ``core.logistic_normal.mean_sigmoid``. Scores are
computed in double precision, because x'Sigma x over hundreds of dimensions loses digits in single; outputs are single.
"""

from __future__ import annotations

import numpy as np

from tellmore.classifier import Classifier
from tellmore.core.calibration import SURE
from tellmore.core.gaussian import Gaussian
from tellmore.core.logistic_normal import NARROW_NODES, NARROW_WEIGHTS, WIDE_NODES, WIDE_WEIGHTS
from tellmore.errors import needs
from tellmore.export.graph import Graph

NO_WEIGHT = 1e-9
"""Beliefs with a smaller weight change no probability in single precision."""


def onnx_bytes(classifier: Classifier, metadata: dict[str, str]) -> bytes:
    """The model; ``metadata`` becomes its metadata properties."""
    with needs("onnx", "onnx"):
        import onnx
    graph = Graph(onnx)
    x = graph.add("Cast", ["embedding"], to=onnx.TensorProto.DOUBLE)
    if classifier.normalised:
        x = graph.unit_length(x)
    score, sd = _score(graph, x, classifier.belief)
    probability = _mixed_probability(graph, x, classifier)
    for name, value in (("probability", probability), ("score", score), ("score_sd", sd)):
        graph.add("Cast", [value], output=name, to=onnx.TensorProto.FLOAT)
    return graph.model_bytes(
        {"embedding": (onnx.TensorProto.FLOAT, ["N", classifier.d])},
        {name: (onnx.TensorProto.FLOAT, ["N"]) for name in ("probability", "score", "score_sd")},
        metadata,
    )


def _mixed_probability(graph: Graph, x: str, classifier: Classifier) -> str:
    """The probability [N] of positive, averaged over all beliefs; those without weight are left out."""
    weighed = zip(classifier.mixture.weights.tolist(), classifier.mixture.beliefs, strict=True)
    parts = [
        graph.add("Mul", [_probability(graph, *_score(graph, x, belief), classifier.w), graph.constant(weight)])
        for weight, belief in weighed
        if weight > NO_WEIGHT
    ]
    return _tempered(graph, graph.add("Sum", parts), classifier.slope)


def _tempered(graph: Graph, p: str, slope: float) -> str:
    """Probabilities [N] whose odds are raised to the power of ``slope``, as ``core.calibration.tempered`` does."""
    if slope == 1.0:
        return p
    near, one = graph.constant(SURE), graph.constant(1.0)
    positive, negative = graph.add("Add", [p, near]), graph.add("Add", [graph.add("Sub", [one, p]), near])
    log_odds = graph.add("Log", [graph.add("Div", [positive, negative])])
    return graph.add("Sigmoid", [graph.add("Mul", [log_odds, graph.constant(slope)])])


def _score(graph: Graph, x: str, belief: Gaussian) -> tuple[str, str]:
    """Mean [N] of z = theta'(1, x), and its standard deviation |L'(1, x)| [N] with Sigma = L L'."""
    mean = belief.mean
    root = np.linalg.cholesky(belief.cov)
    column = graph.add("MatMul", [x, graph.constant(mean[1:, None])])  # a vector on the right fails if N is 0
    plain = graph.add("Squeeze", [column, graph.constant([-1], np.int64)])
    score = graph.add("Add", [plain, graph.constant(mean[0])])
    spread = graph.add("Add", [graph.add("MatMul", [x, graph.constant(root[1:])]), graph.constant(root[0])])
    return score, graph.add("ReduceL2", [spread], axes=[1], keepdims=0)


def _probability(graph: Graph, score: str, sd: str, w: float) -> str:
    """E[sigmoid(w z)] [N]: the narrow rule below a spread of 1 in w z, the wide rule above."""
    last = graph.constant([-1], np.int64)
    m = graph.add("Unsqueeze", [graph.add("Mul", [score, graph.constant(w)]), last])
    s = graph.add("Unsqueeze", [graph.add("Mul", [sd, graph.constant(w)]), last])
    is_wide = graph.add("Greater", [s, graph.constant(1.0)])
    narrow = _narrow(graph, m, s)
    wide = _wide(graph, m, graph.add("Where", [is_wide, s, graph.constant(1.0)]))
    return graph.add("Squeeze", [graph.add("Where", [is_wide, wide, narrow]), last])


def _narrow(graph: Graph, m: str, s: str) -> str:
    """sum_j weight_j sigmoid(m + s node_j), [N, 1]."""
    at_nodes = graph.add("Add", [m, graph.add("Mul", [s, graph.constant(NARROW_NODES[None])])])
    return graph.add("MatMul", [graph.add("Sigmoid", [at_nodes]), graph.constant(NARROW_WEIGHTS[:, None])])


def _wide(graph: Graph, m: str, s: str) -> str:
    """sum_j step density_j Phi((m - node_j) / s), [N, 1]; the error function exists in single precision only."""
    import onnx

    scaled = graph.add("Div", [graph.add("Sub", [m, graph.constant(WIDE_NODES[None])]), s])
    single = graph.add("Cast", [graph.add("Mul", [scaled, graph.constant(np.sqrt(0.5))])], to=onnx.TensorProto.FLOAT)
    error = graph.add("Cast", [graph.add("Erf", [single])], to=onnx.TensorProto.DOUBLE)
    half = graph.constant(0.5)
    phi = graph.add("Add", [graph.add("Mul", [error, half]), half])
    return graph.add("MatMul", [phi, graph.constant(WIDE_WEIGHTS[:, None])])
