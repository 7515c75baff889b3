"""`tellmore judge`, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.project import open_project
from tellmore.kinds.label import LabelAnswer
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event
from tellmore.store.repository import Repository
from tests.cli.test_project import fails, run

N = 60
INIT = "init p --items items.csv --embeddings emb.npz --attribute calm"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with items.csv and emb.npz; the judge knows the truth but for every tenth item."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"i{n},text {n},{(n % 2) ^ (n % 10 == 0)}\n" for n in range(N))
    (tmp_path / "items.csv").write_text("id,text,llm\n" + rows)
    np.savez(tmp_path / "emb.npz", ids=[f"i{n}" for n in range(N)], X=np.random.default_rng(0).normal(size=(N, 4)))
    return tmp_path


def answer(count: int) -> None:
    log = Repository(open_project("p").database_url)
    for n in range(count):
        question = Question("label", [f"i{n}"])
        given = answer_event(question.id, "somebody", LabelAnswer(n % 2 == 1))
        log.append([question_event(question, "somebody", check=True, why="check"), given])
    log.close()


def test_a_judge_is_checked_by_a_column_that_the_project_keeps(here: Path) -> None:
    run(INIT + " --keep-column llm")
    answer(40)
    said = run("judge p --scores-column llm").output
    assert "llm: probabilities, positive from 0.5 on; 60 of 60 items have a score" in said
    assert "It agrees with people on 90 % (95 % interval: 77 to 96 %; 36 of 40)" in said
    assert "132 more random answers would halve that interval" in said
    assert "too few" not in said
    found = json.loads(run("judge p --scores-column llm --json").output)
    assert found["agreement"]["correct"] == 36
    assert found["share"]["low"] < 0.5 < found["share"]["high"]
    assert {each["item"] for each in found["wrong_most"]} == {"i0", "i10", "i20", "i30"}


def test_a_judge_is_checked_by_a_file_and_few_answers_are_called_few(here: Path) -> None:
    run(INIT)
    answer(4)
    (here / "llm.csv").write_text("id,score\ni1,spam\ni2,ham\ni3,ham\n")
    said = run("judge p --scores-file llm.csv --positive-value spam").output
    assert "3 random answers (1 on items without a score, left out)" in said
    assert "too few to judge by" in said
    assert "check_share" in said
    assert "i3" in said


def test_without_scores_or_answers_one_line_says_what_to_do(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(INIT + " --keep-column llm")
    assert "no random question about a scored item has been answered yet; serve" in fails(
        "judge p --scores-column llm", capsys
    )
    assert "--scores-file FILE" in fails("judge p", capsys)
    assert "no such file" in fails("judge p --scores-file nowhere.csv", capsys)
    assert "no column 'gpt'" in fails("judge p --scores-file items.csv --scores-column gpt", capsys)


def test_a_column_to_keep_must_be_there(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no column 'gpt'; the columns are" in fails(INIT + " --keep-column gpt", capsys)
    run(INIT + " --keep-column llm")
    assert open_project("p").items[1] == {"id": "i1", "text": "text 1", "kept": {"llm": "1"}}


def test_labels_of_a_random_sample_are_checks_and_others_are_not(here: Path) -> None:
    run(INIT + " --keep-column llm")
    lines = [
        json.dumps({"kind": "label", "items": [f"i{n}"], "answer": {"type": "label", "positive": n % 2 == 1}})
        for n in range(40)
    ]
    (here / "chosen.jsonl").write_text("\n".join(lines[:10]))
    (here / "random.jsonl").write_text("\n".join(lines[10:]))
    run("import p chosen.jsonl")
    run("import p random.jsonl --random")
    found = json.loads(run("judge p --scores-column llm --json").output)
    assert (found["checks"], found["agreement"]["correct"]) == (30, 27)
    assert json.loads(run("status p --json").output)["accuracy"] is not None
