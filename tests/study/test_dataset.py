"""Exported data: files, codebook, reasons for exclusion, and the R script if R is installed."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tellmore.study.analysis import Analysis, analyse
from tellmore.study.dataset import dataset
from tellmore.study.presets import preset
from tellmore.study.settings import Study
from tests.study.made_up import Draw


@dataclass(frozen=True)
class Taken:
    analysis: Analysis
    files: dict[str, bytes]


@pytest.fixture(scope="module")
def taken() -> Taken:
    study = preset("paper", lambda: "CODE")
    made = Draw(study, miss=lambda number, kind: number == 3 and kind == "rank").records(12)
    for row in made.answers:
        row |= {"items": ["a", "b"], "answer": {"type": "skip"}, "marks": 0}
    made.people[0] |= {"consented": False, "outcome": "no_consent"}
    made.people[1] |= {"passed_comprehension": False, "demographics": {"country_of_birth": "=HYPERLINK()"}}
    analysis = analyse(made, study.design.kinds)
    return Taken(analysis, dataset(study, made, analysis))


@pytest.fixture
def files(taken: Taken) -> dict[str, bytes]:
    return taken.files


def read(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[name].decode(), newline="")))


def test_participants_have_age_order_outcome_and_the_reason_of_exclusion(files: dict[str, bytes]) -> None:
    people = read(files, "participants.csv")
    assert people[0]["excluded_rank"] == people[0]["excluded_select_high"] == "no consent"
    assert people[1]["excluded_rank"] == "failed the comprehension check"
    assert (people[3]["excluded_rank"], people[3]["excluded_select_high"]) == ("missed a gold question", "")
    assert int(people[4]["age"]) >= 18
    assert people[4]["order"] == "rank select_high"
    assert people[0]["outcome"] == "no_consent"
    assert people[1]["country_of_birth"] == "'=HYPERLINK()"


def test_answers_have_their_iteration_and_whether_they_are_analysed(files: dict[str, bytes], study: Study) -> None:
    answers = read(files, "answers.csv")
    first = {stage.name: stage.first for stage in study.stages}
    assert all(int(row["iteration"]) >= first[row["stage"]] for row in answers if row["gold"] == "false")
    assert {row["iteration"] for row in answers if row["gold"] == "true"} == {""}
    counted = [row for row in answers if row["analysed"] == "true" and row["kind"] == "rank"]
    assert {row["participant"] for row in counted} == {f"p{n}" for n in (2, *range(4, 12))}


def test_the_codebook_explains_every_column_and_no_other(files: dict[str, bytes]) -> None:
    codebook = read(files, "codebook.csv")
    for name in ("answers.csv", "participants.csv"):
        assert [row["column"] for row in codebook if row["file"] == name] == list(read(files, name)[0])
    assert all(row["meaning"] for row in codebook)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_finds_the_same_numbers(taken: Taken, tmp_path: Path) -> None:
    for name, content in taken.files.items():
        (tmp_path / name).write_bytes(content)
    told = subprocess.run(["Rscript", "analyse.R"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "12 participants, 600 answers, of which 380 are analysed" in told
    slopes = re.findall(r"^size +(.+)$", told, re.MULTILINE)
    for kind, line in zip(("rank", "select_high"), slopes, strict=True):
        fit = taken.analysis.fits[kind].candidates[0]
        wanted = fit.b1, fit.b1_se, fit.b1_se_clustered, fit.b1_low, fit.b1_high
        assert [float(number) for number in line.split()] == pytest.approx(wanted, rel=1e-3)
    ancova = taken.analysis.fits["rank"].ancova
    assert ancova is not None
    assert float(re.findall(r"F = ([\d.e-]+)", told)[0]) == pytest.approx(ancova.f, rel=1e-3)
