from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.labels import LabelWords
from tellmore.data.project import create_project
from tellmore.errors import DataFileError, InputError, SettingError
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event, undo_event
from tellmore.store.importing import AnswerColumns, Collected, append_answers, read_answers
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event, Repository


@pytest.fixture
def pool() -> Pool:
    return Pool(np.eye(5), ids=list("abcde"), text=["ant", "bee", "cat", "dog", "eel"])


def write(path: Path, content: str | list | dict) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_plain_lines(tmp_path: Path, pool: Pool):
    lines = [
        {"kind": "label", "items": ["a"], "answer": {"type": "label", "positive": True}, "participant": "p1"},
        {"kind": "select_low", "items": ["a", "b"], "answer": {"type": "select", "chosen": "b", "positive": False}},
        {
            "kind": "rank",
            "items": ["a", "b", "c"],
            "answer": {"type": "rank", "order": ["c", "a", "b"], "n_positive": 1},
        },
        {"kind": "label", "items": ["d"], "answer": {"type": "skip", "reason": "cant_tell"}},
    ]
    found = read_answers(write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, lines))), pool)
    assert [each.answer for each in found[:3]] == [
        LabelAnswer(True),
        SelectAnswer("b", False),
        RankAnswer(["c", "a", "b"], 1),
    ]
    assert [each.participant for each in found] == ["p1", "import", "import", "import"]


def test_an_exported_log_gives_only_what_counts(tmp_path: Path, pool: Pool):
    repository = Repository(f"sqlite:///{tmp_path}/log.sqlite")
    asked = [Question("label", [item]) for item in "abc"]
    timing = {"onset_ms": 10, "submit_ms": 1510, "latency_ms": 3}
    for question in asked:
        repository.append([question_event(question, "ann")])
        repository.append([answer_event(question.id, "ann", LabelAnswer(question.items[0] != "b"), timing=timing)])
    undone = next(event.seq for event in repository.since() if event.kind == "answer")
    repository.append([undo_event(asked[0].id, "ann", undone)])
    lines = [{"kind": "provenance", "payload": {"seed": 0}}, *(event.as_json() for event in repository.since())]
    repository.close()
    found = read_answers(write(tmp_path / "log.jsonl", "\n".join(map(json.dumps, lines))), pool)
    assert [each.question for each in found] == asked[1:]
    assert [each.answer for each in found] == [LabelAnswer(False), LabelAnswer(True)]
    assert found[0].participant == "ann"
    assert found[0].timing == timing


def test_random_checks_of_an_exported_log_stay_checks(tmp_path: Path, pool: Pool):
    first, second = (create_project(tmp_path / name, pool) for name in ("first", "second"))
    drawn, chosen = Question("label", ["a"]), Question("label", ["b"])
    with closing(Repository(first.database_url)) as repository:
        for question in (drawn, chosen):
            repository.append([question_event(question, "ann", check=question == drawn)])
            repository.append([answer_event(question.id, "ann", LabelAnswer(True))])
        lines = [event.as_json() for event in repository.since()]
    path = write(tmp_path / "log.jsonl", "\n".join(map(json.dumps, lines)))
    assert append_answers(second, read_answers(path, pool)) == 2
    assert append_answers(second, read_answers(path, pool)) == 0
    with closing(Repository(second.database_url)) as repository:
        asked = Ledger(second.settings, repository.since()).asked
    assert {question_id: one.check for question_id, one in asked.items()} == {drawn.id: True, chosen.id: False}


def test_label_studio(tmp_path: Path, pool: Pool):
    def task(data: dict, kind: str, value: dict, **more) -> dict:
        result = {"from_name": "x", "to_name": "y", "id": "r", "type": kind, "value": value}
        return {"id": 1, "data": data, "annotations": [{"id": 2, "result": [result], "completed_by": 7, **more}]}

    tasks = [
        task({"id": "a"}, "choices", {"choices": ["Good"]}, lead_time=4.25),
        task({"text": "bee"}, "choices", {"choices": ["Bad"]}, completed_by={"id": 9, "email": "x@y.z"}),
        task({"id1": "c", "id2": "d"}, "pairwise", {"selected": "right"}),
        task({"text1": "ant", "text2": "eel"}, "pairwise", {"selected": "left"}),
        task({"id": "c"}, "choices", {"choices": ["Good"]}, was_cancelled=True),
        task({"items": []}, "ranker", {"ranker": {"rank": ["b", "e", "a"]}}),
        task({"id": "e"}, "textarea", {"text": ["a remark"]}),
    ]
    found = read_answers(write(tmp_path / "ls.json", tasks), pool, columns=AnswerColumns(words=LabelWords("good")))
    assert [each.question.items for each in found] == [("a",), ("b",), ("c", "d"), ("a", "e"), ("a", "b", "e")]
    assert [each.answer for each in found] == [
        LabelAnswer(True),
        LabelAnswer(False),
        SelectAnswer("d", None),
        SelectAnswer("a", None),
        RankAnswer(["b", "e", "a"], None),
    ]
    assert [each.participant for each in found[:2]] == ["import-7", "import-9"]
    assert found[0].timing == {"onset_ms": 0, "submit_ms": 4250, "device": "api"}
    assert [each.row for each in found] == [1, 2, 3, 4, 6]


def test_pairwise_comparisons(tmp_path: Path, pool: Pool):
    path = write(tmp_path / "p.csv", "winner,loser,participant,positive\nb,a,ann,\nc,a,,yes\nc,a,,yes\n")
    found = read_answers(path, pool)
    assert [each.question.kind for each in found] == ["select_high"] * 3
    assert [each.question.items for each in found] == [("a", "b"), ("a", "c"), ("a", "c")]
    assert [each.answer for each in found] == [
        SelectAnswer("b", None),
        SelectAnswer("c", True),
        SelectAnswer("c", True),
    ]
    assert [each.participant for each in found] == ["import-ann", "import", "import"]
    assert len({each.question.id for each in found}) == 3


def test_rankings_by_place_and_by_rank(tmp_path: Path, pool: Pool):
    by_place = write(tmp_path / "r.csv", "rank2,rank1,rank3,n_positive\na,b,c,2\nd,e,,\n")
    by_rank = write(tmp_path / "m.csv", "a,b,c,d,e\n2,1,3,0,0\n,,,2,1\n")
    orders = [RankAnswer(["b", "a", "c"], 2), RankAnswer(["e", "d"], None)]
    assert [each.answer for each in read_answers(by_place, pool)] == orders
    assert [each.answer.order for each in read_answers(by_rank, pool)] == [each.order for each in orders]
    numbers = Pool(np.eye(3), ids=["1", "2", "3"])
    ranks = write(tmp_path / "n.csv", "1,2,3\n3,1,2\n")
    assert read_answers(ranks, numbers)[0].answer == RankAnswer(["2", "3", "1"], None)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a.jsonl",
            '{"kind": "label", "items": ["z"], "answer": {"type": "label", "positive": true}}',
            "row 1: 'z' is not",
        ),
        ("a.jsonl", '{"kind": "label", "items": ["a"]}', 'row 1: expected {"kind"'),
        (
            "a.jsonl",
            '{"kind": "label", "items": ["a"], "answer": {"type": "rank", "order": [], "n_positive": 0}}',
            "row 1:",
        ),
        (
            "a.jsonl",
            '{"kind": "guess", "items": ["a"], "answer": {"type": "label", "positive": true}}',
            "unknown question",
        ),
        ("a.jsonl", '{"kind": "question", "payload": {}}', "row 1: not an event of a log"),
        ("a.jsonl", '{"kind": "provenance", "payload": {}}', "no answers found"),
        ("a.json", "{}", "expected a JSON list of objects"),
        ("a.json", "[", "not valid JSON"),
        ("a.json", '[{"id": 1, "annotations": []}]', 'row 1: the task has no "data"'),
        ("a.json", '[{"id": 1, "text": "x"}]', "not of a known format; its columns are id, text"),
        ("l.csv", "id,label\na,Tech\n", "row 2: the label 'Tech' is unknown"),
        ("l.csv", "id,label\nz,yes\n", "row 2: 'z' is not"),
        ("p.csv", "winner,loser\na,z\n", "row 2: 'z' is not"),
        ("p.csv", "winner,loser\na,a\n", "row 2: a question shows each item once"),
        ("p.csv", "winner,loser,positive\na,b,perhaps\n", "row 2: the label 'perhaps'"),
        ("r.csv", "rank1,rank2,n_positive\na,b,3\n", "row 2: n_positive must be from 0 to 2"),
        ("r.csv", "rank1,rank2,n_positive\na,b,x\n", "row 2: n_positive must be a whole number"),
        ("r.csv", "rank1,rank2\na,\n", "row 2: a rank question shows at least 2 items"),
        ("m.csv", "a,b\n1,1\n", "row 2: 'a' and 'b' share rank 1"),
        ("m.csv", "a,b\n1,first\n", "row 2: column b: a rank is a whole number"),
        ("a.txt", "x", "unknown kind of file"),
        ("a.csv", "", "the file is empty"),
    ],
)
def test_each_fault_names_file_and_row(tmp_path: Path, pool: Pool, name, content, said, one_line):
    path = write(tmp_path / name, content)
    with pytest.raises(DataFileError) as raised:
        read_answers(path, pool)
    assert one_line(raised.value).startswith(str(path))
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("data", "kind", "value", "said"),
    [
        ({"id": "a"}, "choices", {"choices": ["x", "y"]}, "expected one choice"),
        ({"id": "a"}, "choices", {"choices": ["Good"]}, "with --positive-value"),
        ({"title": "a"}, "choices", {"choices": ["positive"]}, 'it needs "id" or "text"'),
        ({"text": "fly"}, "choices", {"choices": ["positive"]}, "0 items have the text 'fly'"),
        ({"id1": "a", "id2": "b"}, "pairwise", {"selected": "both"}, "selects 'left' or 'right'"),
        ({}, "ranker", {"ranker": {"bucket": ["a"]}}, "expected a ranker"),
    ],
)
def test_faults_of_label_studio(tmp_path: Path, pool: Pool, data, kind, value, said, one_line):
    path = write(tmp_path / "a.json", [{"data": data, "annotations": [{"result": [{"type": kind, "value": value}]}]}])
    with pytest.raises(DataFileError) as raised:
        read_answers(path, pool)
    assert said in one_line(raised.value)
    assert ", row 1: " in str(raised.value)


def test_an_unknown_format(tmp_path: Path, pool: Pool):
    with pytest.raises(SettingError, match="the formats are tellmore, label-studio"):
        read_answers(write(tmp_path / "a.csv", "x\n1\n"), pool, format="excel")


def test_the_same_file_twice_adds_nothing(tmp_path: Path, pool: Pool):
    project = create_project(tmp_path / "p", pool)
    path = write(tmp_path / "p.csv", "winner,loser,positive\nb,a,1\nc,a,0\nc,a,0\n")
    assert append_answers(project, read_answers(path, pool)) == 3
    assert append_answers(project, read_answers(path, pool)) == 0
    path.write_text(path.read_text() + "d,e,1\n")
    assert append_answers(project, read_answers(path, pool)) == 1
    repository = Repository(project.database_url)
    kinds = [event.kind for event in repository.since()]
    repository.close()
    assert kinds == ["question", "answer"] * 4


def test_a_random_sample_keeps_the_labels_that_were_imported_before(tmp_path: Path, pool: Pool):
    project = create_project(tmp_path / "p", pool)
    earlier = write(tmp_path / "earlier.csv", "id,label\na,yes\nb,no\n")
    sample = write(tmp_path / "sample.csv", "id,label\nb,no\nc,yes\n")
    assert append_answers(project, read_answers(earlier, pool)) == 2
    assert append_answers(project, read_answers(sample, pool), random=True) == 2
    for path, random in ((sample, True), (sample, False), (earlier, False)):
        assert append_answers(project, read_answers(path, pool), random=random) == 0
    with closing(Repository(project.database_url)) as repository:
        counting = Ledger(project.settings, repository.since()).counting()
    assert [(asked.question.items, asked.check) for asked, _ in counting] == [
        (("a",), False),
        (("b",), True),
        (("c",), True),
    ]


def test_answers_can_be_imported_again_after_a_reset(tmp_path: Path, pool: Pool):
    project = create_project(tmp_path / "p", pool)
    found = read_answers(write(tmp_path / "a.csv", "id,label\na,positive\nb,negative\n"), pool)
    assert append_answers(project, found) == 2
    assert append_answers(project, found, random=True) == 2
    with closing(Repository(project.database_url)) as repository:
        for random in (False, True, False):
            repository.append([Event("reset", None, "owner", {})])
            for added in (2, 0):
                assert append_answers(project, found, random=random) == added
            ledger = Ledger(project.settings, list(repository.since()))
            assert [given.answer for _, given in ledger.counting()] == [LabelAnswer(True), LabelAnswer(False)]
            assert {asked.check for asked, _ in ledger.counting()} == {random}


def test_label_studio_in_another_encoding_names_the_place(tmp_path: Path, pool: Pool, one_line):
    (tmp_path / "tasks.json").write_bytes(b'[\n{"data": "caf\xe9"}]\n')
    with pytest.raises(DataFileError, match=r"tasks\.json, row 2, byte 14: not UTF-8") as raised:
        read_answers(tmp_path / "tasks.json", pool)
    assert one_line(raised.value)


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        (Question("label", ["unknown"]), LabelAnswer(True), "'unknown' is not"),
        (Question("label", ["a"]), RankAnswer(["a", "b"], 1), "answered by LabelAnswer"),
    ],
)
def test_what_does_not_fit_never_enters_a_log(tmp_path: Path, pool: Pool, question, answer, said):
    project = create_project(tmp_path / "p", pool)
    with pytest.raises(InputError, match=said):
        append_answers(project, [Collected(question, answer, 1)])
    repository = Repository(project.database_url)
    assert list(repository.since()) == []
    repository.close()
