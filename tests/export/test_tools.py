"""Files and folders for other tools, as far as they can be checked without those tools."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from tellmore.data.labels import LabelWords, own_words
from tellmore.errors import SettingError
from tellmore.export import download, render, write_export
from tellmore.export.tools import given_labels
from tellmore.questions import labels_in
from tellmore.store.importing import AnswerColumns, read_answers
from tellmore.store.state import State, load_state


@pytest.fixture
def state(project) -> State:
    return load_state(project)


@pytest.mark.parametrize("format", ["label-studio", "argilla"])
def test_every_label_comes_back(state: State, tmp_path: Path, format):
    path = tmp_path / "out.json"
    write_export(state, format, path)
    words = LabelWords(own=own_words(state.ledger.settings))
    found = read_answers(path, state.pool, format=format, columns=AnswerColumns(words=words))
    labels = {item: label for each in found for item, label in labels_in(each.question, each.answer).items()}
    assert labels == {item: told[-1][1] for item, told in given_labels(state).items()}
    assert len(labels) > 8
    assert len(json.loads(path.read_bytes())) == len(state.pool)


def test_the_code_of_a_model_card_runs(state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from huggingface_hub import ModelCard

    written = write_export(state, "hub", tmp_path / "model")
    assert {path.name for path in written} == {"README.md", "provenance.json", "model.onnx"}
    card = ModelCard.load(tmp_path / "model" / "README.md")
    assert card.data.library_name == "onnx"
    assert "accuracy, on " in card.text
    monkeypatch.chdir(tmp_path / "model")
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", card.text, re.DOTALL)[1], names)  # type: ignore[index]
    assert names["probability"].shape == (1,)
    assert np.isfinite(names["score"]).all()
    with pytest.raises(SettingError, match="already exists"):
        write_export(state, "hub", tmp_path / "model")


def test_an_mlflow_model_is_described_in_yaml(state: State, tmp_path: Path):
    write_export(state, "mlflow", tmp_path / "model")
    model = yaml.safe_load((tmp_path / "model" / "MLmodel").read_text())
    flavour = model["flavors"]["python_function"]
    assert (tmp_path / "model" / flavour["data"]).is_file()
    assert json.loads(model["signature"]["inputs"])[0]["tensor-spec"]["shape"] == [-1, state.classifier.d]


def test_a_folder_is_one_zip_archive_where_one_file_is_needed(state: State):
    name, media_type, content = download(state, "hub")
    assert (name, media_type) == ("tellmore-hub.zip", "application/zip")
    assert content[:2] == b"PK"
    assert render(state, "sql").startswith(b"-- tellmore")
