"""An embedder that runs the user's own command.

The command gets each item as one JSON line on its standard input, ``{"id", "text"}`` or ``{"id", "image"}`` (a path). For each
it prints one JSON line, in the same order: the vector as a list, or ``{"id", "vector"}``. No shell is used.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import IO, Any

import numpy as np

from tellmore.data.embedder import EmbedItem
from tellmore.errors import DataFileError, SettingError, StateError
from tellmore.types import Array


@dataclass(frozen=True)
class CommandEmbedder:
    """Runs ``command`` once for all items of a call. A thread writes its input, so that neither side waits for the other."""

    command: str

    def embed(self, items: Iterable[EmbedItem]) -> Iterator[Array]:
        asked = list(items)
        if not asked:
            return
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        Thread(target=_feed, args=(process.stdin, asked), daemon=True).start()
        try:
            for position, item in enumerate(asked):
                line = process.stdout.readline()
                if not line:
                    self._stopped_early(process, position, len(asked))
                yield self._vector(line, item)
            if process.stdout.readline().strip():
                raise DataFileError(f"{self._name}: it printed more lines than the {len(asked)} items it was given")
        finally:
            if process.poll() is None:
                process.kill()  # before its pipe is closed, or it would print an error about that
            process.wait()
            process.stdout.close()

    def _start(self) -> subprocess.Popen[str]:
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise SettingError(f"--embed exec: the command cannot be split into words: {error}") from None
        try:
            return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        except (OSError, IndexError, ValueError) as error:
            raise SettingError(f"--embed exec:{self.command}: the command cannot be started: {error}") from None

    @property
    def _name(self) -> str:
        return f"--embed exec:{self.command}"

    def _stopped_early(self, process: subprocess.Popen[str], done: int, total: int) -> None:
        """Raise an error. The failure may be temporary (memory, network), so finished vectors are kept for the next run."""
        code = process.wait()
        if code:
            raise StateError(
                f"{self._name}: it ended with exit code {code} after {done} of {total} items; "
                "run the same command again to continue from there"
            )
        raise DataFileError(
            f"{self._name}: it printed {done} vectors for {total} items; expected one JSON line per item"
        )

    def _vector(self, line: str, item: EmbedItem) -> Array:
        try:
            given: Any = json.loads(line)
            if isinstance(given, dict):
                if "id" in given and str(given["id"]) != item.id:
                    raise DataFileError(
                        f"{self._name}: it answered {given['id']!r} when {item.id!r} was next; keep the order"
                    )
                given = given["vector"]
            return np.array(given, dtype=np.float32)
        except (json.JSONDecodeError, KeyError, TypeError, ValueError, OverflowError) as error:
            if isinstance(error, DataFileError):
                raise
            raise DataFileError(
                f"{self._name}: not a JSON vector for item {item.id!r}: {line.strip()[:80]!r}"
            ) from None


def _feed(stdin: IO[str], items: list[EmbedItem]) -> None:
    """Write all items; if the command ends early, the reader reports it."""
    with suppress(BrokenPipeError, ValueError), stdin:
        for item in items:
            what = {"text": item.text} if item.image is None else {"image": str(item.image)}
            stdin.write(json.dumps({"id": item.id, **what}, ensure_ascii=False) + "\n")
