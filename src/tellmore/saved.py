"""A learner in one .npz file: arrays and one JSON text, no pickles."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.core.coordinates import Coordinates, Rows
from tellmore.core.evidence import Behaviour
from tellmore.core.frame import Frame
from tellmore.core.gaussian import Gaussian
from tellmore.core.scan import PoolScan
from tellmore.errors import DataFileError, PoolError
from tellmore.files import replacing
from tellmore.kinds import answer_from_json
from tellmore.policy.rates import Rate, RateTable
from tellmore.policy.tally import Tally
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.types import Answer

FORMAT = 3
OLD_TYPES = {"LabelAnswer": "label", "SelectAnswer": "select", "RankAnswer": "rank", "Skip": "skip"}
"""What format 1, of version 0.1, called the types of answers."""
LABORATORY = ("mode", "paper_parts")
"""Options of format 1 that belong to the laboratory's learner now."""


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file holds; ``belief`` is in the coordinates of ``frame``."""

    pool: Pool
    options: dict[str, Any]
    frame: Frame
    belief: Gaussian
    scan: PoolScan
    history: tuple[tuple[Question, Answer], ...]
    asked: int
    open: tuple[Question, ...]
    tally: Tally | None
    rates: RateTable | None


def write(path: str | Path, state: Saved) -> None:
    """Write a learner's state; the file appears whole or not at all."""
    pool, frame, belief, scan = state.pool, state.frame, state.belief, state.scan
    meta = {
        "format": FORMAT,
        "options": state.options,
        "asked": state.asked,
        "open": [asdict(question) for question in state.open],
        "tally": None if state.tally is None else asdict(state.tally),
        "pool": {"name": pool.name, "fingerprint": pool.fingerprint},
        "logdet": {"prior": frame.prior.logdet, "belief": belief.logdet},
        "standardised": frame.coordinates.standardised,
        "w": frame.w,
        "threshold": frame.behaviour.threshold,
        "history": [{"question": asdict(question), "answer": answer.as_json()} for question, answer in state.history],
        "refreshes": scan.refreshes,
        "rates": None if state.rates is None else _rates_as_json(state.rates),
    }
    arrays: dict[str, Any] = {
        "meta": np.array(json.dumps(meta)),
        "ids": np.array(pool.ids),
        "X": pool.X,
        "centre": frame.coordinates.centre,
        "scale": frame.coordinates.scale,
        "prior_mean": frame.prior.mean,
        "prior_cov": frame.prior.cov,
        "mean": belief.mean,
        "cov": belief.cov,
        "scan_mean": scan.mean,
        "scan_variance": scan.variance,
    }
    if pool.text is not None:
        arrays["text"] = np.array(pool.text)
    with replacing(Path(path)) as fresh, fresh.open("wb") as file:
        np.savez(file, **arrays)


def read(path: str | Path, pool: Pool | None = None) -> Saved:
    """Read a learner's state; ``pool``, where given, must hold the same items."""
    try:
        # Opened here, because NumPy leaves a damaged file open.
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(str(arrays["meta"]))
        options, history = dict(meta["options"]), tuple(_exchange(entry) for entry in meta["history"])
        still_open = tuple(_question(entry) for entry in meta.get("open", ()))
        rates = _rates_from_json(meta["rates"]) if meta.get("rates") else None
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
        text = [str(one) for one in arrays["text"]] if "text" in arrays else None
        pool = Pool(arrays["X"], [str(one) for one in arrays["ids"]], text, name=meta["pool"]["name"])
    elif pool.fingerprint != meta["pool"]["fingerprint"]:
        raise PoolError(
            f"{path} was saved with another pool ({meta['pool']['name']!r}); load it without one or with that one"
        )
    prior = Gaussian(arrays["prior_mean"], arrays["prior_cov"], float(meta["logdet"]["prior"]))
    belief = Gaussian(arrays["mean"], arrays["cov"], float(meta["logdet"]["belief"]))
    coordinates = Coordinates.plain(pool.d)  # those of formats 1 and 2
    if "centre" in arrays:
        coordinates = Coordinates(arrays["centre"], arrays["scale"], bool(meta["standardised"]))
    behaviour = Behaviour(options["w"], options["K"], float(meta.get("threshold", 1.0)))
    frame = Frame(coordinates, prior, behaviour, float(meta.get("w", options["w"])))
    rows = Rows(pool.X, coordinates)
    scan = PoolScan.of(rows, belief)
    if "scan_mean" in arrays:
        scan = PoolScan(rows, arrays["scan_mean"], arrays["scan_variance"], int(meta["refreshes"]))
    tally = Tally.from_json(meta["tally"]) if meta.get("tally") else None
    return Saved(pool, options, frame, belief, scan, history, int(meta["asked"]), still_open, tally, rates)


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
