"""Serial, processes and Dask give the same rows; finished trials survive a kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tellmore.cluster import connect
from tellmore.errors import SettingError, TellmoreError
from tellmore.sim import distribute
from tellmore.sim.config import Config
from tellmore.sim.distribute import TOLERANCE, Workforce, run_trials
from tellmore.sim.rows import Trial
from tellmore.sim.trials import _SOURCES, Ledger, default_folder, program_fingerprint, writable_folder


def numbers(trial: Trial) -> np.ndarray:
    return np.array([[row.accuracy, row.mse, row.logdet, row.bits, row.seconds] for row in trial.rows])


@pytest.fixture(scope="module")
def tasks(small_pool: str) -> list[tuple[Config, int]]:
    return [(Config(pool=small_pool, answers=4, size=3), seed) for seed in (0, 1)]


def test_processes_give_the_rows_of_the_serial_run(tasks: list[tuple[Config, int]]) -> None:
    serial = run_trials(tasks, workforce=Workforce(1))
    apart = run_trials(tasks, workforce=Workforce(2))
    assert list(serial) == list(apart) == tasks
    for task in tasks:
        np.testing.assert_allclose(numbers(apart[task]), numbers(serial[task]), rtol=TOLERANCE)


@pytest.mark.slow
def test_dask_gives_the_rows_of_the_serial_run(tasks: list[tuple[Config, int]]) -> None:
    pytest.importorskip("distributed")
    serial = run_trials(tasks, workforce=Workforce(1))
    there = run_trials(tasks, workforce=Workforce(2, dask="local"))
    for task in tasks:
        np.testing.assert_allclose(numbers(there[task]), numbers(serial[task]), rtol=TOLERANCE)


def test_a_killed_run_loses_at_most_the_trial_under_way(
    tasks: list[tuple[Config, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path)
    real, run = distribute.trial, []

    def dies_at_the_second(config: Config, seed: int) -> Trial:
        if seed == 1:
            raise KeyboardInterrupt
        run.append(seed)
        return real(config, seed)

    monkeypatch.setattr(distribute, "trial", dies_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        run_trials(tasks, workforce=Workforce(1), ledger=ledger)
    monkeypatch.setattr(distribute, "trial", lambda config, seed: (run.append(seed), real(config, seed))[1])
    reported: list[int] = []
    done = run_trials(tasks, workforce=Workforce(1), ledger=ledger, report=lambda _, trial: reported.append(trial.seed))
    assert run == [0, 1]
    assert sorted(reported) == [0, 1]
    assert done[tasks[0]] == real(*tasks[0])


def test_half_written_trials_are_run_again(tasks: list[tuple[Config, int]], tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    first = run_trials(tasks[:1], workforce=Workforce(1), ledger=ledger)
    path = ledger.path(*tasks[0])
    path.write_text(path.read_text()[:50])
    assert run_trials(tasks[:1], workforce=Workforce(1), ledger=ledger) == first
    assert json.loads(path.read_text())["seed"] == 0


def test_another_setting_or_another_pool_is_another_trial(small_pool: str, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    config = Config(pool=small_pool)
    assert ledger.path(config, 0) != ledger.path(config, 1)
    assert ledger.path(config, 0) != ledger.path(Config(pool=small_pool, size=3), 0)
    assert ledger.path(config, 0) != ledger.path(Config(pool="words"), 0)


def test_the_program_is_part_of_the_name_but_its_comments_are_not(tmp_path: Path) -> None:
    from tellmore.sim.trials import _code_of

    texts = [
        'def f():\n    """Say."""\n    return 1\n',
        "def f():\n    # why\n    return 1\n",
        "def f():\n    return 2\n",
    ]
    files = []
    for number, text in enumerate(texts):
        files.append(tmp_path / f"{number}.py")
        files[-1].write_text(text)
    said, commented, changed = (_code_of(file) for file in files)
    assert said == commented != changed
    assert len(program_fingerprint()) == 64


def test_every_source_that_a_stored_trial_depends_on_is_there(repository: Path) -> None:
    assert [source for source in _SOURCES if not (repository / "src" / "tellmore" / source).exists()] == []


NOT_OF_ROWS = (
    "answer_probability.py", "data", "display.py", "encoding.py", "errors.py", "files.py", "ratings.py", "saved.py",
    "sim/config.py", "sim/peers.py", "sim/pools.py", "sim/trials.py", "stored.py", "summary.py", "tabular.py", "threads.py",
    "version.py", "views.py", "warnings.py",
)  # fmt: skip
"""What a trial imports without its rows depending on it, or what is in its name in another way: settings, pools, peers."""


def test_every_source_that_a_trial_imports_is_part_of_its_name(repository: Path) -> None:
    root = repository / "src" / "tellmore"
    script = (
        "import sys, tellmore.sim.experiment; print(*(m.__file__ for n, m in sys.modules.items() if 'tellmore.' in n))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    imported = [Path(file).relative_to(root) for file in found if Path(file).name != "__init__.py"]
    known = {root / source for source in (*_SOURCES, *NOT_OF_ROWS)}
    assert len(imported) > len(known)
    assert [file for file in imported if not known & {root / file, *(root / file).parents}] == []


def test_workers_compute_with_one_thread_and_the_environment_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with distribute.one_thread_each():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_an_unreachable_cluster_is_one_line(tasks: list[tuple[Config, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(connect, "TIMEOUT_S", 0.3)
    with pytest.raises(TellmoreError, match=r"no Dask scheduler responds at tcp://127\.0\.0\.1:9") as caught:
        run_trials(tasks, workforce=Workforce(dask="tcp://127.0.0.1:9"))
    assert "\n" not in str(caught.value)


def test_wrong_workforces_are_refused() -> None:
    with pytest.raises(SettingError, match="tcp://host:port"):
        Workforce(dask="somewhere")
    with pytest.raises(SettingError, match="0 \\(all cores\\)"):
        Workforce(-1)


def test_an_unwritable_folder_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(SettingError, match="cannot write into"):
        writable_folder(file / "below")


def test_the_default_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default_folder() == Path("/somewhere/tellmore/trials")
