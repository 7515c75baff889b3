"""A pool on Dask workers: the same questions as on one machine, even if a worker dies; clear errors before the first one."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellmore import Learner, Pool, Question, Start
from tellmore.cluster import connect, matrix, workers
from tellmore.cluster.matrix import Matrix
from tellmore.cluster.pool import DaskPool, DaskScan
from tellmore.core import candidates
from tellmore.core.scan import Part
from tellmore.errors import DataFileError, SettingError, StateError
from tellmore.kinds import perceived
from tellmore.questions import answer_from
from tellmore.types import Answer

distributed = pytest.importorskip("distributed")

N, D = 9_000, 6
KINDS = (("label", 1), ("select_high", 4), ("rank", 4), ("tick", 8))
ROUNDS = {1: 4, 2: 20, 3: 4}
"""How often a cluster of this many workers is asked for each kind."""
IDS = [f"item {row}" for row in range(N)]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("matrix") / "X.npy"
    rng = np.random.default_rng(0)
    np.save(path, (rng.standard_normal((N, D)) * np.arange(1, D + 1) ** -0.5).astype(np.float32))
    return path


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    """Several blocks of a matrix that is not large, and fewer candidates than items."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix, "BLOCK_BYTES", 4_096 * D * 4)
        patch.setattr(candidates, "SEARCHED_WHOLE", 1_000)
        patch.setattr(candidates, "CANDIDATES", 128)
        yield


@pytest.fixture(scope="module")
def blocks(vectors: Path, small: None) -> Matrix:
    return Matrix.of(vectors, IDS)


def learner_on(pool: Pool) -> Learner:
    start = Start.of_items(pool, positive=IDS[:2], negative=IDS[2:4])
    return Learner(pool, seed=3, start=start, bound="centred")


def conversation(learner: Learner, answer: Callable[[Question], Answer], rounds: int) -> list[Question]:
    asked = []
    for _ in range(rounds):
        for kind, size in KINDS:
            asked.append(learner.ask(kind=kind, size=size))
            learner.tell(asked[-1], answer(asked[-1]))
    return asked


@pytest.fixture(scope="module")
def answer(vectors: Path) -> Callable[[Question], Answer]:
    scores = np.load(vectors) @ np.random.default_rng(1).standard_normal(D)

    def told(question: Question) -> Answer:
        rows = [IDS.index(item) for item in question.items]
        return answer_from(question, perceived(scores[rows].astype(float), np.random.default_rng(rows[0])))

    return told


@pytest.fixture(scope="module")
def here(vectors: Path, answer: Callable[[Question], Answer]) -> tuple[dict[int, Learner], list[Question]]:
    """The questions of a learner whose pool is a mapped file, and the learner after this many rounds."""
    learner, asked, after = learner_on(Pool(np.load(vectors, mmap_mode="r"), IDS)), [], {}
    for rounds in range(1, max(ROUNDS.values()) + 1):
        asked += conversation(learner, answer, 1)
        after[rounds] = learner.copy()
    return after, asked


@pytest.fixture
def cluster(request: pytest.FixtureRequest, opened_pools: list[DaskPool]) -> Iterator[Any]:
    """This many workers, in this process."""
    count = getattr(request, "param", 1)
    options: dict[str, Any] = {"n_workers": count, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(processes=False, protocol="tcp://", **options) as made:
        yield made
        for pool in opened_pools:  # while the scheduler is still there
            pool.close()


@pytest.mark.parametrize("cluster", [2], indirect=True)
def test_several_answers_at_once_are_learnt_as_on_one_machine(
    cluster: Any, blocks: Matrix, vectors: Path, answer: Callable[[Question], Answer]
) -> None:
    pool = DaskPool(blocks, IDS, "", cluster.scheduler_address)
    there, local = learner_on(pool), learner_on(Pool(np.load(vectors, mmap_mode="r"), IDS))
    for count in (1, 3, 2):
        asked = local.ask(count, kind="label", quick=True)
        for learner in (there, local):
            learner.scores()
            learner.tell_all([(question, answer(question)) for question in asked])
    for one, other in zip(there.scores(), local.scores(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert there.tally == local.tally


@pytest.mark.parametrize("cluster", [1, 2, 3], indirect=True)
def test_any_number_of_workers_asks_the_same(
    cluster: Any, blocks: Matrix, here: tuple[dict[int, Learner], list[Question]], answer: Callable[[Question], Answer]
) -> None:
    rounds = ROUNDS[len(cluster.workers)]
    expected, questions = here[0][rounds], here[1][: rounds * len(KINDS)]
    pool = DaskPool(blocks, IDS, "", cluster.scheduler_address)
    learner = learner_on(pool)
    assert [asked.items for asked in conversation(learner, answer, rounds)] == [asked.items for asked in questions]
    assert isinstance(learner.scan, DaskScan)
    np.testing.assert_array_equal(learner.scan.mean, expected.scan.mean)
    np.testing.assert_array_equal(learner.scan.variance, expected.scan.variance)
    np.testing.assert_allclose(learner.probabilities(), expected.probabilities(), atol=1e-12)
    assert learner.start_agreement() == expected.start_agreement()
    assert learner.progress.undecided == pytest.approx(expected.progress.undecided)
    together = [question.items for question in learner.ask(2, kind="rank", size=4)]
    assert together == [question.items for question in expected.copy().ask(2, kind="rank", size=4)]
    learner.undo()
    assert learner.history[-1][0].items == questions[-2].items


def test_a_killed_worker_is_replaced_and_nobody_notices_but_the_log(
    blocks: Matrix,
    here: tuple[dict[int, Learner], list[Question]],
    answer: Callable[[Question], Answer],
    caplog: pytest.LogCaptureFixture,
) -> None:
    pool = DaskPool(blocks, IDS, "", connect.LOCAL, workers=2)
    learner = learner_on(pool)
    before = conversation(learner, answer, 1)
    pids = pool.client.run(os.getpid)
    os.kill(pids[pool.workers._place[0]], signal.SIGKILL)
    with caplog.at_level(logging.WARNING, "tellmore.cluster"):
        after = conversation(learner, answer, 2)
    assert [asked.items for asked in before + after] == [asked.items for asked in here[1][: 3 * len(KINDS)]]
    assert "blocks are read by others" in caplog.text


def test_an_answer_sends_its_change_and_a_question_brings_back_candidates(
    cluster: Any, blocks: Matrix, answer: Callable[[Question], Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the size of the pool or of the belief travels after the first question."""
    pool = DaskPool(blocks, IDS, "", cluster.scheduler_address)
    learner, sent = learner_on(pool), []
    conversation(learner, answer, 1)
    submit = pool.client.submit

    def counted(function: Any, errand: Any, **options: Any) -> Any:
        sent.append([len(chain) for chain in errand.chains])
        assert b"Gaussian" not in pickle.dumps(errand)
        return submit(function, errand, **options)

    monkeypatch.setattr(pool.client, "submit", counted)
    question = learner.ask(kind="rank", size=4)
    learner.tell(question, answer(question))
    assert max(length for chains in sent for length in chains) == 2  # what the workers have, and one change


@pytest.mark.parametrize("fault", ["changed", "truncated", "other type", "not a number"])
def test_a_matrix_that_is_not_the_one_recorded_is_refused(
    fault: str, cluster: Any, vectors: Path, blocks: Matrix, tmp_path: Path, one_line: Callable[[BaseException], str]
) -> None:
    X, path = np.load(vectors), tmp_path / "X.npy"
    if fault == "changed":
        X[5_000, 1] += 1e-3
    if fault == "not a number":
        X[5_000, 1] = np.nan
    np.save(path, X.astype(float) if fault == "other type" else X)
    if fault == "truncated":
        os.truncate(path, path.stat().st_size - 8)
    told = Matrix.of(path, IDS) if fault == "not a number" else blocks
    moved = replace(told, path=str(path))
    with pytest.raises(DataFileError) as caught:
        DaskPool(moved, IDS, "", cluster.scheduler_address)
    expected = {
        "changed": "rows 4097 to 8192: another checksum",
        "truncated": "not a readable",
        "other type": "float64 [9000, 6] instead of float32",
        "not a number": "NaN or infinite",
    }
    assert expected[fault] in one_line(caught.value)


def test_too_little_memory_is_said_before_anything_is_read(
    cluster: Any, blocks: Matrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "USABLE", 1e-9)
    with pytest.raises(SettingError, match=r"needs .* GiB with its scores, and 1 Dask workers offer .*--memory-limit"):
        DaskPool(blocks, IDS, "", cluster.scheduler_address)


def test_an_unreachable_scheduler_and_no_scheduler_at_all(blocks: Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "TIMEOUT_S", 0.2)
    with pytest.raises(StateError, match=r"no Dask scheduler responds at tcp://127\.0\.0\.1:9 "):
        DaskPool(blocks, IDS, "", "tcp://127.0.0.1:9")
    with pytest.raises(SettingError, match="tcp://host:port"):
        DaskPool(blocks, IDS, "", "somewhere")


def _fails(part: Part) -> int:
    if part.first == 4_096:
        raise ZeroDivisionError("no")
    return 0


def test_a_part_that_fails_is_named(cluster: Any, blocks: Matrix, one_line: Callable[[BaseException], str]) -> None:
    pool = DaskPool(blocks, IDS, "", cluster.scheduler_address)
    with pytest.raises(StateError) as caught:
        pool.placed(pool.coordinates).visit((), _fails)
    assert "failed at items 4097 to 8192: ZeroDivisionError: no" in one_line(caught.value)


def test_a_cluster_without_workers_is_an_error(blocks: Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LONGEST_WITHOUT_S", 0.1)
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0"
        ) as empty,
        pytest.raises(StateError, match=r"no Dask worker is left at tcp://.*; start some with: dask worker"),
    ):
        DaskPool(blocks, IDS, "", empty.scheduler_address)


def test_checksums_are_kept_beside_the_matrix(blocks: Matrix, tmp_path: Path) -> None:
    record = tmp_path / "embeddings.json"
    blocks.write(record)
    assert Matrix.read(record, Path(blocks.path)) == blocks
    assert "path" not in json.loads(record.read_text())
    record.write_text("{")
    with pytest.raises(DataFileError, match="not a record of checksums"):
        Matrix.read(record, Path(blocks.path))
