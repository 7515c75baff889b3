"""Small pieces of HTML for notebooks: a table and a curve. All values are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

WIDTH, HEIGHT = 160, 32
"""The size of a curve, in pixels."""


def table(caption: str, rows: Iterable[Sequence[Any]], curve: str = "") -> str:
    """A table with a caption above it, and a curve below if there is one."""
    lines = ("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div><b>{escape(caption)}</b><table>{''.join(lines)}</table>{curve}</div>"


def curve(values: Sequence[float], says: str) -> str:
    """A line through ``values``, from left to right, as a picture described by ``says``; empty for fewer than 2 values."""
    if len(values) < 2:
        return ""
    top = max(values) or 1.0
    step = WIDTH / (len(values) - 1)
    points = " ".join(
        f"{place * step:.1f},{(HEIGHT - 2) * (1 - value / top) + 1:.1f}" for place, value in enumerate(values)
    )
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(says)}">'
        f"<title>{escape(says)}</title>"
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg> '
        f"<small>{escape(says)}</small>"
    )
