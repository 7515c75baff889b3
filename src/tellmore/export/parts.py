"""Scores of more items than fit on one machine, written by Dask workers: a folder with a Parquet file for each part.

The workers write into the folder themselves, so it must have the same path on all machines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from tellmore.classifier import Classifier, Predictions
from tellmore.cluster.pool import DaskPool
from tellmore.core.calibration import tempered
from tellmore.core.mixture import Weighing
from tellmore.core.scan import Part
from tellmore.data.records import open_parquet
from tellmore.data.vectors import open_vectors
from tellmore.errors import DataFileError, SettingError, needs
from tellmore.export import make_folder
from tellmore.files import write_whole
from tellmore.store.state import State, as_texts


def export_parts(state: State, out: Path) -> list[Path]:
    """Write id, probability, score and score_sd of every item of the pool; returns the files written."""
    pool, learner = state.pool, state.learner
    assert isinstance(pool, DaskPool)
    make_folder(out)
    look = partial(
        _write_scores,
        folder=str(out.absolute()),
        mixture=learner.beliefs.weighing,
        w=learner.w,
        slope=learner.calibration.slope,
        metadata=as_texts(state.provenance),
        of=len(pool),
    )
    rows = pool.placed(learner.coordinates)
    found = rows.visit_with(learner.scans, look, {"id": pool.names})
    return _there(out, found)


def _write_scores(
    part: Part,
    columns: Mapping[str, Sequence[str]],
    *,
    folder: str,
    mixture: Weighing,
    w: float,
    slope: float,
    metadata: Mapping[str, str],
    of: int,
) -> str:
    """On a worker: write the scores of a part of the pool."""
    mean, variance = mixture.moments_of(part.scores)
    probability = tempered(mixture.probability_of(part.scores, w, of=of), slope)
    told = Predictions(probability, mean, np.sqrt(variance))
    return _write(Path(folder) / f"part-{part.first:012d}.parquet", columns["id"], told, metadata)


def score_parts(
    state: State, items: Path, out: Path, *, id_column: str, columns: Sequence[str]
) -> tuple[list[Path], int]:
    """Score the items of a Parquet file, or a folder of such files; returns the files written and how many items."""
    assert isinstance(state.pool, DaskPool)
    files = sorted(items.glob("*.parquet")) if items.is_dir() else [items]
    if not files or any(path.suffix.lower() != ".parquet" for path in files):
        raise SettingError(
            f"{items}: with Dask, new items are a Parquet file or a folder of them, with ids and vectors"
        )
    tasks = [
        _task(path, group) for path in files for group in range(_groups(path, state.classifier, id_column, columns))
    ]
    make_folder(out)
    score = partial(
        _score_group,
        folder=str(out.absolute()),
        classifier=state.classifier,
        id_column=id_column,
        columns=tuple(columns),
        metadata=as_texts(state.provenance),
    )
    found = state.pool.workers.everywhere(score, [(number, *task) for number, task in enumerate(tasks)])
    return _there(out, [name for name, _ in found]), sum(count for _, count in found)


def _task(path: Path, group: int) -> tuple[str, int]:
    return str(path.absolute()), group


def _groups(path: Path, classifier: Classifier, id_column: str, columns: Sequence[str]) -> int:
    """How many row groups a file has; raises DataFileError if the first cannot be scored."""
    first = open_vectors(path, id_column=id_column, columns=columns, row_group=0)
    if first.ids is None:
        raise DataFileError(f"{path}: no column {id_column!r} to name the scores by")
    if first.d != classifier.d:
        raise DataFileError(
            f"{path}: vectors of {first.d} dimensions, but the classifier takes {classifier.d}; use the same embedder"
        )
    return int(open_parquet(path).num_row_groups)


def _score_group(
    task: tuple[int, str, int],
    *,
    folder: str,
    classifier: Classifier,
    id_column: str,
    columns: Sequence[str],
    metadata: Mapping[str, str],
) -> tuple[str, int]:
    """On a worker: score one row group of a file."""
    number, path, group = task
    vectors = open_vectors(Path(path), id_column=id_column, columns=columns, row_group=group)
    X = np.vstack(list(vectors.chunks()))
    usable = np.isfinite(X).all(axis=1)
    if not usable.all():
        row = int(np.argmin(usable)) + 1
        raise DataFileError(f"{path}, row group {group + 1}, row {row}: a number is missing, NaN or infinite")
    target = Path(folder) / f"part-{number:012d}.parquet"
    return _write(target, vectors.ids or (), classifier.apply(X), metadata), len(X)


def _write(target: Path, ids: Sequence[str], told: Predictions, metadata: Mapping[str, str]) -> str:
    with needs("pyarrow", "app"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    names = ("probability", "score", "score_sd")
    arrays = [pa.array(list(ids), pa.string()), *(pa.array(getattr(told, name), pa.float64()) for name in names)]
    table = pa.Table.from_arrays(arrays, names=["id", *names]).replace_schema_metadata(dict(metadata))
    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    write_whole(target, out.getvalue().to_pybytes())
    return target.name


def _there(out: Path, names: Sequence[str]) -> list[Path]:
    """The files; raises an error if one is not here, because the workers may have written it elsewhere."""
    written = [out / name for name in names]
    lacking = next((path for path in written if not path.exists()), None)
    if lacking is not None:
        raise DataFileError(
            f"{lacking}: the Dask workers wrote it, but it is not here; name a folder that all machines share"
        )
    return written
