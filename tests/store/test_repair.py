"""Damaged projects: everything wrong is named, and repaired without losing anything else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tellmore import cli
from tellmore.app.server import open_session
from tellmore.data.project import Project, create_project, open_project
from tellmore.errors import DataFileError, SettingError, StateError, StoreError
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.beforehand import beforehand_of
from tellmore.store.events import answer_event, question_event, setting_event
from tellmore.store.repair import diagnose, mend
from tellmore.store.repository import Event, Repository
from tellmore.store.state import load_state


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Ten items with labels of the first four."""
    X = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    made = create_project(tmp_path / "p", Pool(X, ids=[f"i{row}" for row in range(10)]))
    append(made, *(each for row in range(4) for each in answered(Question("label", [f"i{row}"]), LabelAnswer(row < 2))))
    return made


def answered(question: Question, answer) -> list[Event]:
    return [question_event(question, "ann"), answer_event(question.id, "ann", answer)]


def append(project: Project, *events: Event) -> None:
    repository = Repository(project.database_url)
    repository.append(events)
    repository.close()


def test_a_whole_project_has_no_damage(project: Project):
    assert diagnose(project.folder).damages == ()


def test_whoever_opens_a_damaged_project_reads_what_to_run(project: Project):
    append(project, *answered(Question("label", ["unknown"]), LabelAnswer(True)))
    with pytest.raises(StoreError, match=r"log /.*\.sqlite is damaged: 'unknown' is not an item .*: tellmore repair /"):
        load_state(project)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"start": {"like": ["i1"], "unlike": ["i1"]}}, "'i1' is named both as like and as unlike; choose one"),
        ({"start": {"like": ["warm"]}}, "no item has the id or the text 'warm', and it cannot be used as a word: .*"),
        ({"start": {"scores_column": "llm"}}, "column llm: no item has a score in it; .*"),
    ],
)
def test_settings_that_do_not_fit_are_no_damage_of_the_log(project: Project, settings: dict[str, Any], said: str):
    append(project, *answered(Question("label", ["i5"]), LabelAnswer(True)))
    changed = replace(project, settings=project.settings.changed(**settings))
    for opening in (load_state, lambda each: open_session(each, beforehand=beforehand_of(each))):
        with pytest.raises(SettingError, match=f"^/.*, settings: {said}$"):
            opening(changed)


def test_serving_a_damaged_project_is_one_line(project: Project, capsys: pytest.CaptureFixture[str]):
    append(project, *answered(Question("label", ["unknown"]), LabelAnswer(True)))
    with pytest.raises(SystemExit, match="1"):
        cli.main(["serve", str(project.folder), "--port", "0", "--no-browser"])
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{project.folder / 'tellmore.sqlite'} is damaged: 'unknown' is not an item" in line
    assert line.endswith(f"tellmore repair {project.folder}")


def test_events_that_do_not_fit_go_and_the_others_stay(project: Project):
    append(
        project,
        *answered(Question("label", ["unknown"]), LabelAnswer(True)),
        *answered(Question("label", ["i5"]), RankAnswer(["i5", "i6"], 1)),
        answer_event("no such question", "ann", LabelAnswer(True)),
        Event("question", "q", "ann", {"kind": "guess", "items": ["i1"]}),
        setting_event("ann", {"learning": {"target_accuracy": 7}}),
        *answered(Question("label", ["i7"]), LabelAnswer(True)),
    )
    with pytest.raises(StoreError, match="tellmore repair"):
        load_state(project)
    found = diagnose(project.folder)
    said = "\n".join(damage.what for damage in found.damages)
    for part in ("'unknown' is not in the project", "its question was faulty", "answered by LabelAnswer", "'guess'"):
        assert part in said
    assert len(found.damages) == 6
    backup = mend(project.folder, found)
    assert diagnose(project.folder).damages == ()
    assert len(load_state(project).effects) == 5
    assert len((backup / "log.jsonl").read_text().splitlines()) == 17


def test_a_matrix_cut_short_keeps_what_is_whole(project: Project):
    path = project.folder / "embeddings.npy"
    X = np.load(path)
    path.write_bytes(path.read_bytes()[: -5 * 12 + 4])
    append(project, *answered(Question("label", ["i8"]), LabelAnswer(True)))
    found = diagnose(project.folder)
    assert found.damages[0].what == "embeddings.npy is cut short: 5 of 10 rows are complete"
    backup = mend(project.folder, found)
    mended = open_project(project.folder)
    assert mended.pool.ids == tuple(f"i{row}" for row in range(5))
    assert np.array_equal(mended.pool.X, X[:5])
    assert mended.settings.data.n == 5
    assert len(load_state(mended).effects) == 4
    assert (backup / "items.jsonl").read_text().count("\n") == 10


def test_an_unreadable_item_goes_with_its_vector(project: Project):
    path = project.folder / "items.jsonl"
    lines = path.read_text().splitlines()
    lines[6] = '{"id": '
    path.write_text("\n".join(lines))
    X = np.load(project.folder / "embeddings.npy")
    mend(project.folder, diagnose(project.folder))
    mended = open_project(project.folder)
    assert "i6" not in mended.pool.ids
    assert np.array_equal(mended.pool.X, np.delete(X, 6, axis=0))


def test_a_damaged_snapshot_is_deleted(project: Project):
    repository = Repository(project.database_url)
    repository.save_snapshot(8, "v", b"damaged")
    repository.close()
    found = diagnose(project.folder)
    assert "snapshot after event 8" in found.damages[0].what
    mend(project.folder, found)
    assert diagnose(project.folder).damages == ()


def test_what_cannot_be_mended_and_a_running_server(project: Project):
    append(project, answer_event("gone", "ann", LabelAnswer(True)))
    found = diagnose(project.folder)
    serving = Repository(project.database_url)
    serving.claim()
    with pytest.raises(StateError, match="served already"):
        mend(project.folder, found)
    serving.close()
    (project.folder / "embeddings.npy").write_bytes(b"nothing")
    lost = diagnose(project.folder)
    assert not lost.mendable
    with pytest.raises(DataFileError, match="create the project again"):
        mend(project.folder, lost)


def test_a_database_that_is_none_is_named(project: Project):
    (project.folder / "tellmore.sqlite").write_bytes(b"no database" * 1000)
    found = diagnose(project.folder)
    assert found.damages[-1].what.startswith("log: ")
    assert not found.mendable


def test_the_command_proposes_then_mends(project: Project):
    def run(*more: str) -> tuple[int, str]:
        result = CliRunner().invoke(cli.app, ["repair", str(project.folder), *more])
        return result.exit_code, result.output

    assert run() == (0, "nothing is wrong: settings, items, vectors, log and snapshots fit together\n")
    append(project, answer_event("gone", "ann", LabelAnswer(True)))
    code, said = run()
    assert code == 1
    assert "Nothing was changed" in said
    code, said = run("--yes", "--json")
    assert code == 0
    assert Path(json.loads(said)["backup"]).is_dir()
    assert run("--json")[0] == 0
