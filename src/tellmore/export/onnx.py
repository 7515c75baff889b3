"""The classifier as an ONNX graph: raw embeddings in, belief-averaged probability, score and its spread out.

The graph does what ``Classifier.apply`` does, in the same two regimes as ``core.logistic_normal.mean_sigmoid``. Scores are
computed in double precision, since x'Sigma x over hundreds of dimensions loses digits in single; outputs are single.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellmore.classifier import TINY_NORM, Classifier
from tellmore.core.gaussian import Gaussian
from tellmore.core.logistic_normal import NARROW_NODES, NARROW_WEIGHTS, WIDE_NODES, WIDE_WEIGHTS
from tellmore.errors import needs

OPSET = 17
IR_VERSION = 8
"""Old enough for onnxruntime 1.12 and everything since."""
NO_WEIGHT = 1e-9
"""Beliefs that weigh less change no probability that single precision can tell."""


def onnx_bytes(classifier: Classifier, metadata: dict[str, str]) -> bytes:
    """The model; ``metadata`` becomes its metadata properties."""
    with needs("onnx", "onnx"):
        import onnx
    graph = _Graph(onnx)
    x = graph.add("Cast", ["embedding"], to=onnx.TensorProto.DOUBLE)
    if classifier.normalised:
        x = _unit_length(graph, x)
    score, sd = _score(graph, x, classifier.belief)
    probability = _mixed_probability(graph, x, classifier)
    for name, value in (("probability", probability), ("score", score), ("score_sd", sd)):
        graph.add("Cast", [value], output=name, to=onnx.TensorProto.FLOAT)
    model = graph.model(classifier.d)
    onnx.helper.set_model_props(model, metadata)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


class _Graph:
    """Collects nodes and constants, naming every intermediate value."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def add(self, operator: str, inputs: list[str], *, output: str | None = None, **attributes: Any) -> str:
        """One operation; returns the name of its result."""
        name = output or f"v{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """A constant; returns its name."""
        name = f"c{len(self._constants)}"
        array: NDArray[Any] = np.asarray(value, dtype=dtype)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def model(self, d: int) -> Any:
        helper, kind = self._onnx.helper, self._onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes,
            "tellmore",
            [helper.make_tensor_value_info("embedding", kind, ["N", d])],
            [helper.make_tensor_value_info(name, kind, ["N"]) for name in ("probability", "score", "score_sd")],
            self._constants,
        )
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="tellmore")


def _unit_length(graph: _Graph, x: str) -> str:
    """Rows of x [N, d] divided by their length, where that is not zero."""
    length = graph.add("ReduceL2", [x], axes=[1], keepdims=1)
    long_enough = graph.add("Greater", [length, graph.constant(TINY_NORM)])
    divisor = graph.add("Where", [long_enough, length, graph.constant(1.0)])
    return graph.add("Div", [x, divisor])


def _mixed_probability(graph: _Graph, x: str, classifier: Classifier) -> str:
    """The probability [N] of positive, averaged over all beliefs; those without weight are left out."""
    weighed = zip(classifier.mixture.weights.tolist(), classifier.mixture.beliefs, strict=True)
    parts = [
        graph.add("Mul", [_probability(graph, *_score(graph, x, belief), classifier.w), graph.constant(weight)])
        for weight, belief in weighed
        if weight > NO_WEIGHT
    ]
    return graph.add("Sum", parts)


def _score(graph: _Graph, x: str, belief: Gaussian) -> tuple[str, str]:
    """Mean [N] of z = theta'(1, x), and its standard deviation |L'(1, x)| [N] with Sigma = L L'."""
    mean = belief.mean
    root = np.linalg.cholesky(belief.cov)
    plain = graph.add("MatMul", [x, graph.constant(mean[1:])])
    score = graph.add("Add", [plain, graph.constant(mean[0])])
    spread = graph.add("Add", [graph.add("MatMul", [x, graph.constant(root[1:])]), graph.constant(root[0])])
    return score, graph.add("ReduceL2", [spread], axes=[1], keepdims=0)


def _probability(graph: _Graph, score: str, sd: str, w: float) -> str:
    """E[sigmoid(w z)] [N]: the narrow rule below a spread of 1 in w z, the wide rule above."""
    last = graph.constant([-1], np.int64)
    m = graph.add("Unsqueeze", [graph.add("Mul", [score, graph.constant(w)]), last])
    s = graph.add("Unsqueeze", [graph.add("Mul", [sd, graph.constant(w)]), last])
    is_wide = graph.add("Greater", [s, graph.constant(1.0)])
    narrow = _narrow(graph, m, s)
    wide = _wide(graph, m, graph.add("Where", [is_wide, s, graph.constant(1.0)]))
    return graph.add("Squeeze", [graph.add("Where", [is_wide, wide, narrow]), last])


def _narrow(graph: _Graph, m: str, s: str) -> str:
    """sum_j weight_j sigmoid(m + s node_j), [N, 1]."""
    at_nodes = graph.add("Add", [m, graph.add("Mul", [s, graph.constant(NARROW_NODES[None])])])
    return graph.add("MatMul", [graph.add("Sigmoid", [at_nodes]), graph.constant(NARROW_WEIGHTS[:, None])])


def _wide(graph: _Graph, m: str, s: str) -> str:
    """sum_j step density_j Phi((m - node_j) / s), [N, 1]; the error function exists in single precision only."""
    import onnx

    scaled = graph.add("Div", [graph.add("Sub", [m, graph.constant(WIDE_NODES[None])]), s])
    single = graph.add("Cast", [graph.add("Mul", [scaled, graph.constant(np.sqrt(0.5))])], to=onnx.TensorProto.FLOAT)
    error = graph.add("Cast", [graph.add("Erf", [single])], to=onnx.TensorProto.DOUBLE)
    half = graph.constant(0.5)
    phi = graph.add("Add", [graph.add("Mul", [error, half]), half])
    return graph.add("MatMul", [phi, graph.constant(WIDE_WEIGHTS[:, None])])
