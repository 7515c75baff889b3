from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import skops.io
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from tellmore.classifier import Classifier
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.export import render
from tellmore.export.sklearn import skops_bytes
from tellmore.store.state import load_state


def test_plug_in_probabilities_of_a_plain_logistic_regression():
    belief = Gaussian.from_moments(np.array([0.1, 0.4, -0.2]), np.eye(3))
    estimator = skops.io.loads(skops_bytes(Classifier(Mixture.of(belief), 3.0, normalised=False), {"seed": "1"}))
    assert type(estimator) is LogisticRegression
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert np.allclose(estimator.predict_proba(X)[:, 1], expit(3 * (0.1 + X @ [0.4, -0.2])))
    assert estimator.tellmore_["seed"] == "1"
    assert "plug-in" in estimator.tellmore_["note"]


def test_the_checks_correct_plug_in_probabilities_too(project):
    state = load_state(project)
    slope, w = state.learner.calibration.slope, state.learner.w
    assert slope != 1.0
    X, belief = np.asarray(state.pool.X, dtype=np.float64), state.classifier.belief
    corrected = expit(slope * w * (belief.mean[0] + X @ belief.mean[1:]))
    assert np.allclose(skops.io.loads(render(state, "sklearn")).predict_proba(X)[:, 1], corrected, atol=1e-6)
    macro = render(state, "sql").decode().rpartition("AS\n")[2]
    factor = float(re.search(r"exp\(-\((.*?)\) \* tellmore_score", macro)[1])
    assert factor == pytest.approx(slope * w)


def test_nothing_in_the_file_needs_trust(project):
    data = render(load_state(project), "sklearn")
    assert skops.io.get_untrusted_types(data=data) == []


def test_raw_embeddings_are_scaled_where_the_project_scaled_them(project):
    state = load_state(project)
    estimator = skops.io.loads(render(state, "sklearn"))
    X = np.asarray(state.pool.X, dtype=np.float64)
    assert np.allclose(estimator.predict_proba(X), estimator.predict_proba(9 * X), atol=1e-7)
    assert np.array_equal(estimator.predict(X) == 1, state.learner.probabilities() > 0.5)
    assert estimator.tellmore_["data_sha256"] == state.pool.fingerprint


def test_it_runs_without_tellmore(project, tmp_path: Path):
    (tmp_path / "c.skops").write_bytes(render(load_state(project), "sklearn"))
    program = (
        "import sys; sys.modules['tellmore'] = None\n"
        "import numpy, skops.io\n"
        f"estimator = skops.io.load({str(tmp_path / 'c.skops')!r})\n"
        "print(estimator.predict_proba(numpy.ones((2, 6))).shape)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "(2, 2)", done.stderr
