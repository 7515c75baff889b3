from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, replace

import numpy as np
import onnx
import pyarrow.parquet as pq
import pytest

from tellmore.errors import SettingError
from tellmore.export import FORMATS, render, write_export
from tellmore.export.tables import csv_bytes, harmless
from tellmore.store.events import leave_out_event
from tellmore.store.repository import Event
from tellmore.store.state import load_state, state_of


@pytest.fixture
def state(project):
    return load_state(project)


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_scores_of_every_item(state):
    table = rows(render(state, "csv"))
    assert [row["id"].removeprefix("'") for row in table] == list(state.pool.ids)
    assert np.allclose([float(row["probability"]) for row in table], state.learner.probabilities())
    mean, variance = state.learner.scores()
    assert np.allclose([float(row["score"]) for row in table], mean)
    assert np.allclose([float(row["score_sd"]) for row in table], np.sqrt(variance))
    assert {row["data_sha256"] for row in table} == {state.pool.fingerprint}
    assert {row["seed"] for row in table} == {"5"}


def test_formulas_are_made_harmless_and_numbers_stay_numbers(state):
    table = rows(render(state, "csv"))
    assert table[0]["text"] == "'=HYPERLINK(1)"
    assert table[2]["text"] == "'-minus, and a comma"
    assert table[3]["id"] == "'@id3"
    assert any(row["score"].startswith("-") for row in table)
    out = csv_bytes(["a"], [{"a": start + "cmd"} for start in "=+-@\t\r\n"]).decode()
    assert [row["a"][:1] for row in csv.DictReader(io.StringIO(out, newline=""))] == ["'"] * 7


@pytest.mark.parametrize(
    "start", [" =", "\u00a0=", "\uff1d", "\u3000+", "\u200b@", "\ufeff-", "\u2212", " \u00a0\uff20"]
)
def test_formulas_behind_blanks_and_in_full_width_are_made_harmless(start: str) -> None:
    assert harmless(start + "cmd") == f"'{start}cmd"


@pytest.mark.parametrize("text", ["", " ", "a=b", " plain", "1-2", "\u00e9t\u00e9"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert harmless(text) == text


def test_the_tidy_log(state):
    content = render(state, "csv", table="answers")
    table = rows(content)
    wanted = "participant,name,question_id,kind,items,answer,rt_ms,latency_ms,t_utc,version,seed"
    assert content.decode().startswith(wanted)
    assert len(table) == 13
    assert table[0]["participant"] == "ann"
    assert json.loads(table[0]["items"]) == ["id0"]
    assert json.loads(table[0]["answer"])["type"] == "label"
    assert (table[0]["rt_ms"], table[0]["latency_ms"], table[0]["seed"]) == ("3000", "12", "5")
    assert [row["void"] for row in table[-3:]] == ["", "", "undo"]
    assert json.loads(table[-2]["answer"]) == {"type": "skip", "reason": "cant_tell"}


def test_answers_have_the_name_and_say_whose_are_left_out(project, state):
    named = Event("participant", None, "ann", {"name": "Ann, a doctor", "role": "annotator"}, seq=10_000)
    out = replace(leave_out_event("owner", "ann", True), seq=10_001)
    table = rows(render(state_of(project, [*state.events, named, out]), "csv", table="answers"))
    assert {row["name"] for row in table} == {"Ann, a doctor"}
    assert [row["void"] for row in table[-3:]] == ["left out", "left out", "undo"]


def test_deleted_answers_are_not_exported(project, state):
    deleted = Event("delete", None, None, {"participant": "ann"}, seq=10_000)
    after = state_of(project, [*state.events, deleted])
    assert rows(render(after, "csv", table="answers")) == []


@pytest.mark.parametrize("table", ["scores", "answers"])
def test_parquet_holds_the_same_and_its_origin(state, table):
    read = pq.read_table(io.BytesIO(render(state, "parquet", table=table)))
    as_csv = rows(render(state, "csv", table=table))
    assert read.num_rows == len(as_csv)
    assert read.column_names == list(as_csv[0])
    assert read.schema.metadata[b"data_sha256"].decode() == state.pool.fingerprint
    assert json.loads(read.schema.metadata[b"config"])["learning"]["seed"] == 5


def test_the_belief_as_arrays_and_as_json(state):
    with np.load(io.BytesIO(render(state, "npz")), allow_pickle=False) as arrays:
        np.testing.assert_allclose(arrays["mean"], state.learner.posterior.mean, rtol=1e-12)
        np.testing.assert_allclose(arrays["cov"], state.learner.posterior.cov, rtol=1e-10, atol=1e-14)
        assert bool(arrays["normalised"])
        assert json.loads(str(arrays["provenance"])) == json.loads(json.dumps(state.provenance))
    plain = json.loads(render(state, "json"))
    with np.load(io.BytesIO(render(state, "npz")), allow_pickle=False) as arrays:
        assert [plain["intercept"], *plain["coefficients"]] == arrays["mean"].tolist()
        assert plain["covariance"] == arrays["cov"].tolist()
    assert plain["provenance"]["data_sha256"] == state.pool.fingerprint


def test_every_classifier_says_how_good_it_is(state, tmp_path):
    quality = state.learner.quality()
    assert quality is not None
    told = json.loads(json.dumps(asdict(quality)))
    assert told["precision"]["low"] < told["precision"]["estimate"] <= told["precision"]["high"]
    assert told["f1"]["low"] < told["f1"]["high"]
    assert json.loads(render(state, "json"))["provenance"]["quality"] == told
    with np.load(io.BytesIO(render(state, "npz")), allow_pickle=False) as arrays:
        assert json.loads(str(arrays["provenance"]))["quality"] == told
    model = onnx.load_from_string(render(state, "onnx"))
    assert json.loads(next(prop.value for prop in model.metadata_props if prop.key == "quality")) == told
    _, beside = write_export(state, "csv", tmp_path / "s.csv")
    assert json.loads(beside.read_text())["quality"] == told


def test_the_log_can_be_folded_again(project, state):
    lines = [json.loads(line) for line in render(state, "jsonl").decode().splitlines()]
    assert lines[0]["kind"] == "provenance"
    assert lines[0]["payload"]["seed"] == 5
    again = state_of(project, [Event(**line) for line in lines[1:]])
    assert np.array_equal(again.learner.posterior.mean, state.learner.posterior.mean)


def test_no_password_leaves_with_any_format(project, state):
    secret = replace(state)
    ledger = secret.ledger
    ledger.settings = ledger.settings.changed(server={"database": "postgresql://me:hunter2@db/answers"})
    for format in FORMATS:
        for table in ("scores", "answers"):
            assert b"hunter2" not in render(secret, format, table=table)
    assert "***@db" in json.dumps(secret.provenance)


def test_a_csv_has_its_origin_beside_it(state, tmp_path):
    written = write_export(state, "csv", tmp_path / "s.csv")
    assert [path.name for path in written] == ["s.csv", "s.csv.provenance.json"]
    assert json.loads(written[1].read_text())["data_sha256"] == state.pool.fingerprint
    assert write_export(state, "json", tmp_path / "b.json") == [tmp_path / "b.json"]


def test_a_file_that_cannot_be_written_is_one_line(state, tmp_path):
    with pytest.raises(ValueError, match=r"gone/s\.csv: cannot be written: No such file"):
        write_export(state, "csv", tmp_path / "gone" / "s.csv")


def test_unknown_formats(state):
    with pytest.raises(SettingError, match="the formats are onnx, sklearn"):
        render(state, "excel")
    with pytest.raises(SettingError, match="the tables are scores, answers"):
        render(state, "csv", table="everything")
