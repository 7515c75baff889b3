"""The classifier as a folder, for a model hub or for MLflow. Neither tool's package is needed to write it."""

from __future__ import annotations

import json

from tellmore.data.tfidf import Tfidf
from tellmore.errors import needs
from tellmore.export.onnx import onnx_bytes
from tellmore.export.onnx_tfidf import tfidf_onnx_bytes
from tellmore.policy.quality import Quality
from tellmore.store.state import State

MODEL, EMBEDDER = "model.onnx", "embedder.onnx"

_USE = """import numpy as np
import onnxruntime

model = onnxruntime.InferenceSession("model.onnx")
vectors = np.zeros((1, {d}), dtype=np.float32)  # yours, made by: {embedder}
probability, score, score_sd = model.run(None, {{"embedding": vectors}})
"""
_USE_TEXTS = """import onnxruntime

embedder, model = onnxruntime.InferenceSession("embedder.onnx"), onnxruntime.InferenceSession("model.onnx")
texts = ["the text to be judged"]
vectors = embedder.run(["embedding"], {"lowercase_text": [text.lower() for text in texts]})[0]
probability, score, score_sd = model.run(None, {"embedding": vectors})
"""


def hub_files(state: State) -> dict[str, bytes]:
    """A model repository: the card, the graph, the embedder of texts if the project has one, and the provenance."""
    return {
        "README.md": _card(state).encode(),
        "provenance.json": json.dumps(state.provenance, indent=2, ensure_ascii=False).encode(),
        **_graphs(state),
    }


def _graphs(state: State) -> dict[str, bytes]:
    graphs = {MODEL: onnx_bytes(state.classifier, state.metadata)}
    if state.tfidf_path is not None:
        graphs[EMBEDDER] = tfidf_onnx_bytes(Tfidf.load(state.tfidf_path), state.metadata)
    return graphs


def _card(state: State) -> str:
    words, data = state.ledger.settings.project, state.ledger.initial.data
    made_by = "TF-IDF, `embedder.onnx`" if state.tfidf_path else f"`{data.embeddings or 'not recorded'}`"
    use = _USE_TEXTS if state.tfidf_path else _USE.format(d=state.classifier.d, embedder=data.embeddings or "?")
    front = ["---", "library_name: onnx", "tags: [tellmore, active-learning, binary-classification]", "---"]
    return "\n".join(
        [
            *front,
            f"# {words.name}",
            "",
            f"Predicts whether an item is *{words.positive}* or *{words.negative}*: a linear classifier over embeddings, taught "
            f"with {len(state.effects)} answers of people, using tellmore {state.provenance['tellmore_version']}.",
            "",
            *([f"What people were told: {words.instruction}", ""] if words.instruction else []),
            "| | |",
            "|---|---|",
            f"| input | `embedding` [N, {state.classifier.d}], float32, by {made_by}"
            f"{'; scaled to length 1 inside' if state.classifier.normalised else ''} |",
            "| output | `probability` of positive, averaged over what is still uncertain; `score`; `score_sd` |",
            f"| items it was taught on | {len(state.pool)}, SHA-256 `{state.pool.fingerprint[:16]}…` |",
            *_quality(state.learner.quality()),
            "",
            "## Use",
            "",
            "```python",
            use.rstrip(),
            "```",
            "",
            "## Limits",
            "",
            "It reflects what these people meant on these items. If `score_sd` is large compared with `score`, it is unsure.",
            "",
        ]
    )


def _quality(quality: Quality | None) -> list[str]:
    if quality is None:
        return ["| quality | not measured: no randomly drawn item was labelled |"]
    return [f"| {name}, on {quality.checks} random items | {share} |" for name, share in quality.named().items()]


def mlflow_files(state: State) -> dict[str, bytes]:
    """An MLflow model with the flavours onnx and python_function: ``mlflow.pyfunc.load_model(folder).predict(vectors)``."""
    with needs("onnx", "onnx"):
        import onnx
    vectors = {
        "name": "embedding",
        "type": "tensor",
        "tensor-spec": {"dtype": "float32", "shape": [-1, state.classifier.d]},
    }
    outputs = [
        {"name": name, "type": "tensor", "tensor-spec": {"dtype": "float32", "shape": [-1]}}
        for name in ("probability", "score", "score_sd")
    ]
    # YAML is a superset of JSON, so no library is needed to write it.
    model = {
        "flavors": {
            "onnx": {"data": MODEL, "onnx_version": onnx.__version__, "providers": ["CPUExecutionProvider"]},
            "python_function": {
                "data": MODEL,
                "loader_module": "mlflow.onnx",
                "env": {"virtualenv": "python_env.yaml"},
            },
        },
        "signature": {"inputs": json.dumps([vectors]), "outputs": json.dumps(outputs)},
        "metadata": {"tellmore": state.metadata},
    }
    environment = {"dependencies": ["-r requirements.txt"]}
    return {
        "MLmodel": json.dumps(model, indent=2, ensure_ascii=False).encode(),
        "python_env.yaml": json.dumps(environment).encode(),
        "requirements.txt": f"mlflow\nonnx=={onnx.__version__}\nonnxruntime\n".encode(),
        **_graphs(state),
    }
