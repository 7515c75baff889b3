"""A small taught project whose words are not the usual ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.data.project import Project, create_project
from tellmore.data.settings import Settings
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.tick import TickAnswer
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.importing import Collected, append_answers
from tellmore.store.state import State, load_state


@pytest.fixture
def project(tmp_path: Path) -> Project:
    X = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32)
    pool = Pool(X, ids=[f"i{row}" for row in range(12)], text=[f"text {row}" for row in range(12)])
    settings = Settings().changed(project={"positive": "kind", "negative": "not kind"}, data={"normalised": True})
    made = create_project(tmp_path / "project", pool, settings)
    told = [
        Collected(Question("label", ["i0"]), LabelAnswer(True), 1, "ann"),
        Collected(Question("label", ["i1"]), LabelAnswer(False), 2, "bob"),
        Collected(Question("tick", ["i2", "i3", "i4"]), TickAnswer(["i3"]), 3, "ann"),
    ]
    append_answers(made, told)
    return made


@pytest.fixture
def state(project: Project) -> State:
    return load_state(project)
