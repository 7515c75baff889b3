"""A project whose pool is on Dask workers: the commands give the same results as without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tellmore as tm
from tellmore import cli
from tellmore.cluster import matrix
from tellmore.cluster.held import Errand
from tellmore.cluster.workers import Workers
from tellmore.data.project import open_project, write_settings
from tellmore.errors import DataFileError
from tellmore.export.parts import export_parts
from tellmore.store.state import load_state
from tellmore.stored import StoredColumn

distributed = pytest.importorskip("distributed")

N, D = 9_000, 4


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(processes=False, protocol="tcp://", **options) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of several blocks, with a few labels."""
    X = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)
    labels = [bool(x > 0) if row < 12 else None for row, x in enumerate(X[:, 0])]
    place = tmp_path_factory.mktemp("project") / "p"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix, "BLOCK_BYTES", 4_096 * D * 4)
        tm.Project.create(place, tm.Pool(X, [f"i{row}" for row in range(N)]), labels=labels)
    return place


def run(*command: str) -> str:
    result = CliRunner().invoke(cli.app, list(command))
    if result.exception:
        raise result.exception
    return result.output


def fails(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        cli.main(list(command))
    assert stopped.value.code == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_status_is_the_same(folder: Path, address: str) -> None:
    here, there = (json.loads(run("status", str(folder), "--json", *more)) for more in ((), ("--dask", address)))
    assert here == there


def test_the_workers_write_the_scores_of_the_pool(folder: Path, address: str, tmp_path: Path) -> None:
    run("export", str(folder), "--out", str(tmp_path / "here.parquet"))
    run("export", str(folder), "--out", str(tmp_path / "there.parquet"), "--dask", address)
    here, there = (pq.read_table(tmp_path / name) for name in ("here.parquet", "there.parquet"))
    assert len(list((tmp_path / "there.parquet").iterdir())) == 3
    assert there["id"].to_pylist() == here["id"].to_pylist()
    for column in ("probability", "score", "score_sd"):
        np.testing.assert_allclose(there[column].to_numpy(), here[column].to_numpy(), atol=1e-9)
    part = pq.read_schema(sorted((tmp_path / "there.parquet").iterdir())[0])
    assert part.metadata[b"data_sha256"].decode() == load_state(open_project(folder)).provenance["data_sha256"]


def test_the_workers_score_new_items(
    folder: Path, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X = np.random.default_rng(1).normal(size=(500, D)).astype(np.float32)
    table = pa.table({"id": [f"n{row}" for row in range(500)], "vector": list(X)})
    pq.write_table(table, tmp_path / "new.parquet", row_group_size=200)
    said = run("score", str(folder), str(tmp_path / "new.parquet"), "--out", str(tmp_path / "out"), "--dask", address)
    assert "500 items scored, 3 files" in said
    found = pq.read_table(tmp_path / "out")
    expected = load_state(open_project(folder)).classifier.apply(X)
    assert found["id"].to_pylist() == table["id"].to_pylist()
    np.testing.assert_allclose(found["probability"].to_numpy(), expected.probability, atol=5e-6)
    pq.write_table(pa.table({"id": ["a"], "vector": [[1.0, 2.0]]}), tmp_path / "narrow.parquet")
    command = ("score", str(folder), str(tmp_path / "narrow.parquet"), "--out", str(tmp_path / "no"), "--dask", address)
    assert "vectors of 2 dimensions, but the classifier takes 4" in fails(capsys, *command)
    assert not (tmp_path / "no").exists()


def test_settings_say_that_workers_hold_the_pool(folder: Path, address: str) -> None:
    project = open_project(folder)
    write_settings(folder, project.settings.changed(data={"pool": "dask"}))
    try:
        assert open_project(folder).on_dask
        assert type(open_project(folder, address).pool).__name__ == "DaskPool"
    finally:
        write_settings(folder, project.settings)


def test_a_changed_matrix_or_list_of_items_is_refused_here_and_there(
    folder: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, items = folder / "embeddings.npy", folder / "items.jsonl"
    before, listed = path.read_bytes(), items.read_text()
    try:
        path.write_bytes(before[:-4] + b"\0\0\0\0")
        assert "another checksum" in fails(capsys, "status", str(folder))
        assert "rows 8193 to 9000: another checksum" in fails(capsys, "status", str(folder), "--dask", address)
        path.write_bytes(before[:-4])
        for where in ((), ("--dask", address)):
            assert "not a readable .npy matrix" in fails(capsys, "status", str(folder), *where)
        path.write_bytes(before)
        items.write_text(listed.replace('"i7"', '"other"'))
        assert "another checksum" in fails(capsys, "status", str(folder))
        assert "other ids" in fails(capsys, "status", str(folder), "--dask", address)
    finally:
        path.write_bytes(before)
        items.write_text(listed)


def test_checksums_of_an_older_project_are_made_up_for(folder: Path, address: str) -> None:
    record = folder / "embeddings.json"
    kept = record.read_bytes()
    record.unlink()
    assert len(open_project(folder, address).pool) == N
    assert record.exists()
    record.write_bytes(kept)


def test_wrong_addresses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--dask takes local or the address of a scheduler" in fails(capsys, "serve", str(folder), "--dask", "here")
    with pytest.raises(DataFileError, match="no such file"):
        matrix.mapped(folder / "nothing.npy")


def test_ids_and_texts_are_read_from_the_projects_files_when_needed(
    folder: Path, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The serving machine holds neither, and the workers read the ids that they export themselves."""
    sent: list[Errand] = []
    make = Workers._errand
    monkeypatch.setattr(Workers, "_errand", lambda *given: (sent.append(made := make(*given)), made)[1])
    state = load_state(open_project(folder, address))
    assert isinstance(state.pool.ids, StoredColumn)
    assert state.learner.labels().keys() == {f"i{row}" for row in range(12)}
    question = state.learner.ask()
    assert set(question.items) <= set(state.pool.ids)
    sent.clear()
    export_parts(state, tmp_path / "scores")
    columns = [column for errand in sent for column in errand.columns.values()]
    assert columns
    assert all(isinstance(column["id"], StoredColumn) for column in columns)
