"""The ONNX graph of TF-IDF gives what scikit-learn gives, for texts of any script."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.data.tfidf import Tfidf
from tellmore.export.onnx_tfidf import tfidf_onnx_bytes

pytest.importorskip("sklearn")
onnxruntime = pytest.importorskip("onnxruntime")

TEXTS = [
    "The staff were kind, the room was warm.",
    "the room was cold and the staff were rude",
    "kind people: good_food, 3 stars ½",
    "",
    "Über 3 Gäste, sehr kind und warm",
    "хороший номер, kind staff",
    "房间 很 warm, 房间 good_food",
    "naïve café à côté du room",
]
PIECES = ["kind", "staff", "Room", "ÜBER", "3", "good_food", "хороший", "房间", "½", "café", "n", "²", "ß", "́"]
BETWEEN = [" ", ", ", "-", "\n", "'", "…", "  ", "\t.", "_", "", "\u00a0", "🙂"]


@pytest.fixture(scope="module")
def model() -> Tfidf:
    return Tfidf.fit(TEXTS)


@pytest.fixture(scope="module")
def session(model: Tfidf):
    return onnxruntime.InferenceSession(tfidf_onnx_bytes(model, {}))


def run(session, texts: list[str]) -> np.ndarray:
    return session.run(["embedding"], {"lowercase_text": [text.lower() for text in texts]})[0]


def test_it_says_what_the_fitted_model_says(model: Tfidf, session) -> None:
    texts = [*TEXTS, "nothing known", "   ", "kind " * 50, "room room was was kind"]
    assert np.allclose(run(session, texts), model.encode(texts), atol=1e-6)
    assert np.array_equal(run(session, ["", "!!"]), np.zeros((2, len(model.components)), dtype=np.float32))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(BETWEEN)), max_size=12))
def test_words_of_any_script_are_found_alike(model: Tfidf, session, parts) -> None:
    text = "".join(piece + between for piece, between in parts)
    assert np.allclose(run(session, [text, "kind"]), model.encode([text, "kind"]), atol=1e-6)


def test_single_words_alone_are_enough() -> None:
    model = Tfidf.fit(["calm", "warm", "calm", "warm", "kind"])
    assert not any(" " in term for term in model.terms)
    session = onnxruntime.InferenceSession(tfidf_onnx_bytes(model, {"a": "b"}))
    assert np.allclose(run(session, ["calm warm", "kind"]), model.encode(["calm warm", "kind"]), atol=1e-6)
    assert session.get_modelmeta().custom_metadata_map["a"] == "b"
