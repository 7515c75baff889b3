"""Finished trials on disk: one file each, written completely or not at all, so that a killed run loses only its current trial."""

from __future__ import annotations

import ast
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from tellmore.errors import SettingError, needs
from tellmore.files import write_whole
from tellmore.sim.config import Config
from tellmore.sim.pools import open_pool
from tellmore.sim.rows import Trial

# The code that the rows of a trial depend on; if it changes, stored rows are not used again.
_SOURCES = (
    "choosing.py", "core", "kinds", "policy", "learner.py", "opinions.py", "options.py", "pool.py", "predictor.py",
    "questions.py", "rereading.py", "sim/annotators.py", "sim/experiment.py", "sim/method.py", "sim/people.py", "sim/rows.py",
    "sim/score_model.py", "sim/starting.py", "sim/truth.py", "sim/watched.py", "start.py", "state.py", "telling.py",
    "types.py",
)  # fmt: skip
_PEER_SOURCES = ("sim/peers.py",)


class Ledger:
    """A folder of finished trials, identified by setting, pool, program and seed."""

    def __init__(self, folder: Path) -> None:
        self.folder = writable_folder(folder)

    def path(self, config: Config, seed: int) -> Path:
        """The path of the trial's file, which may not exist yet."""
        digest = config.digest(pool_fingerprint(config.pool, config.matrix), program_fingerprint(bool(config.peer)))
        return self.folder / f"{digest}-{seed}.json"

    def load(self, config: Config, seed: int) -> Trial | None:
        """The stored trial; None if it is missing or damaged."""
        plain = read_json(self.path(config, seed))
        return None if plain is None else Trial.from_dict(plain)

    def save(self, config: Config, trial: Trial) -> None:
        """Store a finished trial."""
        write_json(self.path(config, trial.seed), {"config": config.as_dict(), **trial.as_dict()})


def default_folder() -> Path:
    """The folder in which `tellmore simulate` stores trials by default."""
    with needs("platformdirs", "cli"):
        from platformdirs import user_cache_path
    return user_cache_path("tellmore", appauthor=False) / "trials"


def writable_folder(folder: Path) -> Path:
    """The folder, created if needed; SettingError if nothing can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise SettingError(
            f"cannot write into {folder}: {reason}; choose another folder with --out or --cache"
        ) from None
    return folder


def read_json(path: Path) -> dict[str, Any] | None:
    """The content of a JSON file; None if it is missing or damaged."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return plain if isinstance(plain, dict) else None


def write_json(path: Path, plain: Any) -> None:
    """Write a JSON file completely or not at all."""
    write_whole(path, json.dumps(plain, separators=(",", ":")))


@cache
def pool_fingerprint(pool: str, matrix: str) -> str:
    """A hash of a pool's items, embeddings and scores."""
    loaded = open_pool(pool, matrix)
    digest = hashlib.sha256(loaded.fingerprint.encode())
    if loaded.scores is not None:
        digest.update(loaded.scores.mean.tobytes() + loaded.scores.spread().tobytes())
        if loaded.scores.histogram is not None:
            digest.update(loaded.scores.histogram.tobytes())
        digest.update(repr(loaded.scores.threshold).encode())
    return digest.hexdigest()


@cache
def program_fingerprint(peer: bool = False) -> str:
    """A hash of the code that trials run, with ``peer`` also that of peers; comments, docstrings and layout do not count."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for source in _SOURCES + (_PEER_SOURCES if peer else ()):
        path = root / source
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            digest.update(_code_of(file).encode())
    return digest.hexdigest()


def _code_of(file: Path) -> str:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
