"""What runs on a worker: blocks of a matrix in its memory, and the scores of their items under the requested beliefs.

Scores have versions. If a worker lacks one, it is computed from an earlier version and the changes since or, on a new worker,
from the initial beliefs: with the same operations in the same order, so the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, TypeAlias

from tellmore.cluster.matrix import Matrix
from tellmore.core.coordinates import Coordinates, Rows
from tellmore.core.gaussian import Gaussian, Step
from tellmore.core.scan import LOOK_ROWS, Part, Scores, changed_scores, scores_of
from tellmore.errors import DataFileError, StateError, TellmoreError
from tellmore.types import Array

Columns: TypeAlias = Mapping[str, Sequence[Any]]
"""Other values of consecutive items, by name."""


@dataclass(frozen=True, eq=False)
class Link:
    """A version of the scores and how to compute it: from beliefs, by a change of each from the version before, or known."""

    version: str
    beliefs: Sequence[Gaussian] = ()
    changes: Sequence[Step] = ()


@dataclass(frozen=True, eq=False)
class Errand:
    """What a worker has to do with some blocks: ``look`` at them, with the scores at the end of each of ``chains``.

    ``load``: whether to read blocks that it does not have. ``kept``: the versions still in use; it deletes the others.
    ``columns``: the values for each block, if ``look`` takes any.
    """

    matrix: Matrix
    blocks: Sequence[int]
    coordinates: Coordinates
    chains: Sequence[Sequence[Link]]
    look: Callable[[Part, Columns], Any]
    load: bool
    kept: frozenset[str]
    columns: Mapping[int, Columns]


@dataclass(frozen=True)
class Missing:
    """This worker does not have a block, or the version of its scores to begin from."""


@dataclass(eq=False)
class _Block:
    X: Array
    scores: dict[str, Sequence[Scores]] = field(default_factory=dict)


_held: dict[tuple[str, str, int], _Block] = {}
"""By worker's address (workers may share a process), matrix and number of the block."""
_lock = RLock()


def run(errand: Errand) -> tuple[str, dict[int, Any]]:
    """The address of this worker, and for each block the results of its parts, or Missing."""
    from distributed import get_worker

    address = str(get_worker().address)
    with _lock:
        return address, {block: _guarded(errand, address, block) for block in errand.blocks}


def forget(matrix: str) -> None:
    """Free the memory of the matrix with this key."""
    with _lock:
        for key in [key for key in _held if key[1] == matrix]:
            del _held[key]


def _guarded(errand: Errand, address: str, block: int) -> Sequence[Any] | Missing:
    first, last = errand.matrix.bounds(block)
    try:
        return _done(errand, address, block)
    except TellmoreError:
        raise
    except MemoryError:
        raise StateError(
            f"a Dask worker has too little memory for items {first + 1} to {last}; start more workers"
        ) from None
    except OSError as problem:
        raise DataFileError(f"{errand.matrix.path}: a Dask worker cannot read it: {problem.strerror}") from None
    except Exception as problem:
        raise StateError(
            f"a Dask worker failed at items {first + 1} to {last}: {type(problem).__name__}: {problem}"
        ) from None


def _done(errand: Errand, address: str, block: int) -> Sequence[Any] | Missing:
    key = address, errand.matrix.key, block
    if key not in _held:
        if not errand.load:
            return Missing()
        _held[key] = _Block(errand.matrix.load(block))
    held = _held[key]
    rows = Rows(held.X, errand.coordinates, errand.matrix.n)
    found = [_scores(held, rows, chain) for chain in errand.chains]
    if any(isinstance(each, Missing) for each in found):
        return Missing()
    for chain, scores in zip(errand.chains, found, strict=True):
        held.scores[chain[-1].version] = scores
    held.scores = {version: scores for version, scores in held.scores.items() if version in errand.kept}
    under = [one for scores in found for one in scores]
    first, seen = errand.matrix.bounds(block)[0], []
    for start in range(0, len(rows), LOOK_ROWS):
        at = slice(start, start + LOOK_ROWS)
        part = Part(first + start, rows.part(at), [(mean[at], variance[at]) for mean, variance in under])
        columns = {name: values[at] for name, values in errand.columns[block].items()}
        seen.append(errand.look(part, columns))
    return seen


def _scores(held: _Block, rows: Rows, chain: Sequence[Link]) -> Any:
    last = chain[-1].version
    if last in held.scores:
        return held.scores[last]
    scores: Sequence[Scores] | None = None
    for link in chain:
        if link.version in held.scores:
            scores = held.scores[link.version]
        elif link.beliefs:
            scores = scores_of(rows, link.beliefs)
        elif scores is None or not link.changes:
            return Missing()
        else:
            scores = changed_scores(rows, scores, link.changes)
    return scores
