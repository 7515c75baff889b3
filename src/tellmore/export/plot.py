"""A curve as inline SVG: enough for a page that must stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from tellmore.types import Array

WIDTH, HEIGHT = 360, 200
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 36
MOST_POINTS = 400


@dataclass(frozen=True)
class Curve:
    """y against x, with what the axes mean."""

    title: str
    x_name: str
    y_name: str
    x: ArrayLike
    y: ArrayLike


def curve_svg(curve: Curve) -> str:
    """A figure with axes, round numbers on each, and one line."""
    x, y = _thinned(np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float))
    x_low, x_high = _range(x)
    y_low, y_high = _range(y)
    across = LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)
    up = HEIGHT - BOTTOM - (y - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up, strict=True))
    last = f"{curve.title}: {y[-1]:.3g} at the end"
    line = f'<polyline points="{points}" fill="none" stroke="#1f5fa8" stroke-width="2"/>'
    dot = f'<circle cx="{across[-1]:.1f}" cy="{up[-1]:.1f}" r="3" fill="#1f5fa8"/>'
    axes = _x_axis(x_low, x_high, curve.x_name) + _y_axis(y_low, y_high)
    return (
        f'<figure><svg role="img" aria-label="{escape(last)}" viewBox="0 0 {WIDTH} {HEIGHT}">{axes}{line}{dot}</svg>'
        f"<figcaption>{escape(curve.title)} ({escape(curve.y_name)})</figcaption></figure>"
    )


def _thinned(x: Array, y: Array) -> tuple[Array, Array]:
    if len(x) <= MOST_POINTS:
        return x, y
    kept = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int))
    return x[kept], y[kept]


def _range(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _marks(low: float, high: float) -> Sequence[float]:
    """Three to six round numbers from low to high."""
    rough = (high - low) / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(round_one for round_one in (1, 2, 5, 10) if round_one * power >= rough)
    first, last = np.ceil(low / step), np.floor(high / step + 1e-9)
    return [float(number * step) + 0.0 for number in np.arange(first, last + 1)]


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" text-anchor="{anchor}" fill="#444">{escape(words)}</text>'


def _x_axis(low: float, high: float, name: str) -> str:
    base = HEIGHT - BOTTOM
    parts = [f'<line x1="{LEFT}" y1="{base}" x2="{WIDTH - RIGHT}" y2="{base}" stroke="#888"/>']
    for mark in _marks(low, high):
        at = LEFT + (mark - low) / (high - low) * (WIDTH - LEFT - RIGHT)
        parts.append(_text(at, base + 14, f"{mark:.6g}", "middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, name, "middle"))
    return "".join(parts)


def _y_axis(low: float, high: float) -> str:
    parts = [f'<line x1="{LEFT}" y1="{TOP}" x2="{LEFT}" y2="{HEIGHT - BOTTOM}" stroke="#888"/>']
    for mark in _marks(low, high):
        at = HEIGHT - BOTTOM - (mark - low) / (high - low) * (HEIGHT - TOP - BOTTOM)
        parts.append(_text(LEFT - 6, at + 4, f"{mark:.6g}", "end"))
    return "".join(parts)
