"""The Dask workers of a matrix: which worker has which block, and what happens when one dies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import RLock
from typing import Any
from weakref import WeakSet

from tellmore.cluster.held import Columns, Errand, Link, Missing, forget, run
from tellmore.cluster.matrix import Matrix
from tellmore.core.coordinates import Coordinates
from tellmore.core.scan import Part
from tellmore.errors import SettingError, StateError, TellmoreError
from tellmore.version import __version__

log = logging.getLogger(__name__)

USABLE = 0.6
"""Fraction of a worker's memory limit that may be used: Dask pauses a worker at 0.8 and ends it at 0.95."""
SCORES_BYTES = 224
"""Memory for an item's scores under seven beliefs, the most that a learner has, before and after an answer."""
POLL_S = 1.0
LONGEST_WITHOUT_S = 60.0
"""How long to wait if no worker is left; a nanny starts another one within seconds."""
TRIES = 5


class Versions:
    """Scores of all items under some beliefs, computed by the chain ``links`` from a full scan."""

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = tuple(links)

    @property
    def name(self) -> str:
        return self.links[-1].version


@dataclass(frozen=True, eq=False)
class Chosen:
    """What to compute, and how."""

    wanted: Sequence[Versions]
    coordinates: Coordinates
    look: Callable[[Part, Columns], Any]
    columns: Columns
    load: bool


class Workers:
    """The workers that have ``matrix``, reached through ``client``. Threads may share it."""

    def __init__(self, client: Any, matrix: Matrix) -> None:
        self._client, self.matrix = client, matrix
        self._place: dict[int, str] = {}
        self._has: dict[int, set[str]] = {block: set() for block in matrix.blocks}
        self.live: WeakSet[Versions] = WeakSet()
        self._lock, self._loaded = RLock(), False
        self._check_versions()
        self._settle(list(matrix.blocks))
        self.visit([], Coordinates.plain(matrix.d), _nothing)
        self._loaded = True

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return str(self._client.scheduler.address)

    def forget(self) -> None:
        """Free the workers' memory, if they can still be reached."""
        with suppress(Exception):
            self._client.run(forget, self.matrix.key)

    def everywhere(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        """``function`` of each task, in order, run by any free worker; a worker that dies is replaced."""
        return self._results(self._client.map(function, tasks, pure=False, retries=1))

    def visit(
        self,
        wanted: Sequence[Versions],
        coordinates: Coordinates,
        look: Callable[[Part, Columns], Any],
        columns: Columns | None = None,
    ) -> list[Any]:
        """Results of ``look`` for all parts of the pool, in order, with the scores in ``wanted`` and slices of ``columns``."""
        with self._lock:
            found: dict[int, Any] = {}
            for attempt in range(TRIES):
                missing = [block for block in self.matrix.blocks if isinstance(found.get(block, Missing()), Missing)]
                if not missing:
                    return [one for block in self.matrix.blocks for one in found[block]]
                if attempt:
                    self._settle(missing)
                chosen = Chosen(wanted, coordinates, look, columns or {}, attempt > 0 or not self._loaded)
                found.update(self._round(missing, chosen))
            raise StateError(f"Dask workers at {self.address} keep dying; give them more memory, then try again")

    def _round(self, blocks: Sequence[int], chosen: Chosen) -> dict[int, Any]:
        """The results of every worker for its own ``blocks``."""
        kept = frozenset(each.name for each in self.live)
        futures = []
        for address in sorted({self._place[block] for block in blocks}):
            own = [block for block in blocks if self._place[block] == address]
            errand = self._errand(own, chosen, kept)
            futures.append(
                self._client.submit(run, errand, workers=[address], allow_other_workers=True, pure=False, retries=0)
            )
        found: dict[int, Any] = {}
        for address, result in self._results(futures):
            for block, what in result.items():
                self._note(block, address, what, chosen.wanted)
            found.update(result)
        for block in found:
            self._has[block] &= kept
        return found

    def _errand(self, blocks: Sequence[int], chosen: Chosen, kept: frozenset[str]) -> Errand:
        known = set.intersection(*(self._has[block] for block in blocks))
        chains = [_since(each.links, known) for each in chosen.wanted]
        bounds = {block: slice(*self.matrix.bounds(block)) for block in blocks}
        columns = {block: {name: values[at] for name, values in chosen.columns.items()} for block, at in bounds.items()}
        return Errand(self.matrix, blocks, chosen.coordinates, chains, chosen.look, chosen.load, kept, columns)

    def _note(self, block: int, address: str, what: Any, wanted: Sequence[Versions]) -> None:
        if isinstance(what, Missing):
            self._has[block] = set()
        else:
            self._place[block] = address
            self._has[block].update(each.name for each in wanted)

    def _results(self, futures: Sequence[Any]) -> list[Any]:
        import distributed

        without = 0.0
        try:
            while True:
                try:
                    distributed.wait(futures, timeout=POLL_S)
                    return list(self._client.gather(futures))
                except TimeoutError:
                    without = 0.0 if self._alive() else without + POLL_S
                    if without > LONGEST_WITHOUT_S:
                        raise self._nobody() from None
        except TellmoreError:
            raise
        except distributed.KilledWorker:
            raise StateError(
                f"Dask workers at {self.address} died; give them more memory, or start more of them"
            ) from None
        except (OSError, distributed.CancelledError, RuntimeError) as problem:
            raise StateError(f"the Dask scheduler at {self.address} has gone: {problem}; start it again") from None
        finally:
            for future in futures:
                future.release()

    def _alive(self) -> dict[str, int]:
        """Threads of each worker, by its address."""
        return dict(self._client.nthreads())

    def _nobody(self) -> StateError:
        return StateError(f"no Dask worker is left at {self.address}; start some with: dask worker {self.address}")

    def _settle(self, blocks: Sequence[int]) -> None:
        """Assign each of ``blocks`` whose worker has gone to another worker: at once if the others have room, else to the
        next new one."""
        alive = self._alive()
        lost = [block for block in blocks if self._place.get(block) not in alive]
        gone = {self._place.pop(block) for block in lost if block in self._place}
        if gone:
            log.warning("lost %s; its %d blocks are read by others", ", ".join(sorted(gone)), len(lost))
        if not alive or (gone and self._shared_out(lost) is None):
            self._wait_for(len(alive) + 1)
        places = self._shared_out(lost)
        if places is None:
            raise self._too_little()
        self._place.update(places)
        self._has.update({block: set() for block in lost})

    def _wait_for(self, workers: int) -> None:
        """Wait until there are this many workers: a nanny or a queue may start one again."""
        try:
            self._client.wait_for_workers(workers, timeout=LONGEST_WITHOUT_S)
        except TimeoutError:
            if not self._alive():
                raise self._nobody() from None

    def _shared_out(self, blocks: Sequence[int]) -> dict[int, str] | None:
        """A worker for each of ``blocks``, always the least loaded one; None if their memory is too small."""
        free, load, places = self._free(), dict.fromkeys(self._free(), 0.0), {}
        for block, address in self._place.items():
            load[address] = load.get(address, 0.0) + self._bytes(block)
        for block in blocks:
            room = [one for one in free if load[one] + self._bytes(block) <= free[one]]
            if not room:
                return None
            places[block] = min(room, key=lambda one: load[one])
            load[places[block]] += self._bytes(block)
        return places

    def _too_little(self) -> SettingError:
        free, need = self._free(), sum(map(self._bytes, self.matrix.blocks))
        return SettingError(
            f"the pool needs {_gigabytes(need)} with its scores, and {len(free)} Dask workers offer "
            f"{_gigabytes(sum(free.values()))} ({100 * USABLE:.0f} % of their memory limits); start more workers, or raise their "
            "--memory-limit"
        )

    def _free(self) -> dict[str, float]:
        """How much memory each worker may use, in bytes."""
        info = self._client.scheduler_info(n_workers=-1)["workers"]
        limits = {address: info.get(address, {}).get("memory_limit") for address in self._alive()}
        return {address: USABLE * (limit or float("inf")) for address, limit in limits.items()}

    def _bytes(self, block: int) -> float:
        first, last = self.matrix.bounds(block)
        return self.matrix.bytes(block) + SCORES_BYTES * (last - first)

    def _check_versions(self) -> None:
        """Raise an error unless all workers have the same version as this process."""
        if not self._alive():
            self._wait_for(1)
        try:
            found: dict[str, str] = self._client.run(_version)
        except Exception as problem:
            raise StateError(
                f"the Dask workers at {self.address} cannot run tellmore ({problem}); install it there"
            ) from None
        other = next((each for each in found.items() if each[1] != __version__), None)
        if other is not None:
            raise StateError(
                f"the Dask worker {other[0]} has tellmore {other[1]}, this process {__version__}; install the same version"
            )


def _version() -> str:
    from tellmore.version import __version__ as own

    return own


def _nothing(_part: Part, _columns: Columns) -> None:
    """Do nothing, so that the blocks are only read."""


def _since(links: Sequence[Link], known: set[str]) -> list[Link]:
    """The links from the latest known one to the last of ``links``."""
    at = next((at for at in reversed(range(len(links))) if links[at].version in known), None)
    return list(links) if at is None else [Link(links[at].version), *links[at + 1 :]]


def _gigabytes(size: float) -> str:
    return f"{size / 2**30:.3g} GiB"
