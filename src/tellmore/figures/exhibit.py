"""What an exhibit is: a figure, a table or a check of the paper, as rows, a picture and a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tellmore.figures.bench import Bench
from tellmore.rows import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Exhibit:
    """``collect`` measures rows, ``draw`` turns them into a picture, and ``compare`` compares them with the paper in words."""

    name: str
    title: str
    collect: Callable[[Bench], Rows]
    draw: Callable[[Rows], Figure]
    compare: Callable[[Rows], str]
    simulated: bool = False
