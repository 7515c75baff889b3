"""Round trips through the packages of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.items import Columns, read_items
from tellmore.data.labels import LabelWords
from tellmore.data.reading import Reading
from tellmore.export import render, write_export
from tellmore.export.tools import label_config
from tellmore.questions import labels_in
from tellmore.store.importing import AnswerColumns, read_answers
from tellmore.store.state import State

pytestmark = pytest.mark.integrations

OWN = AnswerColumns(words=LabelWords(own=("kind", "not kind")))
GIVEN = {"i0": True, "i1": False, "i2": False, "i3": True, "i4": False}


def imported(path: Path, state: State) -> dict[str, bool]:
    found = read_answers(path, state.pool, columns=OWN)
    return {item: label for each in found for item, label in labels_in(each.question, each.answer).items()}


def new_vectors() -> np.ndarray:
    return 3 * np.random.default_rng(1).normal(size=(7, 5)).astype(np.float32)


def test_argilla_takes_the_records_and_gives_them_back(state: State, tmp_path: Path):
    import argilla as rg

    records = [rg.Record.from_dict(each) for each in json.loads(render(state, "argilla"))]
    assert len(records) == 12
    back = [record.to_dict() for record in records]
    (tmp_path / "argilla.json").write_text(json.dumps(back, default=str))
    assert imported(tmp_path / "argilla.json", state) == GIVEN


def test_label_studio_takes_the_interface_and_the_tasks(state: State, tmp_path: Path):
    from label_studio_sdk.label_interface import LabelInterface

    interface = LabelInterface(label_config(state))
    interface.validate()
    tasks = json.loads(render(state, "label-studio"))
    for task in tasks:
        assert interface.validate_task({"data": task["data"]})
        assert all(interface.validate_prediction(each) for each in task["predictions"])
        assert all(interface.validate_annotation(each) for each in task["annotations"])
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    assert imported(tmp_path / "tasks.json", state) == GIVEN


def test_mlflow_loads_the_folder(state: State, tmp_path: Path):
    import mlflow

    write_export(state, "mlflow", tmp_path / "model")
    model = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    told = model.predict(new_vectors())
    expected = state.classifier.apply(new_vectors())
    assert np.allclose(np.ravel(told["probability"]), expected.probability, atol=1e-5)
    assert np.allclose(np.ravel(told["score_sd"]), expected.score_sd, atol=1e-5)
    assert model.metadata.signature.inputs.input_names() == ["embedding"]


def test_duckdb_scores_a_table(state: State):
    import duckdb

    connection = duckdb.connect()
    connection.execute(render(state, "sql").decode())
    connection.execute("CREATE TABLE items (id INTEGER, embedding FLOAT[])")
    rows = [(row, vector.tolist()) for row, vector in enumerate(new_vectors())] + [(99, [0.0] * 5)]
    connection.executemany("INSERT INTO items VALUES (?, ?)", rows)
    query = "SELECT tellmore_score(embedding), tellmore_probability(embedding) FROM items ORDER BY id"
    told = np.array(connection.execute(query).fetchall())
    expected = state.classifier.apply(np.vstack([new_vectors(), np.zeros((1, 5))])).score
    assert np.allclose(told[:, 0], expected, atol=1e-6)
    assert np.allclose(told[:, 1], 1 / (1 + np.exp(-state.classifier.w * expected)), atol=1e-6)


def test_datasets_saved_and_by_name(tmp_path: Path):
    import datasets

    features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["neg", "pos"])})
    data = datasets.Dataset.from_dict({"text": ["a", "b", "c"], "label": [1, 0, -1]}, features=features)
    data.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": data, "test": data.select([0])}).save_to_disk(tmp_path / "two")
    reading = Reading()
    table = read_items(tmp_path / "one", Columns(), reading)
    assert table.ids == ("0", "1", "2")
    assert table.labels == ("positive", "negative", None)
    assert "ids are the numbers of the rows" in reading.notes[0]
    assert len(read_items(Path(f"hf:{tmp_path / 'two'}:test"))) == 1
    with pytest.raises(ValueError, match="the parts are train, test"):
        read_items(tmp_path / "two")
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "train.csv").write_text("id,text\nx,one\ny,two\n")
    assert read_items(Path(f"hf:{folder}:train")).ids == ("x", "y")
