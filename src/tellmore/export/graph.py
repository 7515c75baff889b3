"""Builds an ONNX graph, one operation after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellmore.classifier import TINY_NORM

OPSET = 17
IR_VERSION = 8
"""Old enough for onnxruntime 1.12 and all later versions."""

Tensors = Mapping[str, tuple[int, Sequence[str | int]]]
"""Name -> type of the elements, and shape."""


class Graph:
    """Collects nodes and constants, naming every intermediate value."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def add(self, operator: str, inputs: list[str], *, output: str | None = None, **attributes: Any) -> str:
        """Add an operation; returns the name of its result."""
        name = output or f"v{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant; returns its name."""
        name = f"c{len(self._constants)}"
        array: NDArray[Any] = np.asarray(value, dtype=dtype)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def unit_length(self, x: str) -> str:
        """Rows of x [N, d] divided by their length, if that is not zero."""
        length = self.add("ReduceL2", [x], axes=[1], keepdims=1)
        long_enough = self.add("Greater", [length, self.constant(TINY_NORM)])
        divisor = self.add("Where", [long_enough, length, self.constant(1.0)])
        return self.add("Div", [x, divisor])

    def model_bytes(
        self, inputs: Tensors, outputs: Tensors, metadata: dict[str, str], domains: Mapping[str, int] | None = None
    ) -> bytes:
        """The checked model; ``metadata`` becomes its properties, ``domains`` are those of operators outside the standard."""
        helper = self._onnx.helper
        described = [
            [helper.make_tensor_value_info(name, *about) for name, about in tensors.items()]
            for tensors in (inputs, outputs)
        ]
        graph = helper.make_graph(self._nodes, "tellmore", *described, self._constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in {"": OPSET, **(domains or {})}.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="tellmore")
        helper.set_model_props(model, metadata)
        self._onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString())
