"""A learner in one .npz file: arrays and one JSON text, no pickles."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellmore.core.coordinates import Coordinates, Rows
from tellmore.core.evidence import Behaviour
from tellmore.core.frame import Frame
from tellmore.core.gaussian import Gaussian
from tellmore.core.habits import Team
from tellmore.core.mixture import Mixture
from tellmore.core.scan import PoolRows, PoolScan, Scan, scans_of
from tellmore.errors import DataFileError, PoolError
from tellmore.files import WHERE_TO_WRITE, reading_npz, replacing
from tellmore.kinds import answer_from_json
from tellmore.options import one_path
from tellmore.policy.asking import AUTO, AUTO_SIZES
from tellmore.policy.rates import Rate, RateTable
from tellmore.policy.tally import Tally
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.types import Answer, Array

FORMAT = 4
OPTIONS = ("seed", "bound", "acquisition", "check_share", "by_person", "exclude_last", "calibrate")
"""Options of a learner that are also its attributes, with the same names."""
OLD_TYPES = {"LabelAnswer": "label", "SelectAnswer": "select", "RankAnswer": "rank", "Skip": "skip"}
"""The names of answer types in format 1, that of version 0.1."""
OF_THE_POOL = ("X", "ids", "text", "images")
LABORATORY = ("mode", "paper_parts")
"""Options of format 1 that now belong to the laboratory's learner."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The beliefs before the first answer and now, in the learner's coordinates, and the scans of those now."""

    prior: Mixture
    now: Mixture
    scans: tuple[Scan, ...]


@dataclass(frozen=True, eq=False)
class Saved:
    """The content of a file."""

    pool: Pool
    options: dict[str, Any]
    frame: Frame
    beliefs: Beliefs
    history: tuple[tuple[Question, Answer], ...]
    asked: int
    open: tuple[Question, ...]
    tally: Tally | None
    rates: RateTable | None
    people: tuple[str, ...]
    team: Team


def write(path: str | Path, state: Saved) -> None:
    """Write a learner's state; the file is written completely or not at all."""
    path = one_path("path", path)
    pool, frame = state.pool, state.frame
    meta = {
        "format": FORMAT,
        "options": state.options,
        "asked": state.asked,
        "open": [question.as_json() for question in state.open],
        "tally": None if state.tally is None else state.tally.as_json(),
        "pool": {"name": pool.name, "fingerprint": pool.fingerprint, "columns": pool.columns},
        "standardised": frame.coordinates.standardised,
        "w": frame.w,
        "threshold": frame.behaviour.threshold,
        "lapse": frame.behaviour.lapse,
        "history": [{"question": question.as_json(), "answer": answer.as_json()} for question, answer in state.history],
        "people": list(state.people) if any(state.people) else None,
        "team": state.team.as_json(),
        "refreshes": state.beliefs.scans[0].refreshes,
        "rates": None if state.rates is None else _rates_as_json(state.rates),
    }
    arrays: dict[str, Any] = {
        "meta": np.array(json.dumps(meta, default=str)),  # columns may be named by dates
        "ids": _packed(pool.ids),
        "X": pool.X,
        "centre": frame.coordinates.centre,
        "scale": frame.coordinates.scale,
        **state.beliefs.prior.arrays("prior_"),
        **state.beliefs.now.arrays(),
        "scan_mean": np.array([scan.mean for scan in state.beliefs.scans]),
        "scan_variance": np.array([scan.variance for scan in state.beliefs.scans]),
    }
    for name, seen in (("text", pool.text), ("images", pool.images)):
        if seen is not None:
            arrays[name] = _packed(seen)
    try:
        with replacing(path) as fresh, fresh.open("wb") as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise DataFileError(f"{path}: cannot be written: {error.strerror}; {WHERE_TO_WRITE}") from error


def read(path: str | Path, pool: Pool | None = None) -> Saved:
    """Read a learner's state; if ``pool`` is given, it must have the same items."""
    try:
        with reading_npz(Path(path)) as file:
            items = () if pool is None else OF_THE_POOL
            arrays = {name: file[name] for name in file.files if name not in items}
        meta = json.loads(str(arrays["meta"]))
        options, history = dict(meta["options"]), tuple(_exchange(entry) for entry in meta["history"])
        still_open = tuple(_question(entry) for entry in meta.get("open", ()))
        rates = _rates_from_json(meta["rates"]) if meta.get("rates") else None
        if options["question"] == AUTO:  # earlier versions saved a size that auto did not use, and perhaps no sizes
            options["set_size"], options["sizes"] = None, options["sizes"] or AUTO_SIZES
        parts = [options.pop(name) for name in LABORATORY if name in options]
    except FileNotFoundError:
        raise DataFileError(f"there is no saved learner at {path}") from None
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise DataFileError(f"{path} is not a saved learner ({error}); save one with Learner.save") from None
    if parts not in ([], ["default", []]):
        raise DataFileError(
            f"{path} was saved by the laboratory's paper mode of version 0.1; teach the learner again with `tellmore simulate`"
        )
    if pool is None:
        pool = _pool(arrays, meta["pool"])
    elif pool.fingerprint != meta["pool"]["fingerprint"]:
        raise PoolError(
            f"{path} was saved with another pool ({meta['pool']['name']!r}); load it without one or with that one"
        )
    prior, mixture = _mixture(arrays, meta, "prior_"), _mixture(arrays, meta)
    coordinates = Coordinates.plain(pool.d)  # those of formats 1 and 2
    if "centre" in arrays:
        coordinates = Coordinates(arrays["centre"], arrays["scale"], bool(meta["standardised"]))
    threshold, lapse = float(meta.get("threshold", 1.0)), float(meta.get("lapse", 0.0))
    behaviour = Behaviour(options["w"], options["K"], threshold, lapse)
    frame = Frame(coordinates, prior.beliefs[0], behaviour, float(meta.get("w", options["w"])))
    scans = _scans(pool.placed(coordinates), mixture, arrays, int(meta.get("refreshes", 0)))
    tally = Tally.from_json(meta["tally"]) if meta.get("tally") else None
    beliefs = Beliefs(prior, mixture, scans)
    people = tuple(meta.get("people") or [""] * len(history))
    told = history, int(meta["asked"]), still_open, tally, rates, people, Team.from_json(meta.get("team"))
    return Saved(pool, options, frame, beliefs, *told)


def _pool(arrays: Mapping[str, Array], about: Mapping[str, Any]) -> Pool:
    """The pool in a file."""
    text, images = (_unpacked(arrays[name]) if name in arrays else None for name in ("text", "images"))
    pool = Pool(arrays["X"], _unpacked(arrays["ids"]), text, images=images, name=about["name"])
    columns = about.get("columns")  # not in files of earlier versions
    pool.columns = None if columns is None else tuple(map(_hashable, columns))
    return pool


def _packed(values: Sequence[Any]) -> NDArray[np.uint8]:
    """Texts and whole numbers as bytes. As an array of texts, each would take as much space as the longest."""
    return np.frombuffer(json.dumps(list(values)).encode(), dtype=np.uint8)


def _unpacked(array: NDArray[Any]) -> list[Any]:
    """The inverse of `_packed`; files of earlier versions hold arrays of texts or numbers."""
    values: list[Any] = json.loads(array.tobytes()) if array.dtype == np.uint8 else array.tolist()
    return values


def _hashable(name: Any) -> Any:
    """The name of a column: in JSON, a tuple is a list."""
    return tuple(map(_hashable, name)) if isinstance(name, list) else name


def _mixture(arrays: Mapping[str, Array], meta: Mapping[str, Any], prefix: str = "") -> Mixture:
    """The mixture in a file. Formats 1 to 3 hold one belief, with its log determinant in ``meta``."""
    if "logdet" not in meta:
        return Mixture.from_arrays(arrays, prefix)
    logdet = float(meta["logdet"]["prior" if prefix else "belief"])
    return Mixture.of(Gaussian(arrays[f"{prefix}mean"], arrays[f"{prefix}cov"], logdet))


def _scans(rows: PoolRows, mixture: Mixture, arrays: Mapping[str, Array], refreshes: int) -> tuple[Scan, ...]:
    if "scan_mean" not in arrays or not isinstance(rows, Rows):
        return scans_of(rows, mixture.beliefs)
    shape = len(mixture.beliefs), len(rows)
    means, variances = (arrays[name].reshape(shape) for name in ("scan_mean", "scan_variance"))
    return tuple(PoolScan(rows, mean, variance, refreshes) for mean, variance in zip(means, variances, strict=True))


def _question(plain: dict[str, Any]) -> Question:
    return Question(plain["kind"], plain["items"], plain["id"], check=plain.get("check", False))


def _exchange(entry: dict[str, Any]) -> tuple[Question, Answer]:
    answer = dict(entry["answer"])
    answer["type"] = OLD_TYPES.get(answer["type"], answer["type"])
    return _question(entry["question"]), answer_from_json(answer)


def _rates_as_json(table: RateTable) -> dict[str, Any]:
    bits = [[kind, size, np.asarray(found).tolist()] for (kind, size), found in table.bits.items()]
    rates = [asdict(rate) for rate in table.rates]
    return {"bits": bits, "rates": rates, "spread": table.spread, "answers": table.answers}


def _rates_from_json(plain: dict[str, Any]) -> RateTable:
    bits = {(kind, size): np.array(found) for kind, size, found in plain["bits"]}
    return RateTable(bits, tuple(Rate(**rate) for rate in plain["rates"]), plain["spread"], plain["answers"])
