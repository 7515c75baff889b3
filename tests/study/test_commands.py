"""The commands rates and study, as a person uses them at a terminal."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tellmore.cli import app
from tellmore.data.checked import toml_text
from tellmore.data.project import Settings, create_project, open_project
from tellmore.errors import DataFileError, InputError, QuestionError, SettingError, StateError
from tellmore.pool import Pool
from tellmore.ratings import Scores
from tellmore.store.repository import Repository
from tellmore.study.bank import write_bank
from tellmore.study.design import BankQuestion
from tellmore.study.entry import Arrival
from tellmore.study.session import StudySession
from tellmore.study.settings import Study, read_study
from tests.study.test_session import go, varied_timing


@pytest.fixture
def pool() -> Pool:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 16)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    ids = [f"w{i}" for i in range(60)]
    return Pool(X, ids=ids, text=[f"word {i}" for i in range(60)], scores=Scores(X[:, 0], np.full(60, 0.1)))


@pytest.fixture
def npz(pool: Pool, tmp_path: Path) -> Path:
    path = tmp_path / "pool.npz"
    assert pool.scores is not None
    np.savez(
        path,
        ids=np.array(pool.ids),
        X=pool.X,
        text=np.array(pool.text),
        mean=pool.scores.mean,
        sd=pool.scores.sd,
        threshold=0.0,
    )
    return path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_rates_of_a_pool_as_json(npz: Path, tmp_path: Path) -> None:
    picture = tmp_path / "rates.svg"
    rows = json.loads(run("rates", "--pool", npz, "--repeats", 1, "--json", "--plot", picture))["rows"]
    assert len(rows) == 30
    assert set(rows[0]) == {"kind", "size", "bits", "bits_se", "seconds", "bits_per_second", "best"}
    assert sum(row["best"] for row in rows) == 1
    assert picture.read_text().startswith("<?xml")


def test_rates_of_named_kinds_only(npz: Path) -> None:
    arguments = ["--kind", "label", "--kind", "most_sure"]
    rows = json.loads(run("rates", "--pool", npz, "--repeats", 1, "--json", *arguments))["rows"]
    assert {row["kind"] for row in rows} == {"label", "most_sure"}
    with pytest.raises(QuestionError, match="unknown question kind 'most_unsure'"):
        run("rates", "--pool", npz, "--kind", "most_unsure")


def test_rates_of_a_project_use_its_own_times(pool: Pool, tmp_path: Path) -> None:
    create_project(tmp_path / "project", pool, Settings())
    text = run("rates", tmp_path / "project", "--repeats", 1)
    assert "bits per second" in text
    assert text.count("best") == 1


def test_rates_want_exactly_one_source(npz: Path, tmp_path: Path) -> None:
    for arguments in (["rates"], ["rates", str(tmp_path), "--pool", str(npz)]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 2
        assert "either" in result.output


@pytest.mark.parametrize("name", ["rates.doc", "nowhere/rates.png"])
def test_a_plot_that_cannot_be_written_is_named(npz: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingError, match="--plot"):
        run("rates", "--pool", npz, "--repeats", 1, "--plot", tmp_path / name)


def short(study: Study) -> Study:
    stages = [stage.model_copy(update={"first": n, "last": n}) for n, stage in enumerate(study.stages, start=1)]
    design = study.design.model_copy(update={"sizes": (2, 3)})
    return study.model_copy(update={"stages": tuple(stages), "design": design})


def test_init_draws_questions_from_a_learning_run(npz: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tellmore.study.presets as presets

    paper = presets.preset
    monkeypatch.setattr(presets, "preset", lambda name, code, seed: short(paper(name, code, seed=seed)))
    folder = tmp_path / "study"
    assert "12 questions drawn" in run("study", "init", folder, "--pool", npz)
    study = read_study(folder / "study.toml")
    codes = {study.completion.complete, study.completion.no_consent, study.completion.failed_comprehension}
    assert len(codes) == 3
    with pytest.raises(SettingError, match="already exists"):
        run("study", "init", folder)
    before = (folder / "study_questions.jsonl").read_text()
    run("study", "init", folder, "--redraw", "--seed", 7)
    assert (folder / "study_questions.jsonl").read_text() != before
    assert read_study(folder / "study.toml") == study
    with pytest.raises(SettingError, match="does not exist yet"):
        run("study", "init", tmp_path / "none", "--redraw")


@pytest.fixture
def collected(pool: Pool, study: Study, bank: list[BankQuestion], tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    project = create_project(folder, pool, Settings())
    write_bank(folder / "study_questions.jsonl", bank)
    (folder / "study.toml").write_text(toml_text(study), encoding="utf-8")
    log = Repository(project.database_url)
    study_session = StudySession(log, study, bank, project.pool)
    for number in range(3):
        go(study_session, study_session.enter(Arrival(f"PID{number}")), timing=varied_timing)
    log.close()
    return folder


def test_analyse_writes_the_report_and_the_answers(collected: Path, tmp_path: Path) -> None:
    out, data = tmp_path / "r.html", tmp_path / "data"
    told = json.loads(run("study", "analyse", collected, "--out", out, "--data", data, "--json"))
    assert told["simulated"] is False
    assert told["counts_by_size"][0]["rank"] > 0
    assert "Exclusions" in out.read_text()
    assert len((data / "answers.csv").read_text().splitlines()) == 151
    assert len((data / "participants.csv").read_text().splitlines()) == 4
    assert {path.name for path in data.iterdir()} == {"answers.csv", "participants.csv", "codebook.csv", "analyse.R"}
    text = run("study", "analyse", collected)
    assert "answered all gold questions correctly" in text
    assert (collected / "study_report.html").exists()


def test_a_participant_is_forgotten_by_either_name(collected: Path) -> None:
    assert "participant-00002 is deleted" in run("study", "forget", collected, "PID1")
    database = collected / "tellmore.sqlite"
    assert b"PID1" not in database.read_bytes()
    told = json.loads(run("study", "analyse", collected, "--json"))
    assert told["exclusions"][0]["participants"] == 2
    run("study", "forget", collected, "participant-00001")
    for gone in ("PID1", "participant-00001", "PID9"):
        with pytest.raises(InputError, match="nobody took part"):
            run("study", "forget", collected, gone)


def test_nobody_is_forgotten_behind_a_servers_back(collected: Path) -> None:
    serving = Repository(open_project(collected).database_url)
    serving.claim()
    with pytest.raises(StateError):
        run("study", "forget", collected, "PID1")
    serving.close()


def test_a_preregistration_names_the_study_that_people_see(collected: Path, study: Study) -> None:
    run("study", "register", collected)
    text = (collected / "preregistration.md").read_text()
    assert study.fingerprint in text
    assert hashlib.sha256((collected / "study_questions.jsonl").read_bytes()).hexdigest() in text
    assert "Screener: Approval rate: at least 95 %" in text
    data = collected / "data"
    run("study", "analyse", collected, "--data", data)
    people = list(csv.DictReader(io.StringIO((data / "participants.csv").read_text())))
    assert {person["fingerprint"] for person in people} == {study.fingerprint}


def test_analyse_names_a_file_it_cannot_write(collected: Path, tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="cannot be written"):
        run("study", "analyse", collected, "--out", tmp_path / "none" / "r.html")


def test_a_study_file_edited_by_hand_is_named(collected: Path) -> None:
    path = collected / "study.toml"
    path.write_text(path.read_text().replace("questions_per_kind = 20", "questions_per_kind = -1"))
    for command in ("analyse", "serve", "simulate"):
        with pytest.raises(SettingError, match=r"line 9: design\.questions_per_kind"):
            run("study", command, collected)


def test_the_participants_address_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    from tellmore.cli.study import _say_participants_address

    _say_participants_address("Open http://127.0.0.1:8000/?token=tm_x")
    printed = capsys.readouterr().out
    assert "http://127.0.0.1:8000/study?participant=THEIR-ID" in printed
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in printed
