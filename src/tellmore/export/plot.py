"""A curve as inline SVG, for a page without other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tellmore.pages import render_page
from tellmore.types import Array

FRAME = {"width": 360, "height": 200, "left": 52, "right": 348, "top": 12, "base": 164}
MOST_POINTS = 400


@dataclass(frozen=True)
class Curve:
    """y against x, with the labels of the axes."""

    title: str
    x_name: str
    y_name: str
    x: ArrayLike
    y: ArrayLike


def curve_svg(curve: Curve) -> str:
    """A figure with axes, round numbers on each, and one line."""
    x, y = _thinned(np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float))
    across, x_marks = _placed(x, FRAME["left"], FRAME["right"])
    up, y_marks = _placed(y, FRAME["base"], FRAME["top"])
    points = list(zip(across, up, strict=True))
    return render_page("curve.html", curve=curve, last=y[-1], points=points, x_marks=x_marks, y_marks=y_marks, **FRAME)


def _thinned(x: Array, y: Array) -> tuple[Array, Array]:
    if len(x) <= MOST_POINTS:
        return x, y
    kept = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int))
    return x[kept], y[kept]


def _placed(values: Array, start: float, end: float) -> tuple[Array, list[tuple[float, float]]]:
    """Positions of values [n] on an axis from ``start`` to ``end``, and its marks with their positions."""
    low, high = float(values.min()), float(values.max())
    if high <= low:
        low, high = low - 0.5, high + 0.5

    def place(value: Any) -> Any:
        return start + (value - low) / (high - low) * (end - start)

    return place(values), [(place(mark), mark) for mark in _marks(low, high)]


def _marks(low: float, high: float) -> Sequence[float]:
    """Three to six round numbers from low to high."""
    rough = (high - low) / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(round_one for round_one in (1, 2, 5, 10) if round_one * power >= rough)
    first, last = np.ceil(low / step), np.floor(high / step + 1e-9)
    return [float(number * step) + 0.0 for number in np.arange(first, last + 1)]
