from __future__ import annotations

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.classifier import Classifier
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.export import render
from tellmore.export.onnx import onnx_bytes
from tellmore.store.state import load_state


def random_classifier(
    d: int,
    spread: float,
    *,
    normalised: bool,
    w: float = 12.0,
    seed: int = 0,
    beliefs: int = 1,
    slope: float = 1.0,
) -> Classifier:
    rng = np.random.default_rng(seed)

    def belief() -> Gaussian:
        root = rng.normal(size=(d + 1, d + 1)) / np.sqrt(d + 1)
        cov = spread**2 * (root @ root.T + 1e-6 * np.eye(d + 1))
        return Gaussian.from_moments(rng.normal(size=d + 1) * spread, cov)

    return Classifier(Mixture.of(*(belief() for _ in range(beliefs))), w, normalised, slope)


def run(classifier: Classifier, X: np.ndarray) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(onnx_bytes(classifier, {}))
    return session.run(["probability", "score", "score_sd"], {"embedding": X.astype(np.float32)})


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 40),
    st.sampled_from([1e-4, 0.01, 0.08, 1.0, 30.0]),
    st.booleans(),
    st.floats(0.5, 40.0),
    st.integers(0, 10**6),
    st.sampled_from([1, 3]),
    st.sampled_from([1.0, 0.7, 1.6]),
)
def test_the_graph_says_what_the_beliefs_say(d, spread, normalised, w, seed, beliefs, slope):
    classifier = random_classifier(d, spread, normalised=normalised, w=w, seed=seed, beliefs=beliefs, slope=slope)
    X = np.random.default_rng(seed).normal(size=(50, d)).astype(np.float32) * 2
    X[0] = 0
    told = classifier.apply(X)
    probability, score, sd = run(classifier, X)
    assert probability.shape == score.shape == sd.shape == (50,)
    assert np.abs(probability - told.probability).max() < 1e-5
    assert np.allclose(score, told.score, rtol=1e-5, atol=1e-5 * spread)
    assert np.allclose(sd, told.score_sd, rtol=1e-5)


def test_the_probability_is_averaged_over_the_belief():
    classifier = random_classifier(4, 0.5, normalised=False)
    X = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    theta = classifier.belief.sample(200_000, np.random.default_rng(2))
    z = np.hstack([np.ones((20, 1)), X]) @ theta.T
    brute = (1 / (1 + np.exp(-classifier.w * z))).mean(axis=1)
    assert np.abs(run(classifier, X)[0] - brute).max() < 0.01


def test_raw_embeddings_are_scaled_where_the_project_scaled_them():
    classifier = random_classifier(4, 0.5, normalised=True)
    X = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    lengths = np.arange(1, 21)[:, None]
    assert np.allclose(run(classifier, X)[0], run(classifier, X * lengths)[0], atol=1e-6)
    plain = random_classifier(4, 0.5, normalised=False)
    assert not np.allclose(run(plain, X)[0], run(plain, X * lengths)[0], atol=1e-3)


def test_a_project_leaves_as_a_model_that_agrees_with_its_learner(project):
    state = load_state(project)
    model = render(state, "onnx")
    session = onnxruntime.InferenceSession(model)
    raw = np.asarray(state.pool.X) * 7
    probability = session.run(["probability"], {"embedding": raw})[0]
    assert np.abs(probability - state.learner.predict_proba(state.pool.X)[:, 1]).max() < 1e-5
    assert np.abs(probability - state.learner.probabilities()).max() < 1e-5
    names = {each.name: each.shape for each in session.get_inputs() + session.get_outputs()}
    assert names == {"embedding": ["N", 6], "probability": ["N"], "score": ["N"], "score_sd": ["N"]}


def test_the_model_carries_where_it_comes_from(project):
    state = load_state(project)
    onnx.checker.check_model(onnx.load_from_string(render(state, "onnx")))
    carried = onnxruntime.InferenceSession(render(state, "onnx")).get_modelmeta().custom_metadata_map
    assert carried["data_sha256"] == state.pool.fingerprint
    assert carried["seed"] == "5"
    assert json.loads(carried["config"])["project"]["attribute"] == "good"
    assert carried["tellmore_version"]
    assert render(state, "onnx") == render(load_state(project), "onnx")


def test_a_classifier_refuses_other_dimensions():
    with pytest.raises(ValueError, match="4 dimensions"):
        random_classifier(4, 1.0, normalised=True).apply(np.ones((2, 3)))


def test_no_items_give_no_probabilities():
    model = onnx_bytes(random_classifier(4, 1.0, normalised=True, beliefs=2), {})
    told = onnxruntime.InferenceSession(model).run(None, {"embedding": np.empty((0, 4), np.float32)})
    assert [each.shape for each in told] == [(0,), (0,), (0,)]
